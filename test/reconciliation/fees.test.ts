import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { formatReport, type ReconciliationReport } from '../../src/reconciliation/report.ts';
import { openDesk, type Desk } from './desk.ts';

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
  for (let count = 0; count < payments; count += 1) await desk.put({ isSettled: true }, {});
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
