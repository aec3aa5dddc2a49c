import { afterEach, beforeEach, describe, expect, test as testOfBoth } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../src/platform/ids.ts';
import { isPowerOfTenApart } from '../../src/platform/money.ts';
import { IS_IN_ANOTHER_UNIT } from '../../src/reconciliation/compare/facts.sql.ts';
import type { ReconciliationClass } from '../../src/cases/classes.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { plant } from './books.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { openDesk, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });

/** What contradicts itself is raised when it is still seen an hour later. */
async function runWithoutGrace(): Promise<ReconciliationReport> {
  await run();
  await desk.database.query(`UPDATE findings SET first_seen_at = first_seen_at - interval '61 minutes'`);
  return run();
}

/** What the first currency's line of the identity says, without its zero difference. */
function identityOf(report: ReconciliationReport, currency = 'NGN') {
  const line = report.identity.find((one) => one.currency === currency);
  expect(report.identity.map(({ difference }) => Number(difference))).toEqual(report.identity.map(() => 0));
  return line;
}

test('a list and one answer agree on what is a power of ten apart', async () => {
  const amount = fc.bigInt({ min: 1n, max: 999_999n });
  const pairs = fc.sample(
    fc.oneof(
      fc.tuple(amount, amount),
      fc
        .tuple(amount, fc.integer({ min: 0, max: 12 }), fc.integer({ min: -1, max: 1 }), fc.boolean())
        .map(([small, power, off, swap]): [bigint, bigint] => {
          const large = small * 10n ** BigInt(power) + BigInt(off);
          return swap ? [large, small] : [small, large];
        }),
    ),
    400,
  );
  const rows = await desk.database.query<{ apart: boolean }>(
    `SELECT ${IS_IN_ANOTHER_UNIT} AS apart
     FROM (SELECT *, 'NGN' AS currency, 'NGN' AS paid_currency FROM unnest($1::bigint[], $2::bigint[])
       WITH ORDINALITY AS pair (paid_amount, amount, place)) m ORDER BY place`,
    [pairs.map(([paid]) => paid), pairs.map(([, asked]) => asked)],
  );
  expect(rows.map(({ apart }) => apart)).toEqual(pairs.map(([a, b]) => isPowerOfTenApart(a, b)));
  expect(new Set(rows.map(({ apart }) => apart)).size).toBe(2);
});

type Case = {
  name: string;
  plant: () => Promise<unknown>;
  class: ReconciliationClass;
  /** Of the finding. */
  item?: { expected: string | null; actual: string | null };
  /** What the class adds to the identity. */
  money?: string;
};

const cases: Case[] = [
  {
    name: 'less money there than asked for',
    plant: () => desk.put({}, { amount: '20.00' }),
    class: 'underpaid',
    item: { expected: '25.00', actual: '20.00' },
    money: '20.00',
  },
  {
    name: 'more money there than asked for',
    plant: () => desk.put({}, { amount: '25.01' }),
    class: 'overpaid',
    item: { expected: '25.00', actual: '25.01' },
    money: '25.01',
  },
  {
    name: 'a confirmed payment that was paid once more',
    plant: () => desk.put({ isConfirmed: true }, { amount: '60.00' }),
    class: 'charged_again',
    item: { expected: '25.00', actual: '60.00' },
    money: '35.00',
  },
  {
    name: 'minor units where major ones were meant',
    plant: () => desk.put({}, { amount: '2500' }),
    class: 'unit_error',
    item: { expected: '25.00', actual: '2500.00' },
    money: '2500.00',
  },
  {
    name: 'a payment of the other mode',
    plant: async () => {
      const { reference } = await plant(desk.database, { mode: 'live' });
      desk.service.history.push({ reference });
    },
    class: 'mode_mismatch',
    item: { expected: '25.00', actual: '25.00' },
    money: '25.00',
  },
  {
    name: 'the second payment of an order, after a failed first try',
    plant: async () => {
      const { orderId } = await desk.put({ isConfirmed: true }, {});
      await desk.put({ orderId, status: 'failed' }, {});
    },
    class: 'duplicate_payment',
    item: { expected: '25.00', actual: '25.00' },
    money: '25.00',
  },
  {
    name: 'one reference that was charged twice',
    plant: async () => {
      const { reference } = await desk.put({ isConfirmed: true }, { id: 't1' });
      desk.service.history.push({ reference, id: 't2' });
    },
    class: 'duplicate_payment',
    item: { expected: '25.00', actual: '50.00' },
    money: '25.00',
  },
  {
    name: 'a reference that is not ours',
    plant: () => {
      desk.service.history.push({ reference: 'somebody-else', amount: '7.5' });
      return Promise.resolve();
    },
    class: 'unknown_reference',
    item: { expected: null, actual: '7.50' },
    money: '7.50',
  },
  {
    name: 'a confirmed payment that the history does not list and verify confirms',
    plant: async () => {
      const { reference } = await desk.put({ isConfirmed: true }, null);
      desk.service.verify.set(reference, { reference });
    },
    class: 'absent_from_history',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a confirmed payment that nobody there knows any more',
    plant: () => desk.put({ isConfirmed: true }, null),
    class: 'absent_from_history',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a confirmed payment that the history does not list and verify calls failed',
    plant: async () => {
      const { reference } = await desk.put({ isConfirmed: true }, null);
      desk.service.verify.set(reference, { reference, status: 'FAILED' });
    },
    class: 'paid_unconfirmed',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a confirmed payment that is pending there',
    plant: () => desk.put({ isConfirmed: true }, { status: 'PENDING' }),
    class: 'paid_unconfirmed',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a confirmed payment whose money went back',
    plant: () => desk.put({ isConfirmed: true }, { status: 'REVERSED' }),
    class: 'reversed',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a status word that nobody explained',
    plant: () => desk.put({}, { status: 'COLLECTED' }),
    class: 'unknown_status',
    item: { expected: '25.00', actual: null },
  },
  {
    name: 'a status word of verify that nobody explained, pending in the list',
    plant: async () => {
      const { reference } = await desk.put({ status: 'held' }, { status: 'PENDING' });
      await desk.database.query(
        `INSERT INTO verifications (reference, order_id, mode, outcome, status_word, http_status, body, body_sha256, cause)
         SELECT reference, order_id, mode, 'unknown_status', 'COLLECTED', 200, '', '', 'schedule' FROM payments
         WHERE reference = $1`,
        [reference],
      );
    },
    class: 'unknown_status',
    item: { expected: '25.00', actual: null },
  },
  {
    name: 'history says paid and verify says pending',
    plant: async () => {
      const { reference } = await desk.put({}, {});
      desk.service.verify.set(reference, { reference, status: 'PENDING' });
    },
    class: 'sources_disagree',
    item: { expected: '25.00', actual: '25.00' },
    money: '25.00',
  },
  {
    name: 'history shows other money than verify confirms for a confirmed payment',
    plant: async () => {
      const { reference } = await desk.put({ isConfirmed: true }, { amount: '20' });
      desk.service.verify.set(reference, { reference });
    },
    class: 'sources_disagree',
    item: { expected: '25.00', actual: '20.00' },
    money: '-5.00',
  },
  {
    name: 'a record whose amount cannot be read',
    plant: () => desk.put({ isConfirmed: true }, { amount: '"25,00"' }),
    class: 'unreadable',
    item: { expected: '25.00', actual: null },
    money: '-25.00',
  },
  {
    name: 'a record that is no object',
    plant: () => {
      desk.service.history.push('17');
      return Promise.resolve();
    },
    class: 'unreadable',
    item: { expected: null, actual: null },
  },
];

describe('a disagreement is found in its own class, and the money adds up', () => {
  testOfBoth.each(someOf(cases, 9))('$name: $class', async (planted) => {
    await desk.put({ isConfirmed: true }, {});
    await planted.plant();
    const report = await runWithoutGrace();
    expect(report).toMatchObject({ complete: true, verdict: 'findings', findings: { [planted.class]: 1 } });
    expect(report.items).toHaveLength(1);
    expect(report.items[0]).toMatchObject({ class: planted.class, age: '<1d', ...planted.item });
    const { [planted.class]: money, ...others } = identityOf(report)?.classes ?? {};
    expect({ money, others }).toEqual({ money: planted.money, others: {} });
  });

  test('money in another currency stands in its own line', async () => {
    await desk.put({}, { currency: 'USD', amount: '25.00' });
    const report = await run();
    expect(report.items[0]).toMatchObject({
      class: 'currency_mismatch',
      expected: '25.00',
      actual: '25.00',
      currency: 'USD',
    });
    expect(identityOf(report, 'USD')).toMatchObject({
      serviceTotal: '25.00',
      confirmed: '0.00',
      classes: { currency_mismatch: '25.00' },
    });
  });

  test('late money for a closed payment is a late payment until verify can be asked', async () => {
    await desk.put({ status: 'expired' }, {});
    const report = await desk.reconcile({ dryRun: true });
    expect(report.findings).toEqual({ late_payment: 1 });
  });
});

describe('what agrees is no finding', () => {
  const quiet: [string, () => Promise<unknown>, Partial<ReconciliationReport>][] = [
    ['paid on both sides', () => desk.put({ isConfirmed: true }, {}), { matched: 1, verified: 0 }],
    [
      'paid after it had failed',
      () => desk.put({ isConfirmed: true, earlier: 'failed' }, {}),
      { matched: 1 },
    ],
    ['open on both sides', () => desk.put({}, { status: 'PENDING' }), { payments: 1 }],
    ['open here and not yet there', () => desk.put({}, null), { payments: 1 }],
    ['failed on both sides', () => desk.put({ status: 'failed' }, { status: 'FAILED' }), { payments: 1 }],
    ['never sent', () => desk.put({ status: 'created' }, null), { payments: 1 }],
    ['refused', () => desk.put({ status: 'refused', age: '30 days' }, null), { payments: 1 }],
    [
      'expired, and given back before it was confirmed',
      () => desk.put({ status: 'expired' }, { status: 'REFUNDED' }),
      {},
    ],
    ['nothing at all', () => Promise.resolve(), { payments: 0, identity: [] }],
  ];

  test.each(quiet)('%s', async (_name, put, expected) => {
    await put();
    expect(await run()).toMatchObject({
      verdict: 'agreed',
      complete: true,
      items: [],
      findings: {},
      ...expected,
    });
  });
});

test('every row is in exactly one class, and every class is found among all the others', async () => {
  for (const { plant: put } of cases) await put();
  await desk.put({}, { currency: 'USD' });
  await desk.put({}, { status: 'PENDING' });
  const before = await runWithoutGrace();
  expect(before.repaired).toBe(0);
  const lost = await desk.put({}, {});
  const report = await run();
  const expected: Record<string, number> = { currency_mismatch: 1 };
  for (const { class: name } of cases) expected[name] = (expected[name] ?? 0) + 1;
  expect(report.findings).toEqual(expected);
  for (const { class: name, item } of cases)
    expect(report.items).toContainEqual(expect.objectContaining({ class: name, ...item }));
  expect(report).toMatchObject({ repaired: 1, complete: true });
  expect(report.items.map((item) => item.reference)).not.toContain(lost.reference);
  expect(new Set(report.items.map((item) => item.reference)).size).toBe(report.items.length);
  identityOf(report);
});

test('the same books give the same report twice', async () => {
  for (const { plant: put } of cases) await put();
  const first = await run();
  const second = await run();
  const lasting = ({
    history,
    payments,
    matched,
    findings,
    identity,
    items,
    verdict,
  }: ReconciliationReport) => ({
    history,
    payments,
    matched,
    findings,
    identity,
    items,
    verdict,
  });
  expect(lasting(second)).toEqual(lasting(first));
});

test('ids beyond 2^53 and hostile texts stay what they are', async () => {
  const hostile = [
    `'; DROP TABLE payments; --`,
    'a\tb\nc\\.',
    '\u202e<script>alert(1)</script>',
    '../../../etc',
    'é'.repeat(400),
    '\u0000nul',
  ];
  for (const reference of hostile) desk.service.history.push({ reference });
  desk.service.history.push(
    '{"id":1,"reference":90071992547409931234,"status":"SUCCESS","amount":1,"currency":"NGN"}',
  );
  desk.service.history.push(
    '{"id":2,"reference":90071992547409931235,"status":"SUCCESS","amount":1,"currency":"NGN"}',
  );
  const report = await run();
  const found = report.items.map(({ reference }) => reference);
  expect(found).toHaveLength(8);
  expect(found).toEqual(
    expect.arrayContaining([
      ...hostile.slice(0, 4),
      '90071992547409931234',
      '90071992547409931235',
      '\u2400nul',
    ]),
  );
  expect(report.findings).toEqual({ unknown_reference: 8 });
  // Nobody asks the service about a reference that is not ours.
  expect(desk.service.calls.filter((call) => call.startsWith('verify'))).toEqual([]);
});

test('the same transaction listed twice is one, and its later reading counts', async () => {
  const reference = newId();
  await desk.put({ reference, isConfirmed: true }, { id: 't1', status: 'PENDING' });
  desk.service.history.push({ reference, id: 't1' }, { reference, id: 't0', status: 'FAILED' });
  expect(await run()).toMatchObject({
    verdict: 'agreed',
    matched: 1,
    history: { records: 3, references: 1 },
  });
});
