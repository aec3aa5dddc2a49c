import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Identity } from '../../src/reconciliation/identity.ts';
import { LEDGERS } from '../support/ledgers.ts';
import { settle } from '../support/outside.ts';
import { buy, happens } from './makers.ts';
import { decide, startDesk, type Desk } from './support.ts';

// The same sums in every report, in minor units. XOF has no decimals.

const PRICES = { NGN: 8500, XOF: 65_000 };
type Currency = keyof typeof PRICES;
const SKUS = { NGN: 'ankara-tote', XOF: 'djembe' };

let desk: Desk;
let identity: Identity[];
beforeAll(async () => {
  desk = await startDesk({ worker: false });
  for (const currency of ['NGN', 'XOF'] as const) await trade(currency);
  for (let run = 0; run < 2; run += 1) ({ identity } = (await desk.reconcile()).report);
});
afterAll(() => desk.stop());

/** A day of a shop with one open case of each kind, and some decided ones. */
async function trade(currency: Currency): Promise<void> {
  const price = PRICES[currency];
  const sell = async (payment: object = {}) => {
    const checkout = await desk.checkout({ items: [{ sku: SKUS[currency], quantity: 1 }] });
    await settle(desk, checkout.reference, payment);
    return checkout;
  };
  const troubles: [reference: string, ...as: string[]][] = [];
  for (const as of ['', 'refund', 'write-off', 'explain']) {
    const { reference } = await sell();
    await happens(desk, reference, 'reverse', { amount: price / 2 });
    troubles.push([reference, as]);
  }
  for (const as of [[''], ['accept'], ['keep'], ['refund', '--elsewhere']])
    troubles.push([(await sell({ amount: price - 700 })).reference, ...as]);
  for (const as of ['', 'refund']) troubles.push([(await sell({ amount: price + 900 })).reference, as]);
  for (const as of ['', 'refund']) troubles.push([(await sell({ times: 2 })).reference, as]);
  for (let run = 0; run < 2; run += 1) await desk.reconcile();
  for (const [reference, ...as] of troubles) if (as[0] !== '') await decide(desk, reference, ...as);
  // One of the refunds at the service is shown in part. Another one was paid by bank.
  const [shown, other] = [await sell(), await sell()];
  const refund = ({ orderId }: { orderId: string }, number: string, ...words: string[]) =>
    desk.run('orders', 'refund', orderId, '300', '--number', number, ...words);
  await refund(shown, 'RF-1');
  await happens(desk, shown.reference, 'reverse', { amount: 200 });
  await refund(other, 'RF-2');
  await refund(other, 'RF-3', '--elsewhere');
}

const DECIMALS = { NGN: 2, XOF: 0 };
/** `NGN −1,234.50` or `-1234.50` in minor units. */
const minorOf = (text: string | undefined, currency: Currency): number =>
  Math.round(Number((text ?? '0').replace('−', '-').replace(/[^-.\d]/g, '')) * 10 ** DECIMALS[currency]);
const total = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0);

const BOOKS = ['captured', 'retained', 'refunded', 'written_off', 'off_provider'] as const;
const LEDGER_SUMS = [...BOOKS, 'received', 'outflow', 'held', 'missing', 'not_shown', 'ours'] as const;
/** The ledger, in SQL. */
async function ledgerOf(currency: Currency) {
  const sums = LEDGER_SUMS.map((one) => `sum(${one})::int AS ${one}`);
  const text = `SELECT ${sums.join(', ')} FROM ${LEDGERS} WHERE currency = $1`;
  const [row] = await desk.database.query<Record<string, number>>(text, [currency]);
  return row as Record<(typeof LEDGER_SUMS)[number], number>;
}

type Listed = { amount: number; currency: string; paidAt: string | null; amount_refunded?: number };
/** The total of the service's own history. */
async function serviceTotalOf(currency: Currency): Promise<number> {
  const listed = (await desk.sandboxGet<{ list: Listed[] }[]>('/transactions')).flatMap(({ list }) => list);
  const paid = listed.filter((row) => row.currency === currency && row.paidAt !== null);
  return minorOf(String(total(paid.map(({ amount, amount_refunded: gone = 0 }) => amount - gone))), currency);
}

test.each(['NGN', 'XOF'] as const)(
  'the identity of the report closes in %s and equals the ledger',
  async (currency) => {
    const one = identity.find((row) => row.currency === currency);
    const minor = (text: string | undefined): number => minorOf(text, currency);
    const ledger = await ledgerOf(currency);
    expect(one?.difference).toBe(currency === 'NGN' ? '0.00' : '0');
    expect(minor(one?.serviceTotal)).toBe(await serviceTotalOf(currency));
    const { refunded, written_off, retained, not_shown, off_provider, ...cases } = one?.classes ?? {};
    const sums = { captured: one?.earned, refunded, written_off, retained, not_shown, off_provider };
    expect(Object.fromEntries(Object.entries(sums).map(([name, text]) => [name, minor(text)]))).toEqual({
      ...{ captured: ledger.captured, refunded: -ledger.refunded, written_off: -ledger.written_off },
      ...{ retained: ledger.retained, not_shown: ledger.not_shown, off_provider: ledger.off_provider },
    });
    expect(Object.keys(cases).sort()).toEqual(['charged_again', 'overpaid', 'reversed', 'underpaid']);
    const open = total(Object.values(cases).map(minor));
    expect(open).toBe(ledger.held - ledger.missing);
    const classes = total(Object.values(one?.classes ?? {}).map(minor));
    expect(minor(one?.serviceTotal)).toBe(minor(one?.earned) + classes);
  },
);

test.each(['NGN', 'XOF'] as const)('books, explain and the work list show the same amounts of %s', async (currency) => {
  const ledger = await ledgerOf(currency);
  const minor = (text: string | undefined): number => minorOf(text, currency);
  const json = async <T>(...words: string[]): Promise<T> => JSON.parse((await desk.run(...words, '--json')).out) as T;

  // A test that runs over midnight at the end of a month has two months.
  const months = await desk.database.query<{ month: string }>(
    `SELECT DISTINCT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM journal ORDER BY month`,
  );
  const books: Record<string, string>[] = [];
  const rows: string[] = [];
  for (const { month } of months) {
    const totals = await json<Record<string, string>[]>('books', month, '--totals');
    books.push(totals.find((one) => one.currency === currency) ?? {});
    rows.push(...(await desk.run('books', month)).out.split('\n').filter((row) => row.includes(`,${currency},`)));
  }
  const booked = (name: string): number => total(books.map((one) => minor(one[name])));
  // Each line of the books is a figure of the ledger.
  expect(['paid', 'kept', 'refunded', 'written_off', 'reversed'].map(booked)).toEqual([
    ...[ledger.captured, ledger.retained, -ledger.refunded, -ledger.written_off, -ledger.missing],
  ]);
  expect(booked('earned')).toBe(ledger.ours);
  expect(minor(books.at(-1)?.held)).toBe(ledger.held);
  const amounts = rows.map((row) => minor(new RegExp(`,${currency},(-?[\\d.]+),`).exec(row)?.[1]));
  expect(total(amounts)).toBe(ledger.ours);

  const told = [{ received: '', outflow: '', held: '', ours: '' }];
  const orders = 'SELECT id FROM orders WHERE currency = $1';
  for (const { id } of await desk.database.query<{ id: string }>(orders, [currency])) {
    const { money, chain } = await json<{ money: typeof told; chain: object }>('explain', id);
    expect(chain).toMatchObject({ brokenAt: null });
    told.push(...money.filter(({ received }) => received.startsWith(currency)));
  }
  const sums = (['received', 'outflow', 'held', 'ours'] as const).map((name) =>
    total(told.map((one) => minor(one[name]))),
  );
  expect(sums).toEqual([ledger.received, ledger.outflow, ledger.held, ledger.ours]);

  type Case = { class: string; held: string; missing: string; currency: string };
  const cases = (await json<Case[]>('cases', 'list')).filter((one) => one.currency === currency);
  expect(total(cases.map(({ held }) => minor(held)))).toBe(ledger.held);
  // One reversal was explained: its money is still missing, but needs no decision.
  expect(total(cases.map(({ missing }) => minor(missing)))).toBe(ledger.missing / 2);
});

test('an amount that was shown in another currency for a while counts once', async () => {
  const { reference } = await buy(desk);
  await desk.reconcile();
  for (const said of ['USD', 'NGN']) {
    await happens(desk, reference, 'record', { currency: said });
    for (let run = 0; run < 2; run += 1) await desk.reconcile();
  }
  const { report } = await desk.reconcile();
  const one = report.identity.find(({ currency }) => currency === 'NGN');
  expect(one?.difference).toBe('0.00');
  expect(minorOf(one?.earned, 'NGN')).toBe((await ledgerOf('NGN')).captured);
  expect(minorOf(one?.serviceTotal, 'NGN')).toBe(await serviceTotalOf('NGN'));
});
