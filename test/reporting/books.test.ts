import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import {
  entriesByKind,
  EVERYTHING,
  monthBefore,
  monthOf,
  type Period,
} from '../../src/reporting/books.sql.ts';
import { openBooks, type BookColumn, type Total } from '../../src/reporting/books.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { formatMajor, parseMajor } from '../../src/platform/money.ts';
import type { Mode } from '../../src/platform/mode.ts';
import { plant } from '../reconciliation/books.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// A rehearsed February: what happened at the service is the sandbox's own ledger, when it happened is moved by SQL.

let shop: TestProgram;
let report: ReconciliationReport;
const orders: Record<string, CheckoutAnswer> = {};
const JANUARY = '2026-01-31T23:59:59.999999Z';
const FEBRUARY = '2026-02-01T00:00:00Z';
const STILL_FEBRUARY = '2026-02-28T23:59:59.999999Z';
const MARCH = '2026-03-01T00:00:00Z';

type Row = Record<BookColumn, string | null>;
type Read = { rows: Row[]; totals: Total[] };
const sql = (text: string, ...values: unknown[]) => shop.program.database.query(text, values);

async function read(
  period: Period,
  { mode = 'test', withCustomers = false }: { mode?: Mode; withCustomers?: boolean } = {},
): Promise<Read> {
  const { database, gateway } = shop.program;
  const { sheet, totals } = openBooks(database, gateway.dialect, { mode, period, withCustomers });
  const rows: Row[] = [];
  for await (const row of sheet.rows) rows.push(row);
  return { rows, totals: totals() };
}
const month = (text: string): Period => monthOf(text) ?? EVERYTHING;

async function buy(
  name: string,
  sku: string,
  amount?: string,
  items = [{ sku, quantity: 1 }],
): Promise<void> {
  const order = (orders[name] = await shop.checkout({ email: `${name}@example.com`, items }));
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false, ...(amount && { amount }) });
  await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
}

/** Moves what happened to an order to another time, which nothing but a test can do. */
async function happened(name: string, table: string, column: string, at: string): Promise<void> {
  await shop.program.database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(`UPDATE ${table} SET ${column} = $2 WHERE order_id = $1`, [orders[name]?.orderId, at]);
  });
}

const refund = (name: string, amount: bigint, number: string | null, at: string) =>
  sql(
    `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by, refunded_at)
     VALUES ('re_' || substr(md5(random()::text), 1, 24), $1, 'test', $2, 'NGN', 'came broken', $3, 'Ngozi', $4)`,
    orders[name]?.orderId,
    amount,
    number,
    at,
  );

async function decide(name: string, decision: 'refund' | 'keep', refundNote: string | null): Promise<void> {
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find(
    ({ orderId }) => orderId === orders[name]?.orderId,
  );
  const how = { by: 'Tunde', note: 'wrote to her', decision, refundNote };
  expect(await resolveSuspense(database, 'test', item?.id ?? 0n, how)).toBe(true);
}

/** A person lets what came pay the order. */
async function accept(name: string): Promise<void> {
  const { database } = shop.program;
  const item = (await openSuspense(database, 'test')).find(
    ({ orderId }) => orderId === orders[name]?.orderId,
  );
  const said = { id: item?.id ?? 0n, by: 'Tunde', note: 'it is enough', seen: null };
  expect(await shop.program.accept(said)).toBe('accepted');
}

/** Moves the instant of an acceptance and of its release. */
async function acceptedAt(name: string, at: string): Promise<void> {
  await happened(name, 'releases', 'released_at', at);
  await happened(name, 'acceptances', 'accepted_at', at);
}

beforeAll(async () => {
  shop = await startProgram({ slowTime: true });
  for (const name of ['january', 'february', 'given-back', 'march']) await buy(name, 'ankara-tote');
  await buy('kuwait', 'dallah', undefined, [
    { sku: 'dallah', quantity: 1 },
    { sku: 'dallah', quantity: 2 },
  ]);
  await buy('too-little', 'ankara-tote', '1.07');
  await buy('too-much', 'dallah', '100.001');
  await decide('too-little', 'refund', 'RF-1');
  await decide('too-much', 'keep', null);
  await buy('undecided', 'ankara-tote', '2.00');
  for (const name of ['less', 'less-and-rest']) await buy(name, 'ankara-tote', '3.00');
  await buy('more', 'ankara-tote', '8600.00');
  for (const name of ['less', 'less-and-rest', 'more']) await accept(name);
  await shop.hand(`transactions/${orders['less-and-rest']?.reference}/pay`, {
    notify: false,
    amount: '8497.00',
  });
  report = await shop.program.reconcile({ dryRun: false });
  await plant(shop.program.database, { mode: 'live', isConfirmed: true, amount: 777n });

  await happened('january', 'releases', 'released_at', JANUARY);
  await happened('february', 'releases', 'released_at', FEBRUARY);
  await happened('given-back', 'releases', 'released_at', '2026-02-10T12:00:00Z');
  await happened('kuwait', 'releases', 'released_at', STILL_FEBRUARY);
  await happened('march', 'releases', 'released_at', MARCH);
  await happened('too-little', 'suspense_items', 'opened_at', '2026-02-11T12:00:00Z');
  await happened('too-little', 'suspense_items', 'closed_at', MARCH);
  await happened('too-much', 'suspense_items', 'opened_at', JANUARY);
  await happened('too-much', 'suspense_items', 'closed_at', '2026-02-12T12:00:00Z');
  await happened('undecided', 'suspense_items', 'opened_at', '2026-02-13T12:00:00Z');
  await happened('less', 'suspense_items', 'opened_at', JANUARY);
  await happened('less', 'suspense_items', 'closed_at', '2026-02-14T12:00:00Z');
  await acceptedAt('less', '2026-02-14T12:00:00Z');
  for (const column of ['opened_at', 'closed_at'])
    await happened('less-and-rest', 'suspense_items', column, JANUARY);
  await happened('less-and-rest', 'verifications', 'answered_at', MARCH);
  await acceptedAt('less-and-rest', JANUARY);
  await happened('more', 'suspense_items', 'opened_at', JANUARY);
  await acceptedAt('more', '2026-02-15T12:00:00Z');
  await refund('given-back', 50_001n, 'R-77', '2026-02-20T12:00:00Z');
  await refund('given-back', 799_999n, null, MARCH);
});
afterAll(() => shop.close());

describe('the books of a month', () => {
  test('hold what happened in its days in UTC, to the microsecond, in the order of time', async () => {
    const { rows } = await read(month('2026-02'));
    const short = rows.map(({ day, kind, amount, currency, state, refunded }) =>
      [day, kind, amount, currency, state, refunded].join(' ').trim(),
    );
    expect(short).toEqual([
      '2026-02-01 payment 8500.00 NGN paid 0.00',
      '2026-02-10 payment 8500.00 NGN partly_refunded 500.01',
      '2026-02-11 held 1.07 NGN underpaid',
      '2026-02-12 decided 100.001 KWD keep',
      '2026-02-13 held 2.00 NGN underpaid',
      '2026-02-14 payment 3.00 NGN paid 0.00',
      '2026-02-14 decided 3.00 NGN accept',
      '2026-02-15 payment 8500.00 NGN paid 0.00',
      '2026-02-15 decided 8500.00 NGN accept',
      '2026-02-20 refund 500.01 NGN refunded',
      expect.stringMatching(/^2026-02-28 payment \d+\.\d{3} KWD paid 0\.000$/),
    ]);
    expect(rows.find(({ kind }) => kind === 'refund')).toMatchObject({
      order_id: orders['given-back']?.orderId,
      reference: orders['given-back']?.reference,
      ...{ refund_number: 'R-77', decided_by: 'Ngozi', customer: 'g***@example.com' },
    });
    expect(rows[3]).toMatchObject({ decided_by: 'Tunde', refund_number: null });
    expect(rows.at(-1)?.item).toMatch(/ \+ 1 more$/);
  });

  test('do not change when something happens later', async () => {
    const { rows } = await read(month('2026-03'));
    expect(rows.map(({ kind, refund_number }) => [kind, refund_number])).toEqual([
      ['payment', null],
      ['refund', expect.stringMatching(/^re_/)],
      ['decided', 'RF-1'],
      ['payment', null],
    ]);
    expect(rows.find(({ state }) => state === 'rest')).toMatchObject({ amount: '8497.00', refunded: null });
    const whole = await read(EVERYTHING);
    const paid = whole.rows.find(({ reference }) => reference === orders['given-back']?.reference);
    expect(paid).toMatchObject({ state: 'refunded', refunded: '8500.00' });
  });

  test('have no row of the other mode', async () => {
    const { rows, totals } = await read(EVERYTHING, { mode: 'live' });
    expect(rows).toHaveLength(1);
    expect(totals).toMatchObject([{ currency: 'NGN', confirmed: '7.77' }]);
  });

  test('show whole addresses only where they are asked for', async () => {
    const { rows } = await read(month('2026-02'), { withCustomers: true });
    expect(rows[0]?.customer).toBe('february@example.com');
  });
});

describe('the books add up', () => {
  const months = ['2026-01', '2026-02', '2026-03'];
  const minor = (text: string, currency: string): bigint => parseMajor(text, currency) ?? -1n;

  test('to their rows, month by month, and all months to everything', async () => {
    const every = await read(EVERYTHING);
    const byMonth = await Promise.all(months.map((text) => read(month(text))));
    expect(byMonth.flatMap(({ rows }) => rows)).toHaveLength(every.rows.length);
    for (const total of every.totals) {
      for (const name of ['confirmed', 'refunded', 'held', 'decided'] as const) {
        const sum = byMonth
          .flatMap(({ totals }) => totals.filter(({ currency }) => currency === total.currency))
          .reduce((all, one) => all + minor(one[name], one.currency), 0n);
        expect([name, formatMajor({ amount: sum, currency: total.currency })]).toEqual([name, total[name]]);
      }
    }
    expect((await read(month('2026-02'))).totals).toMatchObject([
      { currency: 'KWD', held: '0.000', decided: '100.001' },
      { currency: 'NGN', confirmed: '25503.00', refunded: '500.01', net: '25002.99', held: '3.07' },
    ]);
    // As it was before a person accepted a part of it.
    const january = (await read(month('2026-01'))).rows.filter(({ kind }) => kind === 'held');
    expect(january.map(({ amount }) => amount)).toContain('8600.00');
  });

  test("to the sandbox's own ledger, row by row and in all", async () => {
    const answer = await fetch(`${shop.sandbox.url}/sandbox/transactions?mode=test`);
    const ledger = (await answer.json()) as {
      transactions: { reference: string; received: { amount: string; currency: string } | null }[];
    };
    const { rows, totals } = await read(EVERYTHING);
    const came = new Map<string | null, bigint>();
    for (const { kind, reference, amount, currency, state } of rows) {
      const isPaidWithHeldMoney = kind === 'decided' && (state === 'accept' || state === 'earned');
      const sign = kind === 'payment' || kind === 'held' ? 1n : isPaidWithHeldMoney ? -1n : 0n;
      came.set(reference, (came.get(reference) ?? 0n) + sign * minor(amount ?? '', currency ?? ''));
    }
    const received = ledger.transactions.map(({ reference, received: money }) => ({ reference, ...money }));
    expect(Object.fromEntries(came)).toEqual(
      Object.fromEntries(
        received.map(({ reference, amount = '', currency = '' }) => [reference, minor(amount, currency)]),
      ),
    );
    for (const { currency, confirmed, held } of totals) {
      const accepted = rows
        .filter((row) => row.currency === currency && row.state === 'accept')
        .reduce((all, { amount }) => all + minor(amount ?? '', currency), 0n);
      const sum = received
        .filter((money) => money.currency === currency)
        .reduce((all, { amount = '' }) => all + minor(amount, currency), 0n);
      expect([currency, minor(confirmed, currency) + minor(held, currency) - accepted]).toEqual([
        currency,
        sum,
      ]);
    }
  });

  test('to what reconciliation says is confirmed', async () => {
    const { totals } = await read(EVERYTHING);
    // It has the price of an order for which a person accepted less.
    const confirmed = report.identity.map(({ currency, confirmed: price }) => {
      const amount = minor(price, currency) - (currency === 'NGN' ? minor('8497.00', 'NGN') : 0n);
      return { currency, confirmed: formatMajor({ amount, currency }) };
    });
    expect(totals.map(({ currency, confirmed }) => ({ currency, confirmed }))).toEqual(confirmed);
  });
});

test('the fee of a payment is what its answer names where the dialect says so, and empty otherwise', async () => {
  const { dialect } = parseDialect('{"history": {"fee": ["/currency", "/amount"]}}');
  const wanted = { mode: 'test', period: month('2026-02'), withCustomers: false } as const;
  const fees: (string | null)[] = [];
  for await (const { kind, fee } of openBooks(shop.program.database, dialect, wanted).sheet.rows)
    if (kind === 'payment') fees.push(fee);
  // The sandbox names no fee, so its amount stands in for one.
  expect(fees.slice(0, 2)).toEqual(['8500.00', '8500.00']);
  expect((await read(month('2026-02'))).rows.map(({ fee }) => fee)).toEqual(Array(11).fill(null));
});

test('a page that is full is followed by the next, and rows of one instant are neither lost nor doubled', async () => {
  await sql(
    `INSERT INTO suspense_items (mode, class, reference, amount, currency, opened_at)
     SELECT 'live', 'unknown_reference', 'x' || i, 1, 'NGN', '2025-06-01T00:00:00.123456Z'
     FROM generate_series(1, 2001) i`,
  );
  const { rows, totals } = await read(month('2025-06'), { mode: 'live' });
  expect(new Set(rows.map(({ reference }) => reference)).size).toBe(2_001);
  expect([rows.length, totals[0]?.held]).toEqual([2_001, '20.01']);
});

test('a page of payments is read by the index: as many rows as it has, whatever else there is', async () => {
  const asked: { text: string; values: readonly unknown[] }[] = [];
  const db: Queryable = {
    query: (statement, values = []) => {
      asked.push({ text: typeof statement === 'string' ? statement : statement.text, values });
      return Promise.resolve([]);
    },
  };
  await entriesByKind(db, { mode: 'test', period: EVERYTHING, withAnswers: false })[0]?.next();
  const plan = await shop.program.database.transaction(async (tx) => {
    for (const way of ['seqscan', 'bitmapscan']) await tx.query(`SET LOCAL enable_${way} = off`);
    return tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${asked[0]?.text}`, asked[0]?.values);
  });
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(lines).toMatch(/Limit[^\n]*\n +-> +Index Scan Backward using releases_by_time/);
});

test.each(['2026', '2026-13', '2026-00', '2026-1', ' 2026-01'])('%j is no month', (text) => {
  expect(monthOf(text)).toBeNull();
});

test('the month before January is December', () => {
  expect(monthBefore(new Date('2026-01-31T23:59:59Z'))).toBe('2025-12');
});
