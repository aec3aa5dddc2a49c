import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { replayRun } from '../../src/reconciliation/report/replay.ts';
import { openBooks } from '../../src/reporting/books.ts';
import { EVERYTHING } from '../../src/reporting/books.sql.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { openDesk, type Desk } from './desk.ts';
import { send } from './fake-service.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const fields = { records: ['/data'], reference: ['/id'], currency: ['/currency'], status: ['/status'] };
const transfers = {
  ...fields,
  path: '/v1/transactions/verify/transfers',
  amount: ['/amount'],
  fee: ['/fee'],
};
const balances = {
  ...fields,
  path: '/v1/transactions/verify/balances',
  amount: ['/available'],
  fees: ['/fees'],
};

/** A service that takes half a naira of each payment and ten kobo of each transfer. */
async function collect(
  payments: number,
  transferred: string,
  feesWritten: (fees: string) => string,
): Promise<void> {
  for (let count = 0; count < payments; count += 1) await desk.put({ isConfirmed: true }, {});
  desk.service.verify.set(
    'transfers',
    `[{"amount":${transferred},"fee":0.1,"status":"paid","currency":"NGN"}]`,
  );
  const fees = (payments * 0.5).toFixed(2);
  const available = (payments * 24.5 - Number(transferred) - 0.1).toFixed(2);
  desk.service.verify.set(
    'balances',
    `[{"available":${available},"fees":${feesWritten(fees)},"currency":"NGN"}]`,
  );
}
const run = (dialect: object): Promise<ReconciliationReport> => desk.speaking(dialect)({ dryRun: false });

test.each([
  ['', (fees: string) => fees],
  [' with a minus', (fees: string) => `"-${fees}"`],
])('C7: fees that the dialect names are part of the proof%s', async (_name, feesWritten) => {
  await collect(4, '30.00', feesWritten);
  const report = await run({ transfers, balances });
  expect(report).toMatchObject({ verdict: 'agreed', graced: {} });
  expect(report.balances).toEqual([
    {
      currency: 'NGN',
      collected: '100.00',
      transferred: '30.00',
      fees: '2.10',
      available: '67.90',
      pending: '0.00',
      balance: '67.90',
      difference: '0.00',
    },
  ]);
  expect(formatReport(report)).toMatch(/fees/);
});

test('C7: fees that nobody named, or that are other than told, are a difference', async () => {
  await collect(4, '30.00', (fees) => fees);
  const silent = await run({
    transfers: { ...transfers, fee: undefined },
    balances: { ...balances, fees: undefined },
  });
  expect(silent).toMatchObject({ graced: { cash_difference: 1 }, balances: [{ difference: '2.10' }] });
  await collect(0, '30.00', () => '3.00');
  expect(await run({ transfers, balances })).toMatchObject({ graced: { cash_difference: 1 } });
});

test('C4: sums beyond a bigint, and a currency that is no text, end no run', async () => {
  for (const reference of ['a', 'b'])
    desk.service.history.push({ reference, id: reference, amount: '900000000000000', currency: 'CLF' });
  desk.service.verify.set('transfers', '[]');
  desk.service.verify.set('balances', '[]');
  expect(await run({ transfers, balances })).toMatchObject({
    graced: { cash_difference: 1 },
    complete: true,
  });
  desk.service.verify.set('balances', '{"\\ud800\\u0000": {"available": 1}}');
  const report = await run({ transfers, balances: { ...balances, form: 'by-currency' } });
  expect(report).toMatchObject({ verdict: 'incomplete' });
});

describe('C7: payouts are matched, and not only summed', () => {
  const listed = (...rows: readonly object[]): void => {
    desk.service.verify.set('transfers', JSON.stringify(rows));
  };
  const one = { id: 'po-1', amount: '20.00', fee: 0.1, currency: 'NGN', status: 'paid' };
  const named = { transfers, balances: { ...balances, fees: undefined } };
  const seen = () =>
    desk.database.query(
      `SELECT reference, amount::int, status, gone_at IS NOT NULL AS "isGone", returned_at IS NOT NULL AS "isBack"
       FROM transfers ORDER BY id`,
    );
  async function books(): Promise<{ rows: (string | null)[][]; totals: object[] }> {
    const wanted = { mode: 'test', period: EVERYTHING, withCustomers: false } as const;
    const { sheet, totals } = openBooks(desk.database, desk.gateway.dialect, wanted);
    const rows: (string | null)[][] = [];
    for await (const { kind, reference, amount, state, fee } of sheet.rows)
      rows.push([kind, reference, amount, state, fee]);
    return { rows, totals: totals() };
  }
  beforeEach(() => {
    desk.service.verify.set('balances', '[]');
  });

  test('what changes or disappears is told, the books keep what was first seen, and a dry run writes nothing', async () => {
    listed(one, { ...one, id: 'po-2', fee: 0, status: 'FAILED' }, { ...one, id: null });
    expect(await desk.speaking(named)({ dryRun: true })).toMatchObject({ transfers: { listed: 3 } });
    expect(await seen()).toEqual([]);
    const first = { listed: 3, unnamed: 1, changed: 0, changes: [] };
    expect((await run(named)).transfers).toEqual(first);
    expect((await run(named)).transfers).toEqual(first);
    expect(await books()).toEqual({
      rows: [['payout', 'po-1', '20.00', 'paid', '0.10']],
      totals: [expect.objectContaining({ confirmed: '0.00', paid_out: '20.00', fees: '0.10' })],
    });

    listed({ ...one, amount: '25.00' });
    const changes = [
      { reference: 'po-1', currency: 'NGN', amount: '20.00', listed: '25.00', status: 'paid' },
      { reference: 'po-2', currency: 'NGN', amount: '20.00', listed: null, status: null },
    ];
    const dry = await desk.speaking(named)({ dryRun: true });
    const told = await run(named);
    for (const report of [dry, told]) expect(report.transfers).toMatchObject({ changed: 2, changes });
    expect(formatReport(told)).toMatch(/po-1 +NGN 20\.00 +NGN 25\.00 +paid\npo-2 .*not listed any more/);
    expect((await replayRun(desk.database, 'test', told.runId)).isSame).toBe(true);
    // A difference lasts, and what is gone is told once.
    expect((await run(named)).transfers?.changes).toEqual(changes.slice(0, 1));
    expect(await seen()).toMatchObject([
      { reference: 'po-1', amount: 2_000, isGone: false, isBack: false },
      { reference: 'po-2', isGone: true, isBack: true },
    ]);
  });

  test('one that came back is a row of its own, later; a list that is only a part says of none that it is gone', async () => {
    listed(one);
    await run(named);
    await desk.database.query(`UPDATE transfers SET first_seen_at = first_seen_at - interval '1 day'`);
    listed({ ...one, status: 'reversed' });
    for (const changed of [1, 0]) expect((await run(named)).transfers).toMatchObject({ changed });
    expect(await books()).toMatchObject({
      rows: [
        ['payout', 'po-1', '20.00', 'reversed', '0.10'],
        ['payout_returned', 'po-1', '20.00', 'reversed', null],
      ],
      totals: [{ paid_out: '0.00' }],
    });
    desk.service.verify.set('transfers', '[],"hasNextPage":true');
    expect(await run(named)).toMatchObject({ verdict: 'incomplete' });
    expect(await run({ ...named, balances: null })).toMatchObject({
      incompleteReason: expect.stringMatching(/^the transfers could not be checked: .* lists only a part/),
    });
    expect(await seen()).toMatchObject([{ isGone: false, isBack: true }]);
    // Sent again under the same reference, in two parts: it left once. The list alone is enough for that.
    listed({ ...one, amount: '15.00' }, { ...one, status: 'failed' }, { ...one, amount: '5.00' });
    expect(await run({ ...named, balances: null })).toMatchObject({ verdict: 'agreed', balances: null });
    expect(await seen()).toMatchObject([{ amount: 2_000, status: 'paid', isBack: false }]);
  });
});

const HISTORY_FEE = { history: { fee: ['/fee', '/charges/service'] } };
const ownBalances = { ...balances, fees: undefined };
/** A row of the list with anything beside the usual fields. */
const rowOf = (reference: string, more: string, status = 'SUCCESS', money = '"amount":25,"currency":"NGN"') =>
  `{"reference":"${reference}","status":"${status}",${money}${more}}`;
const holds = (...balance: readonly [available: string, currency: string][]): void => {
  desk.service.verify.set('transfers', '[]');
  const listed = balance.map(
    ([available, currency]) => `{"available":${available},"currency":"${currency}"}`,
  );
  desk.service.verify.set('balances', `[${listed.join()}]`);
};
const linesOf = ({ balances: lines }: ReconciliationReport) =>
  lines?.map(({ currency, collected, fees, difference }) => [currency, collected, fees, difference]);

test('C7: fees that each record of the history names are part of the proof, once for a repeated row', async () => {
  const paid = await Promise.all([1, 2, 3, 4, 5].map(() => desk.put({ isConfirmed: true }, null)));
  const [one = '', two = '', three = '', four = '', five = ''] = paid.map(({ reference }) => reference);
  desk.service.history.push(
    rowOf(one, ',"id":"1","fee":0.5'),
    // Moved between two pages while they were read: by its id, and by its bytes.
    rowOf(one, ',"id":"1","fee":0.5'),
    rowOf(two, ',"fee":"-0.50"'),
    rowOf(two, ',"fee":"-0.50"'),
    rowOf(three, ',"fee":null,"charges":{"service":5e-1}'),
    // No fee, and one that the service had not worked out yet when the row was read first.
    rowOf(four, ''),
    rowOf(five, ',"id":"5"'),
    rowOf(five, ',"id":"5","fee":0.25'),
    // Took no money, so nothing was taken off it.
    rowOf(three, ',"fee":9', 'FAILED'),
    rowOf('gone', ',"fee":9', 'PENDING'),
    rowOf('odd', ',"fee":9', 'SOMETHING'),
    // Two charges of one payment each have their fee.
    rowOf('twice', ',"id":"6","fee":1'),
    rowOf('twice', ',"id":"7","fee":1'),
    rowOf('dinar', ',"fee":0.005', 'SUCCESS', '"amount":1.5,"currency":"KWD"'),
  );
  holds(['171.25', 'NGN'], ['1.495', 'KWD']);
  const dialect = { transfers, balances: ownBalances, ...HISTORY_FEE };
  for (const report of [await run(dialect), await run(dialect)])
    expect(linesOf(report)).toEqual([
      ['KWD', '1.500', '0.005', '0.000'],
      ['NGN', '175.00', '3.75', '0.00'],
    ]);
  expect(linesOf(await run({ ...dialect, history: { fee: ['/nothing'] } }))).toEqual([
    ['KWD', '1.500', undefined, '0.005'],
    ['NGN', '175.00', undefined, '3.75'],
  ]);
  expect(linesOf(await desk.speaking(dialect)({ dryRun: true }))?.at(-1)).toEqual([
    'NGN',
    '175.00',
    '3.75',
    '0.00',
  ]);
});

test('C7: a fee that cannot be read, or is other than what was taken, is a difference', async () => {
  for (const fee of ['"0,50"', '0.505', '{"value":0.5}', '[0.5]', '"NaN"', '99999999999999999999', '0.40']) {
    desk.service.history = [rowOf('r', `,"fee":${fee}`)];
    holds(['24.50', 'NGN']);
    const report = await run({ transfers, balances: ownBalances, ...HISTORY_FEE });
    expect(report.graced).toMatchObject({ cash_difference: 1 });
    expect(report).toMatchObject({ complete: true, history: { unreadable: 0 } });
  }
});

test('C7: fees are read in the unit of the amounts', async () => {
  desk.service.history = [rowOf('r', ',"fee":50', 'SUCCESS', '"amount":2500,"currency":"NGN"')];
  holds(['2450', 'NGN']);
  expect(
    linesOf(await run({ amountUnit: 'minor', transfers, balances: ownBalances, ...HISTORY_FEE })),
  ).toEqual([['NGN', '25.00', '0.50', '0.00']]);
});

test('C7: a reading that goes on after a break counts each fee once', async () => {
  const filler = Array.from({ length: 5_000 }, (_, at) => rowOf(`f${at}`, ',"fee":9', 'FAILED'));
  const pages = [
    [...filler, rowOf('a', ',"fee":1')],
    [rowOf('a', ',"fee":1'), rowOf('b', ',"fee":2')],
  ];
  let isAway = true;
  const asked: number[] = [];
  desk.service.answerHistory = (query, res) => {
    const page = Number(query.get('page'));
    asked.push(page);
    if (page === 2 && isAway) res.writeHead(503, { 'retry-after': '3600' }).end();
    else send(res, `{"data":[${pages[page - 1]?.join() ?? ''}],"hasNextPage":${page < 2}}`);
  };
  holds(['47', 'NGN']);
  const dialect = {
    ...{ transfers, balances: ownBalances },
    history: { ...HISTORY_FEE.history, paging: { style: 'page', size: 10_000 } },
  };
  const reconcile = desk.speaking(dialect);
  expect(await reconcile({ dryRun: false })).toMatchObject({ verdict: 'incomplete', balances: null });
  isAway = false;
  expect(linesOf(await desk.speaking(dialect)({ dryRun: false }))).toEqual([
    ['NGN', '50.00', '3.00', '0.00'],
  ]);
  expect(asked).toEqual([1, 2, 2]);
});

test('C7: fees named in two ways are refused: they would be taken off twice', () => {
  expect(() => parseDialect(JSON.stringify({ balances, ...HISTORY_FEE }))).toThrow(/history\/fee/);
});
