import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unschedule } from '../support/outside.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { accept, asShop, buy, command, happens, saying, SHOP_TOKEN, stands } from './support.ts';

// An order of NGN 8500.00, other answers of verify about its payment, and the decisions that a
// person can make.

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: SHOP_TOKEN } });
});
afterAll(() => shop.stop());

test.each<[string, object, string, string[]]>([
  ['underpaid', { amount: 8000 }, 'review', ['underpaid 800000 0 NGN']],
  ['overpaid', { amount: 9000 }, 'review', ['overpaid 900000 0 NGN']],
  ['in another unit', { amount: 85 }, 'review', ['unit_error 8500 0 NGN']],
  ['in another currency', { currency: 'USD' }, 'review', ['currency_mismatch 850000 0 USD']],
  ['with the reference of another payment', { reference: 'another' }, 'review', ['unproven 0 0 NGN']],
  ['with success and amount 0', { amount: 0 }, 'review', ['unproven 0 0 NGN']],
  ['almost in full', { amount: 8499.999999999998 }, 'review', ['unproven 0 0 NGN']],
  ['in the other mode', { mode: 'live' }, 'review', ['unproven 0 0 NGN']],
  ['with an unknown status word', { status: 'COLLECTED' }, 'review', ['unknown_status 0 0 NGN']],
  ['and reversed at once', { status: 'REVERSED' }, 'failed', []],
  ['with a doubt', { paid_amount: 8000 }, 'review', ['unproven 850000 0 NGN']],
  ['with fees beside the amount', { fees: 127.5, adjusted_received_amount: 8372.5 }, 'paid', []],
  ['with more decimals', { amount: '8500.000000', currency: 'ngn' }, 'paid', []],
])('paid %s: %j leaves the order %s', async (_, says, status, cases) => {
  const { orderId, reference } = await shop.checkout();
  await shop.sandboxPost(`/transactions/${reference}/record`, says);
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, status, ...cases);
  const proofs = await shop.database.query('SELECT 1 FROM proofs WHERE order_id = $1', [orderId]);
  expect(proofs).toHaveLength(status === 'paid' ? 1 : 0);
});

test.each([
  [
    'held money stays under review when the payment expires',
    'pay 8000, expire',
    'under-review',
    'contradicted 800000 0 NGN',
  ],
  [
    'held money stays under review when the payment fails',
    'pay 8000, fail',
    'under-review',
    'contradicted 800000 0 NGN',
  ],
  ['held money that grows to the price pays', 'pay 8000, record 8500', 'already-paid'],
  ['a failed payment can be paid later', 'fail, pay 8500', 'already-paid'],
])('%s: %s', async (_, acts, problem, ...cases) => {
  const { orderId, reference } = await shop.checkout();
  for (const [act = '', amount] of acts.split(', ').map((one) => one.split(' ')))
    await happens(shop, reference, act, amount === undefined ? {} : { amount });
  await stands(shop, orderId, problem === 'already-paid' ? 'paid' : 'review', ...cases);
  const { status, body } = await shop.request('POST', '/checkout', { json: { orderId } });
  expect([status, body]).toMatchObject([409, { type: `/problems/${problem}` }]);
});

test.each(['cancelled', 'expired'])('money that comes after the order was %s is held', async (status) => {
  const payBy = new Date(Date.now() + 3_600_000).toISOString();
  const lines = [{ description: 'A tote', unitAmount: '8500.00', quantity: 1 }];
  const order = { email: 'ada@example.com', currency: 'NGN', lines, payBy };
  const { orderId } = (await asShop<{ orderId: string }>(shop, '/orders', order)).body;
  const { reference } = await shop.checkout({ orderId, email: undefined, items: undefined });
  if (status === 'cancelled') await asShop(shop, `/orders/${orderId}/cancel`, { reason: 'a test' });
  else await shop.database.query('UPDATE orders SET pay_by = clock_timestamp() WHERE id = $1', [orderId]);
  await stands(shop, orderId, status);
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, status, 'paid_after_end 850000 0 NGN');
});

test.each<[string, string, object, unknown]>([
  ['more money, which is held', 'record', { amount: 8500 }, saying(/^\w+ 50000 0 NGN$/)],
  ['a lower amount, so that money is missing', 'record', { amount: 7000 }, 'contradicted 0 100000 NGN'],
  ['a reversal, so that all is missing', 'reverse', {}, 'reversed 0 800000 NGN'],
])('accepting 8000.00 captures it, and then comes %s', async (_, act, body, left) => {
  const { orderId, reference } = await buy(shop, { amount: 8000 });
  expect(await accept(shop, orderId)).toMatchObject({ exit: 0 });
  await stands(shop, orderId, 'paid');
  const books = `SELECT r.accepted_by, r.amount::int AS proved, l.captured::int, sum(j.amount)::int AS journal
    FROM proofs r JOIN ledgers l USING (reference) JOIN journal j USING (reference)
    WHERE r.order_id = $1 AND j.counter = 'captured' GROUP BY 1, 2, 3`;
  const row = { accepted_by: 'ada', proved: 800_000, captured: 800_000, journal: 800_000 };
  expect(await shop.database.query(books, [orderId])).toEqual([row]);
  await happens(shop, reference, act, body);
  await stands(shop, orderId, 'paid', left);
});

test('money that the adapter doubts is listed, and a person can accept it', async () => {
  const { orderId, reference } = await shop.checkout();
  await shop.sandboxPost(`/transactions/${reference}/record`, { paid_amount: 8000 });
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, 'review', 'unproven 850000 0 NGN');
  const listed = JSON.parse((await command(shop, 'cases', 'list', '--json')).said) as object[];
  const seen = { class: 'unproven', orderId, reference, held: '8500.00', missing: '0.00', currency: 'NGN' };
  expect(listed).toContainEqual(expect.objectContaining(seen));
  expect(await accept(shop, orderId)).toMatchObject({ exit: 0 });
  await stands(shop, orderId, 'paid');
});

test.each([8500, 8000])('a provider transaction that paid one order by %i pays no other', async (amount) => {
  const [first, second] = [await shop.checkout(), await shop.checkout()];
  for (const { reference } of [first, second])
    await shop.sandboxPost(`/transactions/${reference}/record`, { id: `tx-${first.reference}` });
  await happens(shop, first.reference, 'pay', { amount });
  if (amount === 8000) expect(await accept(shop, first.orderId)).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'paid');
  await happens(shop, second.reference, 'pay');
  await stands(shop, second.orderId, 'review', 'unproven 850000 0 NGN');
  // A person cannot accept it either.
  const said = saying(/^\s*case \d+ is not decided: .*\s*$/);
  expect(await accept(shop, second.orderId)).toEqual({ exit: 1, said });
  await stands(shop, second.orderId, 'review', 'unproven 850000 0 NGN');
});

test.each<[string, RegExp, object, object]>([
  ['is in another currency', /another currency/, { currency: 'USD' }, {}],
  ['verify does not show any more', /look at it again|verify/, { amount: 8000 }, { status: 'FAILED' }],
  ['has changed its amount', /look at it again/, { amount: 8000 }, { amount: 8100 }],
])('money that %s cannot be accepted', async (_, why, payment, later) => {
  const { orderId, reference } = await buy(shop, payment);
  await stands(shop, orderId, 'review', saying(/./));
  // From here on, only the command verifies the payment.
  await unschedule(shop, reference);
  await shop.sandboxPost(`/transactions/${reference}/record`, later);
  expect(await accept(shop, orderId)).toEqual({ exit: 1, said: saying(why) });
  await stands(shop, orderId, 'review', saying(/./));
});

type Answer = { orderId: string; reference: string; type?: string };

/** A customer starts to pay 50.00, in a currency of one test. */
async function start(currency: string, payer: string) {
  const lines = [{ description: 'A thing', unitAmount: '50.00', quantity: 1 }];
  const { body } = await asShop<Answer>(shop, '/orders', { email: `${payer}@example.com`, currency, lines });
  return shop.request<Answer>('POST', '/checkout', { json: { orderId: body.orderId } });
}

test.each([
  ['the second customer who pays a hundredth stops the currency', 'GHS', 'ada 0.5, ben 0.5', 409],
  ['different powers of ten stop the currency, too', 'KES', 'ada 5000, ben 500', 409],
  ['one exact payment within a day keeps the currency open', 'EUR', 'ada 50, eve 5, mal 5, joy 5', 201],
  ['one customer with capitals and a tag stops nothing', 'CHF', 'eve 0.5, Eve 5, eve+tag 500', 201],
  ['a single customer stops nothing, however often', 'ZAR', 'eve 0.5, eve 5, eve 500', 201],
])('%s (%s: %s)', async (_, currency, payments, status) => {
  for (const [payer = '', amount] of payments.split(', ').map((one) => one.split(' '))) {
    const { orderId, reference } = (await start(currency, payer)).body;
    await happens(shop, reference, 'pay', { amount });
    if (amount === '50') await stands(shop, orderId, 'paid');
    else await stands(shop, orderId, 'review', `unit_error ${Number(amount) * 100} 0 ${currency}`);
  }
  const after = await start(currency, 'zoe');
  expect([after.status, after.body.type]).toEqual([status, status === 409 ? '/problems/currency-stopped' : undefined]);
  if (status === 201) return;
  // Other currencies stay open, and a person ends the stop.
  expect((await start('GBP', 'zoe')).status).toBe(201);
  expect((await asShop(shop, '/checkouts/resume', { currency })).body).toMatchObject({ wasStopped: true });
  expect((await start(currency, 'zoe')).status).toBe(201);
  // After a person resumed it, the program does not stop it for a day.
  for (const payer of ['eve', 'mal']) {
    const { orderId, reference } = (await start(currency, payer)).body;
    await happens(shop, reference, 'pay', { amount: 5 });
    await stands(shop, orderId, 'review', `unit_error 500 0 ${currency}`);
  }
  expect((await start(currency, 'zoe')).status).toBe(201);
});

test('a cancelled order with exactly its price is paid when it is reopened, and no other case opens', async () => {
  const { orderId, reference } = await shop.checkout();
  expect(await command(shop, 'orders', 'cancel', orderId)).toMatchObject({ exit: 0 });
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, 'cancelled', 'paid_after_end 850000 0 NGN');
  expect(await command(shop, 'orders', 'reopen', orderId)).toMatchObject({ exit: 0 });
  // The command's own change has paid the order.
  const { body } = await shop.request<{ status: string }>('GET', `/orders/${orderId}`);
  expect(body.status).toBe('paid');
  const cases = await shop.database.query('SELECT class FROM cases WHERE order_id = $1', [orderId]);
  expect(cases).toEqual([{ class: 'paid_after_end' }]);
});

test('a reopened order whose payment was charged back meanwhile is not paid', async () => {
  const { orderId, reference } = await shop.checkout();
  expect(await command(shop, 'orders', 'cancel', orderId)).toMatchObject({ exit: 0 });
  await happens(shop, reference, 'pay');
  await stands(shop, orderId, 'cancelled', 'paid_after_end 850000 0 NGN');
  await shop.sandboxPost(`/transactions/${reference}/reverse`, { notify: false });
  expect(await command(shop, 'orders', 'reopen', orderId)).toMatchObject({ exit: 0 });
  await stands(shop, orderId, 'failed');
});
