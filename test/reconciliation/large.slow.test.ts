import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { formatMajor, minorDigits, parseMajor } from '../../src/platform/money.ts';
import { openBooks, rowOf, writeDigests, type Books, type Paid, type Ran, type Row } from './books.ts';

// A hundred thousand orders and rows in three currencies, with a few differences of each class.
// Only these differences are found.

const COUNT = 100_000;
const CURRENCIES = ['NGN', 'KWD', 'XOF'];
const RUN_MS = 240_000;
const said = (status: string): Row => ({ status });
const [paid, pending, reversed, odd] = [said('SUCCESS'), said('PENDING'), said('REVERSED'), said('GONE')];
const part: Row = { amount_refunded: 1 };
const GHS = 'currency_mismatch GHS 8500 0';
const unitOf = (currency: string): bigint => 10n ** BigInt(minorDigits(currency) ?? 0);

/**
 * The rows that replace an order's own row, the answer of verify (null: paid), and the class that
 * must be found.
 */
type Plant = [what: string, list: Row[], verify: Row | null, ...finds: string[]];
function plantsOf({ amount, currency }: Paid): Plant[] {
  const more = (by: bigint): Row => ({ amount: Number(formatMajor({ amount: amount + by, currency })) });
  const missing = (name: string, of = amount) => `${name} ${currency} 0 ${of}`;
  const held = (name: string, of = amount) => `${name} ${currency} ${of} 0`;
  return [
    ['absent', [], null, missing('absent_from_history')],
    ['less in the list', [more(-1n)], null, missing('contradicted', 1n)],
    ['less in both', [more(-2n)], more(-2n), missing('reversed', 2n)],
    ['more in the list', [more(1n)], null, held('charged_again', 1n)],
    ['more in both', [more(2n)], more(2n), held('charged_again', 2n)],
    ['reversed in both', [reversed], reversed, missing('reversed')],
    ['reversed in the list', [reversed], null, missing('reversed')],
    ['back as a row of its own', [paid, { id: 'back', ...more(-2n * amount) }], null, missing('reversed')],
    ['back in part', [part], part, missing('reversed', unitOf(currency))],
    ['back in part: refunded', [part], part],
    ['twice, with ids', [paid, { id: 'second' }], null, held('charged_again')],
    ['twice, without', [{ id: null }, { id: null }], null, held('charged_again')],
    ['one row that was read twice', [paid, paid], null],
    ['in another currency', [{ currency: 'GHS', amount: 85 }], null, missing('absent_from_history'), GHS],
    ['by an unknown word', [odd], null, missing('contradicted')],
    ['unpaid: it was paid, and nobody has told us', [paid], paid],
    ['unpaid: in the list alone it was paid', [paid], pending, held('contradicted')],
    ['unpaid: an unknown word', [odd], odd, `unknown_status ${currency} 0 0`],
  ];
}

let books: Books;
const list: Row[] = [];
const expected: string[] = [];
const asked: string[] = [];

/** Rows without an order: an unmatched payment, a row that is set aside, and an unreadable row. */
function plantOthers(stranger: Paid): void {
  const { reference, currency, amount } = stranger;
  expected.push(`${reference} unknown_reference ${currency} ${amount} 0`);
  list.push(rowOf(stranger), rowOf({ ...stranger, reference: `${reference}pending` }, pending));
  list.push(rowOf(stranger, { mode: 'live' }), rowOf(stranger, { merchant: 'another' }));
  list.push(rowOf(stranger, { amount: '1e3' }), rowOf(stranger, { reference: null }));
}

/** Some orders were paid in other currencies, some were not paid, and some have a refund. */
async function prepare(unpaid: string[], refunded: Paid[]): Promise<void> {
  const key = (table: string) => (table === 'orders' ? 'id' : 'reference');
  const inOthers = (table: string) =>
    `UPDATE ${table} SET currency = CASE WHEN ${key(table)} < '005' THEN 'KWD' ELSE 'XOF' END WHERE ${key(table)} < '01'`;
  const those = `= ANY('{${unpaid.join()}}')`;
  const without = (table: string) => `DELETE FROM ${table} WHERE reference ${those}`;
  await books.database.query(`SET session_replication_role = replica;
    ${['orders', 'payments', 'verifications', 'ledgers', 'proofs', 'proof_payments'].map(inOthers).join(';')};
    ${['ledgers', 'journal', 'proof_payments', 'proofs'].map(without).join(';')};
    UPDATE verifications SET outcome = 'pending', word = 'PENDING', balance = NULL WHERE reference ${those};
    UPDATE orders SET status = 'pending', paid_reference = NULL, paid_at = NULL WHERE paid_reference ${those};
    UPDATE payments SET status = 'open' WHERE reference ${those};
    SET session_replication_role = DEFAULT`);
  await writeDigests(books.database);
  for (const { orderId, reference, currency } of refunded) {
    const refund = `INSERT INTO refunds (order_id, amount, reason, "by") VALUES ($1, $2, 'broken', 'ada')`;
    await books.database.query(refund, [orderId, unitOf(currency)]);
    await books.database.query('UPDATE ledgers SET refunded = $2, booked_out_at = now() WHERE reference = $1', [
      reference,
      unitOf(currency),
    ]);
  }
}

beforeAll(async () => {
  books = await openBooks({ count: COUNT, pageSize: 1_000 });
  for (const order of books.orders)
    if (order.reference < '01') order.currency = order.reference < '005' ? 'KWD' : 'XOF';
  const planted = new Set<Paid>();
  const [unpaid, refunded]: [string[], Paid[]] = [[], []];
  for (const wanted of CURRENCIES) {
    const some = books.orders.filter(({ currency }) => currency === wanted).slice(0, 18);
    for (const [index, order] of some.entries()) {
      const { reference } = order;
      const [what = '', rows = [], verify = null, ...finds] = plantsOf(order)[index] ?? [];
      list.push(...rows.map((more) => rowOf(order, more)));
      books.truth.set(reference, rowOf(order, verify ?? paid));
      expected.push(...finds.map((find) => `${reference} ${find}`));
      // A row that is shown twice looks different until its payment was verified and the rows were
      // applied.
      if (verify !== null || finds.length > 0 || what === 'one row that was read twice') asked.push(reference);
      if (what.startsWith('unpaid')) unpaid.push(reference);
      if (what.endsWith('refunded')) refunded.push(order);
      if (what === 'absent') plantOthers({ ...order, reference: `stranger${wanted}`.toLowerCase(), id: wanted });
      planted.add(order);
    }
  }
  await prepare(unpaid, refunded);
  list.push(...books.orders.filter((order) => !planted.has(order)).map((order) => rowOf(order)));
  books.service.rows = list;
}, RUN_MS);
afterAll(() => books.close());

/** The sum that the test computes itself, in minor units. */
function listedIn(currency: string): bigint {
  const once = new Map(list.map((row) => [row.id === null ? row : JSON.stringify([row.reference, row.id]), row]));
  const amountOf = (value: unknown) => parseMajor(String(value), currency) ?? 0n;
  return [...once.values()]
    .filter((row) => row.currency === currency && row.status === 'SUCCESS' && !('mode' in row) && !('merchant' in row))
    .reduce((sum, row) => sum + amountOf(row.amount) - amountOf(row.amount_refunded ?? 0), 0n);
}

const cases = async () => {
  const sql = `SELECT concat_ws(' ', reference, class, currency, held, missing) AS text FROM cases WHERE closed_at IS NULL`;
  return (await books.database.query<{ text: string }>(sql)).map(({ text }) => text).sort();
};
const LEDGER = `reference, currency, verify_received, verify_outflow, history_received, history_outflow, captured,
  retained, returned, refunded, written_off`;
const written = () =>
  books.database.query(`SELECT (SELECT max(id) FROM journal) AS journal, (SELECT max(id) FROM cases) AS cases,
    (SELECT max(id) FROM verifications) AS answers, (SELECT count(*) FROM messages) AS messages,
    (SELECT md5(string_agg(digest::text, ' ' ORDER BY id)) FROM cases) AS seen, (SELECT count(*) FROM proofs) AS proofs,
    (SELECT md5(string_agg(concat_ws(' ', ${LEDGER}), ' ' ORDER BY reference, currency)) FROM ledgers) AS ledgers`);

function say({ report, peakMiB }: Ran): void {
  const ms = Date.parse(report?.finishedAt ?? '') - Date.parse(report?.startedAt ?? '');
  process.stdout.write(`${COUNT} by ${COUNT}: ${(ms / 1_000).toFixed(1)} s, ${peakMiB.toFixed(0)} MiB at most\n`);
}

test(
  '100,000 rows beside 100,000 orders: each planted difference is found with its class, and nothing else',
  async () => {
    const ran = await books.reconcile();
    say(ran);
    expect(await cases()).toEqual(expected.sort());
    expect(books.service.calls.verified.sort()).toEqual(asked.sort());
    const { report, exit } = ran;
    expect({ exit, ...report }).toMatchObject({
      ...{ exit: 1, complete: true, verdict: 'findings', payments: COUNT, repaired: CURRENCIES.length },
      ...{ history: { records: list.length, unreadable: 6, setAside: { records: 6 } } },
      reason: expect.stringMatching(/^6 rows of the history cannot be read/) as unknown,
    });
    expect(Object.values(report?.findings ?? {}).reduce((sum, count) => sum + count, 0)).toBe(expected.length);
    expect(report?.items).toHaveLength(expected.length);

    const sql = 'SELECT currency, sum(captured)::text AS earned FROM ledgers GROUP BY 1';
    const earned = new Map(
      (await books.database.query<Row>(sql)).map((one) => [one.currency, BigInt(String(one.earned))]),
    );
    expect(report?.identity.map(({ currency }) => currency).sort()).toEqual([...earned.keys()].sort());
    for (const { currency, serviceTotal, earned: ours, classes, difference } of report?.identity ?? []) {
      const minor = (text: string) => parseMajor(text, currency) ?? 0n;
      const explained = Object.values(classes).reduce((sum, amount) => sum + minor(amount), minor(ours));
      expect([currency, minor(serviceTotal), explained]).toEqual([currency, listedIn(currency), listedIn(currency)]);
      expect([currency, minor(ours), minor(difference)]).toEqual([currency, earned.get(currency), 0n]);
    }
  },
  RUN_MS,
);

test(
  'a second run finds the same and writes nothing',
  async () => {
    const [before, seen] = [await written(), await cases()];
    const ran = await books.reconcile();
    say(ran);
    expect(ran).toMatchObject({ exit: 1, report: { complete: true, repaired: 0 } });
    expect([await written(), await cases()]).toEqual([before, seen]);
  },
  RUN_MS,
);
