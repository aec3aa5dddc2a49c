import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import type { ReconciliationClass } from '../../src/cases/classes.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { openDesk, type Desk } from './desk.ts';
import { send } from './fake-service.ts';

// Several rows of the history under one reference: which of them may be one paid transaction, and which may not.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });

/** The JSON text of a row of 25.00 NGN that was paid, with changes; `undefined` takes a field away. */
const row = (reference: string, change: Record<string, unknown> = {}): string =>
  JSON.stringify({ reference, status: 'SUCCESS', amount: 25, currency: 'NGN', ...change });

/** A confirmed payment that verify confirms, and what the history lists for it. */
async function confirmed(...changes: Record<string, unknown>[]): Promise<string> {
  const { reference } = await desk.put({ isConfirmed: true }, null);
  desk.service.verify.set(reference, { reference });
  desk.service.history.push(...changes.map((change) => row(reference, change)));
  return reference;
}

/** The books close, and nothing is called agreed. */
function expectRaised(report: ReconciliationReport, name: ReconciliationClass, count = 1): void {
  expect(report).toMatchObject({ verdict: 'findings', unclassified: 0, graced: {} });
  expect(report.findings).toEqual({ [name]: count });
  expect(report.identity.map(({ difference }) => Number(difference))).toEqual(report.identity.map(() => 0));
}

const contradicting: [string, Record<string, unknown>, ReconciliationClass][] = [
  ['all of it was given back', { status: 'refunded' }, 'reversed'],
  ['a part of it was given back', { status: 'REVERSED', amount: 5 }, 'reversed'],
  ['more than all was given back', { status: 'REVERSED', amount: 30 }, 'reversed'],
  ['it was given back in another currency', { status: 'reversed', currency: 'USD' }, 'conflicting_records'],
  ['a negative amount', { amount: -25 }, 'reversed'],
  ['a word that nobody explained', { status: 'chargeback' }, 'conflicting_records'],
  ['a partial refund under a word of its own', { status: 'refund', amount: 5 }, 'conflicting_records'],
  ['an amount that cannot be read', { amount: '25,00' }, 'conflicting_records'],
  ['no status', { status: undefined }, 'conflicting_records'],
];

type Contradicting = (typeof contradicting)[number];
/** Each in books of its own, or in the same books all that are raised as one class. */
const byClass = (name: ReconciliationClass): Contradicting[] =>
  contradicting.filter(([, , own]) => own === name);
const classes = new Set(contradicting.map(([, , name]) => name));
const inBooks = IS_WHOLE ? contradicting.map((one) => [one]) : [...classes].map(byClass);

describe('A3: beside the row of a paid payment', () => {
  test.each(inBooks.map((kinds) => [kinds.map(([name]) => name).join(', '), kinds] as const))(
    '%s: raised, in every order and with or without ids',
    async (_names, kinds) => {
      const ids = [
        [{ id: 't1' }, { id: 't2' }],
        [{ id: 't1' }, { id: 't1' }],
        [{}, {}],
        [{}, { id: 't2' }],
      ] as const;
      const cases = kinds.flatMap(([, change, expected]) => ids.map((pair) => ({ change, expected, pair })));
      for (const { change, pair } of cases) {
        const [first, second] = pair;
        await confirmed(first, { ...second, ...change });
        await confirmed({ ...second, ...change }, first);
      }
      await confirmed({ id: 'plain' });
      // It is no passing thing: it is there as long as the list says so.
      for (const report of [await run(), await run()]) {
        expectRaised(report, cases[0]?.expected ?? 'matched', 2 * cases.length);
        expect(report.matched).toBe(1);
      }
    },
  );

  test('a zero amount is one more row of another amount', async () => {
    await confirmed({ id: 't1' }, { id: 't2', amount: 0 });
    expectRaised(await run(), 'conflicting_records');
  });

  test.each(someOf(['PENDING', 'FAILED', 'EXPIRED'], 1))(
    '%s says nothing against it, in either order',
    async (status) => {
      await confirmed({ id: 't1' }, { id: 't2', status });
      await confirmed({ id: 't2', status }, { id: 't1' });
      await confirmed({ id: 't1' }, { id: 't1', status });
      await confirmed({ status }, {});
      expect(await run()).toMatchObject({ verdict: 'agreed', matched: 4, unclassified: 0 });
    },
  );

  test('on another page it is raised, too, and the pages behind it are read', async () => {
    const references = [];
    for (let count = 0; count < 3; count += 1) references.push(await confirmed({ id: `t${count}` }));
    const refunds = references.map((reference, at) => row(reference, { id: `r${at}`, status: 'refunded' }));
    desk.service.history.push(...refunds, row(await confirmed(), { id: 'last' }));
    desk.service.answerHistory = (query, res, rows) => {
      const page = Number(query.get('page'));
      send(res, `[${rows.slice((page - 1) * 3, page * 3).join(',')}]`);
    };
    expect(await run()).toMatchObject({ findings: { reversed: 3 }, matched: 1, history: { records: 7 } });
  });

  test('refunds that only their bytes tell apart may be one, read twice: what is left is not called nothing', async () => {
    const back = { status: 'reversed', amount: 12.5 };
    const unpaid: [raised: string, ...Record<string, unknown>[]][] = [
      // One id, or none, and a field that says when the row was read.
      ['conflicting_records', { id: 'r1', ...back, at: 1 }, { id: 'r1', ...back, at: 2 }],
      ['conflicting_records', { ...back, at: 1 }, { ...back, at: 2 }],
      ['', { id: 'r1', ...back }, { id: 'r2', ...back }],
      ['', { ...back, amount: 12 }, { ...back, amount: 13 }],
      // More went back than came.
      ['conflicting_records', { id: 'r1', ...back }, { id: 'r2', ...back, amount: 25 }],
      ['', { id: 'r1', ...back }, { id: 'r2', status: 'reversed', amount: undefined }],
    ];
    for (const [raised, ...rows] of unpaid) {
      const { reference } = await desk.put({ status: 'failed' }, null);
      desk.service.verify.set(reference, { reference, status: 'FAILED' });
      desk.service.history.splice(
        0,
        Infinity,
        row(reference, { id: 't1' }),
        ...rows.map((one) => row(reference, one)),
      );
      const report = await desk.speaking({})({ dryRun: true });
      expect([rows, Object.keys(report.findings).join()]).toEqual([rows, raised]);
    }
  });

  test('money left of a payment that was given back in part is what the service holds of it', async () => {
    await confirmed({ id: 't1' }, { id: 't2', status: 'reversed', amount: 5 });
    const [line] = (await run()).identity;
    expect(line).toMatchObject({ serviceTotal: '20.00', confirmed: '25.00', classes: { reversed: '-5.00' } });
  });

  test('an open payment is not paid by it, and it is raised', async () => {
    const { reference } = await desk.put({}, null);
    desk.service.verify.set(reference, { reference, status: 'PENDING' });
    desk.service.history.push(
      row(reference, { id: 't1' }),
      row(reference, { id: 't2', status: 'chargeback' }),
    );
    expectRaised(await run(), 'conflicting_records');
  });

  test('an unreadable row keeps the verdict from agreed beside every other one', async () => {
    for (const status of ['SUCCESS', 'PENDING', 'FAILED', 'REFUNDED']) {
      const { reference } = await desk.put({ status: 'failed' }, null);
      desk.service.verify.set(reference, { reference, status: 'FAILED' });
      desk.service.history.push(
        row(reference, { id: 't1', status }),
        row(reference, { id: 't2', status: 5 }),
      );
    }
    const report = await run();
    expect(report.verdict).toBe('findings');
    expect(report.items).toHaveLength(4);
  });
});

describe('A4: what identifies a row', () => {
  test('may stand in five places', async () => {
    for (const name of ['id', 'transactionId', 'transaction_id', '_id', 'uuid']) {
      await confirmed({ [name]: 'a' }, { [name]: 'b' });
      await confirmed({ [name]: 'c' }, { [name]: 'c', paidAt: 'later' });
    }
    const report = await run();
    expectRaised(report, 'duplicate_payment', 5);
    expect(new Set(report.items.map(({ actual }) => actual))).toEqual(new Set(['50.00']));
    expect(report.matched).toBe(5);
  });

  test('stands where the dialect says', async () => {
    await confirmed({ id: 'same', charge: { no: 17 } }, { id: 'same', charge: { no: 7 } });
    await confirmed({ id: 'c', charge: { no: 5 } }, { id: 'd', charge: { no: 5 } });
    const report = await desk.speaking({ history: { id: ['/charge/no'] } })({ dryRun: false });
    expectRaised(report, 'duplicate_payment');
    expect(report.matched).toBe(1);
  });

  test('without one, the same bytes are one row seen twice, and other bytes another charge', async () => {
    await confirmed({}, {});
    const twice = await confirmed({ channel: 'card' }, { channel: 'ussd' });
    const report = await run();
    expectRaised(report, 'duplicate_payment');
    expect(report.items[0]).toMatchObject({ reference: twice, actual: '50.00' });
    expect(report.matched).toBe(1);
  });

  test('a row without an id is the same whichever way it was read, and wherever it lay', async () => {
    // The first row of a layout is read with care, those after it are not.
    const reference = await confirmed({ at: 1 });
    await confirmed({ at: 2 });
    desk.service.history.push(row(reference, { at: 1 }), row(reference, { at: 1 }));
    desk.service.answerHistory = (_query, res, rows) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const text = `{"hasMore":false,"data":[${rows.join(',')}]}`;
      for (let at = 0; at < text.length; at += 7) res.write(text.slice(at, at + 7));
      res.end();
    };
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: 2, history: { records: 4 } });
  });

  test('ids beyond 2^53 are told apart', async () => {
    const reference = await confirmed();
    for (const id of ['90071992547409931', '90071992547409932'])
      desk.service.history.push(`{"id":${id},${row(reference).slice(1)}`);
    expectRaised(await run(), 'duplicate_payment');
  });

  test('one id with two amounts is no row seen twice', async () => {
    await confirmed({ id: 't1' }, { id: 't1', amount: 20 });
    expectRaised(await run(), 'conflicting_records');
  });
});

describe('C4: no row ends a run', () => {
  const HUGE = { amount: 900_000_000_000_000, currency: 'CLF' };
  const BACK = { status: 'REVERSED', amount: 999_999_999_999_999 };
  const HUNDRED = Array.from({ length: 100 }, (_, id) => id);
  const poison: [string, (reference: string) => string[]][] = [
    ['two amounts beyond a bigint', (r) => [row(r, { id: 1, ...HUGE }), row(r, { id: 2, ...HUGE })]],
    ['two amounts of another reference', () => [row('x', { id: 1, ...HUGE }), row('x', { id: 2, ...HUGE })]],
    [
      'refunds whose sum is beyond a bigint',
      (r) => [row(r), ...HUNDRED.map((id) => row(r, { id, ...BACK }))],
    ],
    ['one amount beyond a bigint', (r) => [row(r, { amount: '9'.repeat(15), currency: 'CLF' })]],
    ['an amount of 400 digits', (r) => [row(r).replace(':25', `:${'9'.repeat(400)}`)]],
    ['an amount with an exponent', (r) => [row(r).replace(':25', ':1e400')]],
    ['lone surrogates', (r) => [row('\ud800'), row('\udc00x'), row(r, { id: '\udfff', status: '\ud83d' })]],
    ['NUL characters', (r) => [row('a\0b'), row(r, { id: '\0', status: 'a\0', currency: '\0' })]],
    ['long texts', (r) => [row('é'.repeat(9_000)), row(r, { id: '\ud83d\ude00'.repeat(9_000) })]],
    ['empty texts', (r) => [row(''), row(r, { id: '', status: '', currency: '' })]],
    ['a key twice', (r) => [row(r).replace('{', '{"reference":"other",')]],
    ['no object', () => ['null', '[]', '1', '""', '[[[[]]]]']],
    ['a name of ours', (r) => [row(r, { __proto__: 1, constructor: {}, toString: 'x' })]],
  ];

  // Whichever ends a run ends it for all.
  const cups = IS_WHOLE ? poison.map((one) => [one]) : [poison];
  const cases = cups.map((kinds) => [kinds.map(([name]) => name).join(', '), kinds] as const);
  test.each(cases)('%s: unreadable or raised, and the run ends with a verdict', async (_names, kinds) => {
    for (const [, rowsOf] of kinds) {
      const { reference } = await desk.put({ isConfirmed: true }, null);
      desk.service.verify.set(reference, { reference });
      desk.service.history.push(...rowsOf(reference));
    }
    await desk.put({ isConfirmed: true }, {});
    for (let again = 0; again < 2; again += 1) {
      const report = await run();
      expect(report).toMatchObject({ complete: true, unclassified: 0 });
      expect(report.matched).toBeGreaterThan(0);
      expect(report.identity.map(({ difference }) => Number(difference))).toEqual(
        report.identity.map(() => 0),
      );
    }
  });

  test('a sum beyond a bigint is unreadable', async () => {
    await confirmed({ id: 1, ...HUGE }, { id: 2, ...HUGE });
    await confirmed({ id: 3 });
    expectRaised(await run(), 'unreadable');
  });

  test('a run that failed after reading reads the list again', async () => {
    await desk.put({ isConfirmed: true }, {});
    await desk.database.query('ALTER TABLE findings RENAME TO findings_x');
    await expect(run()).rejects.toThrow('findings');
    await desk.database.query('ALTER TABLE findings_x RENAME TO findings');
    await desk.put({ isConfirmed: true }, {});
    desk.service.calls.length = 0;
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: 2 });
    expect(desk.service.calls.filter((call) => call.startsWith('history'))).not.toEqual([]);
  });
});

describe('what else a history may show', () => {
  test('two references of one order, both paid: one is a second payment', async () => {
    const { orderId } = await desk.put({ isConfirmed: true }, {});
    await desk.put({ orderId, status: 'failed' }, {});
    expectRaised(await run(), 'duplicate_payment');
  });

  test('a paid row twice with other ids, pages apart', async () => {
    const reference = await confirmed({ id: newId() });
    for (let count = 0; count < 250; count += 1)
      desk.service.history.push({ reference: `other${count}`, status: 'FAILED', id: `o${count}` });
    desk.service.history.push(row(reference, { id: newId() }));
    const report = await run();
    expect(report.findings).toMatchObject({ duplicate_payment: 1 });
    expect(report.items.find((item) => item.reference === reference)).toMatchObject({ actual: '50.00' });
  });

  test.each(['refund', 'REVERSAL', 'chargeback'])(
    'a row of its own says by its type that the money went back: %s',
    async (type) => {
      await confirmed({ id: 't1', type: 'charge' }, { id: 't2', type });
      await confirmed({ id: 't3', type: 'charge' });
      await confirmed({ id: 't4', type: 'card' });
      const report = await run();
      expectRaised(report, 'conflicting_records');
      expect(await desk.database.query('SELECT FROM suspense_items')).toEqual([]);
    },
  );

  test('two charges whose rows name no amount are two of what was asked for', async () => {
    const reference = await confirmed({ id: 't1', amount: undefined }, { id: 't2', amount: undefined });
    const report = await desk.speaking({ verify: { amountMayBeAbsent: true } })({ dryRun: false });
    expectRaised(report, 'duplicate_payment');
    expect(report.items[0]).toMatchObject({ reference, actual: '50.00' });
    expect(await desk.database.query('SELECT amount FROM suspense_items')).toEqual([{ amount: 2_500n }]);
  });

  test('paid rows of one reference in two currencies', async () => {
    await confirmed({ id: 't1' }, { id: 't2', currency: 'USD' });
    const report = await run();
    expect(report).toMatchObject({ verdict: 'findings', unclassified: 0 });
    expect(report.items).toHaveLength(1);
  });
});
