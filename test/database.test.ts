import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asShop, buy, SHOP_TOKEN, stands } from './money/support.ts';
import { startShop, type Shop } from './support/shop.ts';

// The promises at the top of the migrations, tested by SQL against rows of real purchases. Order A
// is paid and refunded in part, B is underpaid and held, C waits for its payment.

let shop: Shop;
/** `:a` is an order's id, `:a_ref` its reference, `:a_answer` the id of its last verification. */
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

/**
 * Runs statements to the end of their transaction, and undoes them.
 * @returns `taken`, or the constraint that refused them
 */
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

type Row = Record<string, string>;
const insert = (table: string, row: Row): string =>
  `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).join(', ')})`;
const ACCEPTED = { order_id: ':b', mode: `'test'`, reference: ':b_ref', price: '850000', currency: `'NGN'` };
const PART = { reference: ':b_ref', order_id: ':b', mode: `'test'`, currency: `'NGN'`, verification_id: ':b_answer' };
/** A valid proof of B that a person accepted, with changes to the proof or to its payment. */
const proved = (proof: Row, part: Row = {}): string =>
  [
    insert('proofs', { ...ACCEPTED, amount: '800000', accepted_by: `'joy'`, ...proof }),
    insert('proof_payments', { ...PART, amount: '800000', ...part }),
  ].join('; ');
const parts = (...overs: Row[]): string[] => overs.map((over) => proved({}, over));
const proofs = (...overs: Row[]): string[] => overs.map((over) => proved(over));
const BY_NOBODY = { accepted_by: 'NULL', amount: '850000' };
const SERVICE_ID = '(SELECT service_id FROM proof_payments WHERE order_id = :a)';
const order = (changes: string, id: string): string => `UPDATE orders SET ${changes} WHERE id = ${id}`;
const ledger = (...all: string[]): string[] => all.map((one) => `UPDATE ledgers SET ${one} WHERE reference = :a_ref`);
const answers = (...all: string[]): string[] => all.map((one) => `UPDATE verifications SET ${one}`);
const paidBy = (reference: string): string => `status = 'paid', paid_at = now(), paid_reference = ${reference}`;
const secondCase = (currency: string): string =>
  `INSERT INTO cases (mode, reference, order_id, class, currency, evidence, digest)
   SELECT mode, reference, order_id, class, ${currency}, evidence, digest FROM cases WHERE order_id = :b`;
const secondStop = (mode: string): string =>
  `INSERT INTO stops (mode, what, reason, by) VALUES ('${mode}', 'KWD', 'again', 'joy')`;
const FIGURES = ['captured', 'retained', 'returned', 'refunded', 'written_off', 'off_provider', 'recovered'].concat(
  ...['verify', 'history'].map((source) => [`${source}_received`, `${source}_outflow`, `${source}_most_outflow`]),
  'history_most_received',
);
const UNPAID = 'paid_reference = NULL, paid_at = NULL';
/** B is paid by a proof of two payments. The second payment is C's. */
const inTwo = (first: Row, second: Row): string =>
  [
    `UPDATE payments SET order_id = :b WHERE reference = :c_ref`,
    insert('proofs', { ...ACCEPTED, ...BY_NOBODY }),
    insert('proof_payments', { ...PART, amount: '800000', shown: `'paid'`, shown_amount: '800000', ...first }),
    insert('verifications', { ...ANSWER, balance: '50000', amount: '50000' }),
    insert('proof_payments', {
      ...PART,
      ...SECOND,
      amount: '50000',
      shown: `'paid'`,
      shown_amount: '50000',
      ...second,
    }),
    order(paidBy(':b_ref'), ':b'),
  ].join('; ');
const ANSWER = {
  id: '900000',
  reference: ':c_ref',
  outcome: `'paid'`,
  currency: `'NGN'`,
  http_status: '200',
  digest: `'x'`,
  cause: `'notification'`,
  asked_at: 'now()',
};
const SECOND = { reference: ':c_ref', verification_id: '900000' };

test.each<[promise: number, refusedBy: string, tries: string[]]>([
  [1, 'orders_paid_name_their_payment', [order(UNPAID, ':a'), order(`status = 'failed'`, ':a')]],
  [1, 'orders_paid_name_their_payment', [order(`status = 'paid'`, ':b')]],
  [1, 'orders_paid_by_their_proof', [order(paidBy(':b_ref'), ':b'), order(paidBy(':a_ref'), ':b')]],
  [1, 'proofs_pay_their_order', [order(`${UNPAID}, status = 'pending'`, ':a')]],
  [1, 'proofs_pay_their_order', [order('paid_reference = :b_ref', ':a'), proved({})]],
  [1, 'proofs_pay_their_order', [`${proved({})}; ${order(paidBy(':c_ref'), ':b')}`]],
  [
    1,
    'proofs_have_a_payment',
    [`${insert('proofs', { ...ACCEPTED, amount: '850000' })}; ${order(paidBy(':b_ref'), ':b')}`],
  ],
  [2, 'taken', [`${proved({})}; ${order(paidBy(':b_ref'), ':b')}`, inTwo({}, {})]],
  [2, 'proofs_of_order', proofs({ price: '800000' }, { currency: `'USD'` }, { mode: `'live'` })],
  [2, 'proof_payments_of_payment', parts({ reference: ':c_ref' }, { currency: `'USD'` }, { mode: `'live'` })],
  [2, 'proof_payments_of_proof', parts({ order_id: ':c', reference: ':c_ref' })],
  [2, 'proofs_are_exact_or_accepted', proofs({ accepted_by: 'NULL' }, { accepted_by: `''` })],
  [2, 'proof_payments_are_shown', parts({ shown: `'paid'` }, { shown: `'paid'`, shown_amount: '850000' })],
  [2, 'proof_payments_are_shown', parts({ shown: `'pending'`, shown_amount: '800000' })],
  [2, 'proofs_are_shown_or_accepted', [inTwo({ shown: 'NULL' }, {})]],
  [2, 'proof_payments_show_what_verify_showed', parts({ amount: '7', shown: `'paid'`, shown_amount: '7' })],
  [2, 'proof_payments_show_what_verify_showed', [inTwo({ amount: '7', shown_amount: '7' }, {})]],
  [2, 'proofs_add_up', [inTwo({}, { amount: '49999', shown: 'NULL' })]],
  [2, 'proofs_add_up', [`${proved({ amount: '850000' })}; ${order(paidBy(':b_ref'), ':b')}`]],
  [2, 'proof_payments_of_verification', parts({ verification_id: ':a_answer' })],
  [2, 'proofs_capture_something', proofs({ amount: '0' })],
  [2, 'proof_payments_capture_something', parts({ amount: '0' })],
  [3, 'proofs_pkey', proofs({ order_id: ':a' })],
  [3, 'proof_payments_pkey', parts({ reference: ':a_ref', verification_id: ':a_answer' })],
  [3, 'proof_payments_service_id_key', parts({ service_id: SERVICE_ID })],
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
  [
    7,
    'written once',
    ['verifications', 'proofs', 'proof_payments', 'refunds', 'journal'].map((table) => `DELETE FROM ${table}`),
  ],
  [
    7,
    'written once',
    ['proofs', 'proof_payments', 'refunds', 'journal'].map((table) => `UPDATE ${table} SET amount = 7`),
  ],
  [7, 'written once', answers(`word = 'PAID'`, `body = 'x'`, 'body = NULL, balance = 1')],
  [7, 'taken', [...answers('body = NULL'), 'UPDATE webhooks SET body = NULL, address = NULL']],
])('promise %i, %s: %j', async (_, refusedBy, tries) => {
  for (const one of tries) expect([one, await attempt(one)]).toEqual([one, refusedBy]);
});

const HASH = `sha256(coalesce(before, ''::bytea) || convert_to(jsonb_build_array(id, order_id, reference, what, "by",
  counter, amount, currency, data, extract(epoch FROM at))::text, 'UTF8'))`;
const CHAIN = `SELECT *, lag(hash) OVER chain AS before, row_number() OVER chain AS place FROM journal
  WHERE order_id = :a WINDOW chain AS (ORDER BY id)`;
/** Names the entries that do not follow from the entry before them. */
const TELL = `RAISE EXCEPTION 'broken: %', (SELECT string_agg(place::text, ' ') FROM (${CHAIN}) c WHERE hash IS DISTINCT FROM ${HASH})`;
const third = `id = (SELECT id FROM (${CHAIN}) c WHERE place = 3)`;
const PAST = 'ALTER TABLE journal DISABLE TRIGGER journal_is_written_once';

test.each<[string, string, string]>([
  ['unchanged entries form a whole chain', '<NULL>', TELL],
  ['a changed entry breaks the chain', '3', `UPDATE journal SET data = '{"x": 1}' WHERE ${third}; ${TELL}`],
  ['a deleted entry breaks the chain', '3', `DELETE FROM journal WHERE ${third}; ${TELL}`],
  [
    'a changed entry with a new hash breaks the chain at the next entry',
    '4',
    `UPDATE journal SET what = 'x' WHERE ${third}; UPDATE journal j SET hash = n.hash FROM
     (SELECT id, ${HASH} AS hash FROM (${CHAIN}) c WHERE place = 3) n WHERE j.id = n.id; ${TELL}`,
  ],
])('promise 8: the journal is a chain: %s', async (_, places, sql) => {
  expect(await attempt(`${PAST}; ${sql}`)).toBe(`broken: ${places}`);
});
