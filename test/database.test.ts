import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asShop, buy, SHOP_TOKEN, stands } from './money/support.ts';
import { startShop, type Shop } from './support/shop.ts';

// What the heads of the migrations promise, tried by SQL against rows that purchases made: order A is paid and refunded
// in part, B is underpaid and held, C waits for its payment.

let shop: Shop;
/** `:a` is an order's id, `:a_ref` its reference, `:a_answer` the id of what verify said of it. */
const names = new Map<string, string>();
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: SHOP_TOKEN } });
  const orders = { a: await buy(shop), b: await buy(shop, { amount: 8000 }), c: await shop.checkout() };
  await stands(shop, orders.a.orderId, 'paid');
  await stands(shop, orders.b.orderId, 'review', 'underpaid 800000 0 NGN');
  await asShop(shop, `/orders/${orders.a.orderId}/refunds`, { amount: '500.00', reason: 'a test' });
  await asShop(shop, '/checkouts/stop', { currency: 'KWD', reason: 'a test' });
  for (const [name, { orderId, reference }] of Object.entries(orders)) {
    const answers = 'SELECT max(id) AS id FROM verifications WHERE reference = $1';
    const [answer] = await shop.database.query(answers, [reference]);
    names.set(`:${name}`, orderId).set(`:${name}_ref`, reference).set(`:${name}_answer`, String(answer?.id));
  }
});
afterAll(() => shop.stop());

/** Tries statements to the end of their transaction, and undoes them. @returns `taken`, or what refused them */
async function attempt(sql: string): Promise<string> {
  const filled = sql.replace(/:[abc](_\w+)?\b/g, (name) => `'${names.get(name) ?? name}'`);
  const block = `DO $do$ BEGIN ${filled}; SET CONSTRAINTS ALL IMMEDIATE; RAISE EXCEPTION 'taken'; END $do$`;
  try {
    await shop.database.query(block);
  } catch (error) {
    const { code, constraint, message } = error as { code: string; constraint?: string; message: string };
    return constraint ?? (code === '23001' ? 'written once' : message);
  }
  throw new Error('a block that always fails did not');
}

/** Releases of B that a person accepted: nothing is wrong with them but what is laid over. */
const released = (...overs: Record<string, string>[]): string[] =>
  overs.map((over) => {
    const accepted = { order_id: ':b', reference: ':b_ref', verification_id: ':b_answer', accepted_by: `'joy'` };
    const row = { ...accepted, mode: `'test'`, price: '850000', amount: '800000', currency: `'NGN'`, ...over };
    return `INSERT INTO releases (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).join(', ')})`;
  });
const BY_NOBODY = { accepted_by: 'NULL', amount: '850000', shown: `'paid'`, shown_amount: '850000' };
const SERVICE_ID = '(SELECT service_id FROM releases WHERE order_id = :a)';
const order = (changes: string, id: string): string => `UPDATE orders SET ${changes} WHERE id = ${id}`;
const ledger = (...all: string[]): string[] => all.map((one) => `UPDATE ledgers SET ${one} WHERE reference = :a_ref`);
const answers = (...all: string[]): string[] => all.map((one) => `UPDATE verifications SET ${one}`);
const paidBy = (reference: string): string => `status = 'paid', paid_at = now(), released_reference = ${reference}`;
const secondCase = (currency: string): string =>
  `INSERT INTO cases (mode, reference, order_id, class, currency, evidence, digest)
   SELECT mode, reference, order_id, class, ${currency}, evidence, digest FROM cases WHERE order_id = :b`;
const secondStop = (mode: string): string =>
  `INSERT INTO stops (mode, what, reason, by) VALUES ('${mode}', 'KWD', 'again', 'joy')`;
const FIGURES = ['captured', 'retained', 'returned', 'refunded', 'written_off', 'off_provider', 'recovered'].concat(
  ...['verify', 'history'].map((source) => [`${source}_received`, `${source}_outflow`, `${source}_most_outflow`]),
  'history_most_received',
);
const NO_RELEASE = 'released_reference = NULL, paid_at = NULL';

test.each<[promise: number, refusedBy: string, tries: string[]]>([
  [1, 'orders_paid_are_released', [order(NO_RELEASE, ':a'), order(`status = 'failed'`, ':a')]],
  [1, 'orders_paid_are_released', [order(`status = 'paid'`, ':b')]],
  [1, 'orders_paid_by_their_release', [order(paidBy(':b_ref'), ':b'), order(paidBy(':a_ref'), ':b')]],
  [1, 'releases_pay_their_order', [order(`${NO_RELEASE}, status = 'pending'`, ':a')]],
  [1, 'releases_pay_their_order', [order('released_reference = :b_ref', ':a'), ...released({})]],
  [1, 'releases_pay_their_order', released({}).map((sql) => `${sql}; ${order(paidBy(':c_ref'), ':b')}`)],
  [2, 'taken', released({}).map((sql) => `${sql}; ${order(paidBy(':b_ref'), ':b')}`)],
  [2, 'releases_of_payment', released({ price: '800000' }, { currency: `'USD'` }, { mode: `'live'` })],
  [2, 'releases_of_payment', released({ order_id: ':c' }, { reference: ':c_ref' })],
  [2, 'releases_are_proven_or_accepted', released({ accepted_by: 'NULL' }, { accepted_by: `''` })],
  [2, 'releases_are_proven_or_accepted', released({ ...BY_NOBODY, shown_amount: '800000', amount: '800000' })],
  [2, 'releases_are_proven_or_accepted', released({ ...BY_NOBODY, shown_amount: 'NULL' })],
  [2, 'releases_are_proven_or_accepted', released({ ...BY_NOBODY, shown: `'pending'` })],
  [2, 'releases_show_what_verify_showed', released(BY_NOBODY)],
  [2, 'releases_of_verification', released({ verification_id: ':a_answer' })],
  [2, 'releases_earn_something', released({ amount: '0' })],
  [3, 'releases_pkey', released({ order_id: ':a' })],
  [3, 'releases_reference_key', released({ reference: ':a_ref', verification_id: ':a_answer' })],
  [3, 'releases_service_id_key', released({ service_id: SERVICE_ID })],
  [4, 'ledgers_allocate_what_was_received', ledger('captured = captured + 1', 'retained = 1', 'returned = 1')],
  [4, 'ledgers_allocate_what_was_received', ledger('verify_most_received = captured - 1')],
  [4, 'ledgers_refund_what_was_captured', ledger('refunded = captured + 1', 'refunded = captured + 3, recovered = 2')],
  [4, 'ledgers_take_back_what_was_booked', ledger('off_provider = refunded + 1', 'recovered = refunded + 1')],
  [4, 'taken', ledger('refunded = captured', 'recovered = refunded', 'refunded = captured + 2, recovered = 2')],
  [5, 'ledgers_are_not_negative', ledger(...FIGURES.map((figure) => `${figure} = -1`))],
  [5, 'ledgers_are_not_negative', ledger('history_most_received = captured, verify_most_received = -1')],
  [6, 'cases_one_open', [secondCase('currency')]],
  [6, 'stops_one_open', [secondStop('test')]],
  [6, 'taken', [secondCase(`'USD'`), secondStop('live')]],
  [7, 'written once', ['verifications', 'releases', 'refunds', 'journal'].map((table) => `DELETE FROM ${table}`)],
  [7, 'written once', ['releases', 'refunds', 'journal'].map((table) => `UPDATE ${table} SET amount = 7`)],
  [7, 'written once', answers(`word = 'PAID'`, `body = 'x'`, 'body = NULL, shows = 1')],
  [7, 'taken', [...answers('body = NULL'), 'UPDATE webhooks SET body = NULL, address = NULL']],
])('promise %i, %s: %j', async (_, refusedBy, tries) => {
  for (const one of tries) expect([one, await attempt(one)]).toEqual([one, refusedBy]);
});

const HASH = `sha256(coalesce(before, ''::bytea) || convert_to(jsonb_build_array(id, order_id, reference, what, "by",
  counter, amount, currency, data, extract(epoch FROM at))::text, 'UTF8'))`;
const CHAIN = `SELECT *, lag(hash) OVER chain AS before, row_number() OVER chain AS place FROM journal
  WHERE order_id = :a WINDOW chain AS (ORDER BY id)`;
/** Says which entries do not follow from the one before them. */
const TELL = `RAISE EXCEPTION 'broken: %', (SELECT string_agg(place::text, ' ') FROM (${CHAIN}) c WHERE hash IS DISTINCT FROM ${HASH})`;
const third = `id = (SELECT id FROM (${CHAIN}) c WHERE place = 3)`;
const PAST = 'ALTER TABLE journal DISABLE TRIGGER journal_is_written_once';

test.each<[string, string, string]>([
  ['as it was written, it is whole', '<NULL>', TELL],
  ['an entry that is changed breaks it', '3', `UPDATE journal SET data = '{"x": 1}' WHERE ${third}; ${TELL}`],
  ['one that is taken out breaks it', '3', `DELETE FROM journal WHERE ${third}; ${TELL}`],
  [
    'a new hash for a changed entry breaks it one further',
    '4',
    `UPDATE journal SET what = 'x' WHERE ${third}; UPDATE journal j SET hash = n.hash FROM
     (SELECT id, ${HASH} AS hash FROM (${CHAIN}) c WHERE place = 3) n WHERE j.id = n.id; ${TELL}`,
  ],
])('promise 8: the journal is a chain: %s', async (_, places, sql) => {
  expect(await attempt(`${PAST}; ${sql}`)).toBe(`broken: ${places}`);
});
