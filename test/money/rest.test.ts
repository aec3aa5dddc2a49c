import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';
import { befall, callsOf, healService } from '../support/failures.ts';
import { asShop, buy, command, happens, saying, SHOP_TOKEN, stands, tell } from './support.ts';

// An order of NGN 8500.00. The customer paid 5000.00 and is asked to pay the rest, 3500.00.

const FULFILMENT_EVENTS = 'order.paid,order.part_paid,order.reversed';

let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  shop = await startShop({ env: { ...receiver.env, SHOP_API_TOKEN: SHOP_TOKEN, FULFILMENT_EVENTS } });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

/** Ada decides the newest case of a payment. @param words after `--as` */
async function decide({ reference }: Checkout, ...words: string[]) {
  const [row] = await shop.database.query('SELECT max(id) AS id FROM cases WHERE reference = $1', [reference]);
  // FULFILMENT_EVENTS must be set in the process that makes the change, because it writes the
  // messages.
  const all = ['cases', 'decide', String(row?.id), '--as', ...words, '--note', 'a test', '--by', 'ada'];
  const { exit, out, err } = await shop.command(all, { FULFILMENT_EVENTS });
  return { exit, said: out + err };
}

/** 5000.00 came, and Ada asked for the rest. */
async function askedForRest(amount = 5000): Promise<Checkout> {
  const first = await buy(shop, { amount });
  await stands(shop, first.orderId, 'review', `underpaid ${amount * 100} 0 NGN`);
  expect(await decide(first, 'ask-rest')).toMatchObject({ exit: 0 });
  return first;
}

const next = ({ orderId }: Checkout) => shop.request<Checkout>('POST', '/checkout', { json: { orderId } });
/** The page can still be paid, but is not handed out again. */
const letPageExpire = ({ reference }: Checkout) => {
  const older = `UPDATE payments SET opened_at = opened_at - interval '2 days' WHERE reference = $1`;
  return shop.database.query(older, [reference]);
};
const view = async ({ orderId }: Checkout) => {
  const { body } = await shop.request<Record<string, string>>('GET', `/orders/${orderId}`);
  return [body.status, body.held, body.due];
};
/** The payments that paid the order, oldest first, with the captured amount of each. */
const proofOf = ({ orderId }: Checkout) =>
  shop.database.query(
    `SELECT reference, p.amount::int, l.captured::int, p.shown_amount::int FROM proof_payments p
     JOIN payments USING (reference) JOIN ledgers l USING (reference) WHERE p.order_id = $1 ORDER BY created_at`,
    [orderId],
  );
const captured = ({ reference }: Checkout, amount: number) => {
  return { reference, amount, captured: amount, shown_amount: amount };
};
const told = ({ orderId }: Checkout, type: string) =>
  eventually(() => receiver.messages.find((one) => one.type === type && one.data.orderId === orderId) ?? null);

test('the rest is paid exactly: both payments pay the order together', async () => {
  const first = await askedForRest();
  await stands(shop, first.orderId, 'pending');
  expect(await view(first)).toEqual(['pending', '5000.00', '3500.00']);
  expect((await told(first, 'order.part_paid')).data).toMatchObject({ amount: '8500.00', due: '3500.00' });
  const { status, body: rest } = await next(first);
  expect([status, rest.amount]).toEqual([201, '3500.00']);
  // The same page again, and no new payment.
  expect((await next(first)).body.reference).toBe(rest.reference);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  expect(await view(first)).toEqual(['paid', '0.00', '0.00']);
  expect(await proofOf(first)).toEqual([captured(first, 500_000), captured(rest, 350_000)]);
  expect((await told(first, 'order.paid')).data).not.toHaveProperty('due');
  const [books] = await shop.database.query(
    `SELECT sum(amount)::int AS captured FROM journal WHERE order_id = $1 AND counter = 'captured'`,
    [first.orderId],
  );
  expect(books).toEqual({ captured: 850_000 });
});

test('the rest is paid twice: the second payment of the rest is held as a duplicate', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  // The page is too old, so the customer gets another one.
  await letPageExpire(rest);
  const { body: again } = await next(first);
  expect(again.reference).not.toBe(rest.reference);
  await happens(shop, rest.reference, 'pay');
  await happens(shop, again.reference, 'pay');
  await stands(shop, first.orderId, 'paid', 'duplicate_payment 350000 0 NGN');
});

test('too much is paid for the rest: the surplus is refunded, and both payments pay the order', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay', { amount: 4000 });
  await stands(shop, first.orderId, 'review', 'overpaid 400000 0 NGN');
  expect(await next(first)).toMatchObject({ status: 409, body: { type: '/problems/under-review' } });
  expect(await decide(rest, 'refund', '--number', 'R-1')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'paid');
  const last = { ...captured(rest, 350_000), shown_amount: null };
  expect(await proofOf(first)).toEqual([captured(first, 500_000), last]);
});

test('too little is paid of the rest: a person asks again, and three payments pay the order', async () => {
  const first = await askedForRest();
  const { body: second } = await next(first);
  await happens(shop, second.reference, 'pay', { amount: 3000 });
  await stands(shop, first.orderId, 'review', 'underpaid 300000 0 NGN');
  expect(await decide(second, 'ask-rest')).toMatchObject({ exit: 0 });
  expect(await view(first)).toEqual(['pending', '8000.00', '500.00']);
  const { body: third } = await next(first);
  await happens(shop, third.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  expect(await proofOf(first)).toEqual([captured(first, 500_000), captured(second, 300_000), captured(third, 50_000)]);
});

test('the whole price is paid on a page that was still open: it pays alone, and the first part is held', async () => {
  const first = await shop.checkout();
  await letPageExpire(first);
  const { body: whole } = await next(first);
  expect(whole).toMatchObject({ amount: '8500.00' });
  await happens(shop, first.reference, 'pay', { amount: 5000 });
  await stands(shop, first.orderId, 'review', 'underpaid 500000 0 NGN');
  expect(await decide(first, 'ask-rest')).toMatchObject({ exit: 0 });
  await happens(shop, whole.reference, 'pay');
  await stands(shop, first.orderId, 'paid', 'duplicate_payment 500000 0 NGN');
  expect(await proofOf(first)).toEqual([captured(whole, 850_000)]);
});

test('the rest is never paid: the order ends at its deadline, and the case opens again', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  const days = `SELECT pay_by > now() + interval '1 day' AS later FROM orders WHERE id = $1`;
  expect(await shop.database.query(days, [first.orderId])).toEqual([{ later: true }]);
  await shop.database.query('UPDATE orders SET pay_by = clock_timestamp() WHERE id = $1', [first.orderId]);
  await stands(shop, first.orderId, 'expired', 'paid_after_end 500000 0 NGN');
  expect(await view(first)).toEqual(['expired', '5000.00', '0.00']);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'expired', 'paid_after_end 500000 0 NGN', 'paid_after_end 350000 0 NGN');
});

test('the order is cancelled before the rest is paid: the case opens again, and later money is held', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  expect(await asShop(shop, `/orders/${first.orderId}/cancel`, { reason: 'no longer wanted' })).toMatchObject({
    status: 200,
  });
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'cancelled', 'paid_after_end 500000 0 NGN', 'paid_after_end 350000 0 NGN');
});

test('the first part is charged back before the rest is paid: the rest alone is too little', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, first.reference, 'reverse');
  await stands(shop, first.orderId, 'pending');
  expect(await view(first)).toEqual(['pending', '0.00', '8500.00']);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'review', 'underpaid 350000 0 NGN');
  // The amount of the page for the rest cannot be used for the price.
  expect(await decide(rest, 'ask-rest')).toMatchObject({ exit: 0 });
  expect((await next(first)).body).toMatchObject({ amount: '5000.00' });
});

test('a chargeback of the first part is found when the customer starts to pay the rest', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await shop.database.query(`UPDATE payments SET answered_at = now() - interval '1 hour' WHERE reference = $1`, [
    first.reference,
  ]);
  await shop.sandboxPost(`/transactions/${first.reference}/reverse`, { notify: false });
  const { body: whole } = await next(first);
  expect(whole).toMatchObject({ amount: '8500.00' });
  // The page for the rest asks for 3500.00, so it is not handed out again.
  expect(whole.reference).not.toBe(rest.reference);
  expect(whole.checkoutUrl).not.toBe(rest.checkoutUrl);
});

test('the first part is charged back after the rest was paid: its money is missing', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  await happens(shop, first.reference, 'reverse');
  await stands(shop, first.orderId, 'paid', 'reversed 0 500000 NGN');
  await told(first, 'order.reversed');
});

test('order.paid waits while the money of any contributing payment is missing', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  receiver.answer(({ data }) => (data.orderId === first.orderId ? 500 : 204));
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  await happens(shop, first.reference, 'reverse');
  await stands(shop, first.orderId, 'paid', 'reversed 0 500000 NGN');
  const held = `SELECT held_by FROM messages WHERE order_id = $1 AND type = 'order.paid'`;
  expect(await shop.database.query(held, [first.orderId])).toEqual([{ held_by: 'missing money' }]);
  receiver.answer(204);
});

test('a part payment that grew beyond the amount due has its own case, and only that case can be decided', async () => {
  const first = await askedForRest();
  const { body: second } = await next(first);
  await happens(shop, second.reference, 'pay', { amount: 3000 });
  await stands(shop, first.orderId, 'review', 'underpaid 300000 0 NGN');
  expect(await decide(second, 'ask-rest')).toMatchObject({ exit: 0 });
  const [asked] = await shop.database.query('SELECT id FROM cases WHERE reference = $1', [first.reference]);
  await happens(shop, first.reference, 'record', { amount: 6000 });
  await stands(shop, first.orderId, 'review', 'overpaid 600000 0 NGN', 'overpaid 300000 0 NGN');
  const older = await command(shop, 'cases', 'decide', String(asked?.id), '--as', 'refund');
  expect(older).toEqual({ exit: 1, said: saying(/look at it again/) });
  expect(await decide(first, 'refund', '--number', 'R-1')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'paid');
  expect(await proofOf(first)).toMatchObject([{ captured: 550_000 }, { captured: 300_000 }]);
});

test.each(['refund', 'keep', 'accept'])(
  'until the rest is paid, a person can %s the first part instead',
  async (as) => {
    const first = await askedForRest();
    await next(first);
    expect(await decide(first, as)).toMatchObject({ exit: 0 });
    await stands(shop, first.orderId, as === 'accept' ? 'paid' : 'cancelled');
    // Only once.
    expect(await decide(first, as)).toEqual({ exit: 1, said: saying(/look at it again/) });
  },
);

test('a part payment that becomes unreadable is a case again, and pays nothing', async () => {
  const first = await askedForRest();
  const body = { status: true, data: 'nonsense' };
  await befall(shop, 'verify', 'body', { reference: first.reference, body, times: 0 });
  await shop.sandboxPost(`/transactions/${first.reference}/webhook`);
  await stands(shop, first.orderId, 'review', 'underpaid 500000 0 NGN');
  expect(await next(first)).toMatchObject({ status: 409, body: { type: '/problems/under-review' } });
  await healService(shop);
  await tell(shop, first.reference);
  await stands(shop, first.orderId, 'pending');
});

test('a person cannot ask for the rest while the answers of verify are unreadable', async () => {
  const first = await buy(shop, { amount: 5000 });
  await stands(shop, first.orderId, 'review', 'underpaid 500000 0 NGN');
  const body = { status: true, data: 'nonsense' };
  await befall(shop, 'verify', 'body', { reference: first.reference, body, times: 0 });
  await tell(shop, first.reference);
  const said = saying(/newest answer must be readable/);
  expect(await decide(first, 'ask-rest')).toEqual({ exit: 1, said });
  await healService(shop);
  await tell(shop, first.reference);
  expect(await decide(first, 'ask-rest')).toMatchObject({ exit: 0 });
});

test('the id of the part payment does not pay the rest, and another page for the rest can be paid', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  const [paid] = await shop.database.query('SELECT max(service_id) AS id FROM verifications WHERE reference = $1', [
    first.reference,
  ]);
  await shop.sandboxPost(`/transactions/${rest.reference}/record`, { id: paid?.id });
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'review', 'unproven 350000 0 NGN');
  const said = saying(/that of another payment of this order/);
  expect(await decide(rest, 'accept')).toEqual({ exit: 1, said });
  expect(await decide(rest, 'refund')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'pending');
  const { body: other } = await next(first);
  await happens(shop, other.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
});

/** Two payments of one order, 5000 and 3500, are held. Together they are its price. */
async function paidInTwoParts(): Promise<{ first: Checkout; second: Checkout }> {
  const first = await shop.checkout();
  await letPageExpire(first);
  const { body: second } = await next(first);
  await happens(shop, first.reference, 'pay', { amount: 5000 });
  await happens(shop, second.reference, 'pay', { amount: 3500 });
  await stands(shop, first.orderId, 'review', 'underpaid 500000 0 NGN', 'underpaid 350000 0 NGN');
  return { first, second };
}

test('held money that is exactly the rest pays the order once a person asks for the rest', async () => {
  const { first } = await paidInTwoParts();
  expect(await decide(first, 'ask-rest')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'paid');
});

test('a part payment whose verifications have ended is verified again after it paid', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  const old = `UPDATE payments SET created_at = created_at - interval '200 days', next_check_at = NULL WHERE reference = $1`;
  await shop.database.query(old, [first.reference]);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  const due = `SELECT count(*)::int AS due FROM payments WHERE order_id = $1 AND next_check_at > now() + interval '20 h'`;
  expect(await shop.database.query(due, [first.orderId])).toEqual([{ due: 2 }]);
});

/** A chargeback without a webhook, when the next verification is hours away. */
async function chargeBackInSilence({ reference, orderId }: Checkout): Promise<void> {
  const later = `UPDATE payments SET next_check_at = now() + interval '20 hours', notified_at = NULL WHERE order_id = $1`;
  await shop.database.query(later, [orderId]);
  await shop.sandboxPost(`/transactions/${reference}/reverse`, { notify: false });
}

test('a chargeback of the first part without a webhook is found when the rest is paid', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await chargeBackInSilence(first);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'review', 'underpaid 350000 0 NGN');
});

test('a chargeback of the first part without a webhook is found when a person decides about the rest', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay', { amount: 4000 });
  await stands(shop, first.orderId, 'review', 'overpaid 400000 0 NGN');
  await chargeBackInSilence(first);
  const said = saying(/has changed since you looked at it/);
  expect(await decide(rest, 'refund', '--number', 'R-1')).toEqual({ exit: 1, said });
  await stands(shop, first.orderId, 'review', 'underpaid 400000 0 NGN');
});

test('the first part is verified, too, when more than the whole price comes for the rest', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay', { amount: 9000 });
  await stands(shop, first.orderId, 'review', 'overpaid 900000 0 NGN');
  await chargeBackInSilence(first);
  const said = saying(/has changed since you looked at it/);
  expect(await decide(rest, 'refund', '--number', 'R-1')).toEqual({ exit: 1, said });
  await stands(shop, first.orderId, 'review', 'overpaid 900000 0 NGN');
});

test('the other parts are verified, too, when a person accepts one part as enough', async () => {
  const first = await askedForRest();
  const { body: second } = await next(first);
  await happens(shop, second.reference, 'pay', { amount: 3000 });
  await stands(shop, first.orderId, 'review', 'underpaid 300000 0 NGN');
  expect(await decide(second, 'ask-rest')).toMatchObject({ exit: 0 });
  await chargeBackInSilence(second);
  await decide(first, 'accept');
  const captured = 'SELECT captured::int FROM ledgers WHERE reference = $1';
  expect(await shop.database.query(captured, [second.reference])).toEqual([{ captured: 0 }]);
});

test('money that the newest answer calls failed cannot be accepted', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay', { amount: 3000 });
  await stands(shop, first.orderId, 'review', 'underpaid 300000 0 NGN');
  const failed = {
    id: `C-2-${rest.reference}`,
    reference: rest.reference,
    status: 'FAILED',
    amount: 3000,
    currency: 'NGN',
  };
  await befall(shop, 'verify', 'body', { reference: rest.reference, body: { status: true, data: failed }, times: 0 });
  await tell(shop, rest.reference);
  await stands(shop, first.orderId, 'review', 'contradicted 300000 0 NGN');
  expect(await decide(rest, 'accept')).toEqual({ exit: 1, said: saying(/verify does not show all of it/) });
  await healService(shop);
});

test('a part payment that could not be read for a while has its form on the page of its order again', async () => {
  const first = await askedForRest();
  await befall(shop, 'verify', 'body', { reference: first.reference, body: 'nonsense', times: 0 });
  await tell(shop, first.reference);
  await stands(shop, first.orderId, 'review', 'underpaid 500000 0 NGN');
  await healService(shop);
  await tell(shop, first.reference);
  await stands(shop, first.orderId, 'pending');
  const { body: page } = await shop.request<string>('GET', `/admin/orders/${first.orderId}`);
  expect(page).toMatch(/We asked the customer to pay the rest, NGN 3,500.00[^]*If nobody pays the rest: decide about/);
});

test('a person who asks for the rest while the rest is being verified pays nothing with a stale part', async () => {
  const { first, second } = await paidInTwoParts();
  await chargeBackInSilence(first);
  const old = `UPDATE payments SET answered_at = answered_at - interval '2 minutes' WHERE order_id = $1`;
  await shop.database.query(old, [first.orderId]);
  const before = (await callsOf(shop, 'verify', second.reference)).length;
  const paid = {
    id: `C-${second.reference}`,
    reference: second.reference,
    status: 'SUCCESS',
    amount: 3500,
    currency: 'NGN',
  };
  const slow = { body: { status: true, data: paid }, delayMs: 3_000 };
  await befall(shop, 'verify', 'body', { reference: second.reference, ...slow });
  await shop.sandboxPost(`/transactions/${second.reference}/webhook`);
  await eventually(async () => (await callsOf(shop, 'verify', second.reference)).length > before);
  expect(await decide(first, 'ask-rest')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'review', 'underpaid 350000 0 NGN');
  expect(await proofOf(first)).toEqual([]);
});

test.each([
  ['hangs', 0],
  ['is done by another process at first, and then hangs', 4],
])('a shopper who returns does not wait for a part payment whose verification %s', async (_how, leasedSec) => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await befall(shop, 'verify', 'hang', { reference: first.reference, times: 0 });
  await shop.sandboxPost(`/transactions/${rest.reference}/pay`, { webhook: 'lost' });
  await shop.database.query(
    `UPDATE payments SET leased_until = clock_timestamp() + $2 * interval '1 second' WHERE reference = $1`,
    [first.reference, leasedSec],
  );
  const beganMs = performance.now();
  expect((await shop.request('GET', `/checkout/return/${rest.reference}`)).status).toBe(303);
  expect(performance.now() - beganMs).toBeLessThan(9_000);
  await healService(shop);
});

test('the rest pays nothing while the first part cannot be verified', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await befall(shop, 'verify', 'status', { reference: first.reference, status: 503, times: 0 });
  await shop.sandboxPost(`/transactions/${rest.reference}/pay`, {});
  const tried = `SELECT count(*)::int AS tried FROM payments WHERE reference = $1 AND failures > 0`;
  await eventually(async () => {
    expect(await shop.database.query(tried, [rest.reference])).toEqual([{ tried: 1 }]);
  });
  await stands(shop, first.orderId, 'pending');
  await healService(shop);
  await tell(shop, rest.reference);
  await stands(shop, first.orderId, 'paid');
});

test('a transaction of the first part that has paid another order pays nothing here', async () => {
  const first = await askedForRest();
  const [said] = await shop.database.query('SELECT max(service_id) AS id FROM verifications WHERE reference = $1', [
    first.reference,
  ]);
  const { body: rest } = await next(first);
  const other = await shop.checkout();
  await shop.sandboxPost(`/transactions/${other.reference}/record`, { id: said?.id });
  await happens(shop, other.reference, 'pay');
  await stands(shop, other.orderId, 'paid');
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'review', 'unproven 500000 0 NGN', 'underpaid 350000 0 NGN');
});

test('the rest that is paid as another charge under the first reference can be accepted', async () => {
  const first = await askedForRest();
  await happens(shop, first.reference, 'record', { id: `C-2-${first.reference}`, amount: 3500 });
  await stands(shop, first.orderId, 'review', 'contradicted 850000 0 NGN');
  expect(await decide(first, 'accept')).toMatchObject({ exit: 0 });
  await stands(shop, first.orderId, 'paid');
});

test('the case shows the surplus without the part payment’s own share, and the message shows the amount due', async () => {
  const first = await askedForRest();
  const { body: second } = await next(first);
  await happens(shop, second.reference, 'pay', { amount: 3000 });
  await stands(shop, first.orderId, 'review', 'underpaid 300000 0 NGN');
  expect(await decide(second, 'ask-rest')).toMatchObject({ exit: 0 });
  await happens(shop, first.reference, 'record', { amount: 6000 });
  await stands(shop, first.orderId, 'review', 'overpaid 600000 0 NGN', 'overpaid 300000 0 NGN');
  const { out } = await shop.command(['cases', 'list']);
  expect(out).toMatch(/NGN 6,000.00 came .*: NGN 500.00 too much/);
  const parts = receiver.messages.filter((one) => one.type === 'order.part_paid' && one.data.orderId === first.orderId);
  expect(parts.map(({ data }) => data.due)).toEqual(['3500.00', '500.00', '0.00']);
});

test('a surplus that changed after a person saw it is not refunded', async () => {
  const first = await askedForRest();
  const { body: second } = await next(first);
  await letPageExpire(second);
  const { body: third } = await next(first);
  await happens(shop, second.reference, 'pay', { amount: 4000 });
  await happens(shop, third.reference, 'pay', { amount: 2000 });
  await stands(shop, first.orderId, 'review', 'overpaid 400000 0 NGN', 'underpaid 200000 0 NGN');
  const [row] = await shop.database.query('SELECT max(id) AS id FROM cases WHERE reference = $1', [second.reference]);
  const { out } = await shop.command(['cases', 'show', String(row?.id), '--json']);
  const { seen } = JSON.parse(out) as { seen: string };
  expect(await decide(third, 'ask-rest')).toMatchObject({ exit: 0 });
  const said = saying(/has changed since you looked at it/);
  expect(await decide(second, 'refund', '--number', 'S-1', '--seen', seen)).toEqual({ exit: 1, said });
});

test('an order still waits for the rest after the page for it failed', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'fail');
  const failed = `SELECT count(*)::int AS failed FROM payments WHERE reference = $1 AND status = 'failed'`;
  await eventually(async () => {
    expect(await shop.database.query(failed, [rest.reference])).toEqual([{ failed: 1 }]);
  });
  await stands(shop, first.orderId, 'pending');
});

test('refunds never exceed the money that the customer has not got back, with one payment and with two', async () => {
  const refund = ({ orderId }: Checkout, externalId: string, elsewhere: boolean) =>
    asShop(shop, `/orders/${orderId}/refunds`, { amount: '3500.00', reason: 'a test', externalId, elsewhere });
  const one = await buy(shop);
  await stands(shop, one.orderId, 'paid');
  await happens(shop, one.reference, 'record', { amount_refunded: 5000 });
  await stands(shop, one.orderId, 'paid', 'reversed 0 500000 NGN');
  const two = await askedForRest();
  const { body: rest } = await next(two);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, two.orderId, 'paid');
  await happens(shop, two.reference, 'reverse');
  await stands(shop, two.orderId, 'paid', 'reversed 0 500000 NGN');
  for (const order of [one, two]) {
    expect(await refund(order, 'E-1', true)).toMatchObject({ status: 201 });
    expect(await decide(order, 'write-off')).toMatchObject({ exit: 0 });
    expect(await refund(order, 'E-2', false)).toMatchObject({ status: 409 });
  }
});

test('a refund of an order that two payments paid is divided, first by the outflow that a source reports', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  const refund = (amount: string, externalId: string) =>
    asShop(shop, `/orders/${first.orderId}/refunds`, { amount, reason: 'a test', externalId });
  expect(await refund('8500.01', 'R-0')).toMatchObject({ status: 409 });
  expect(await refund('500.00', 'R-1')).toMatchObject({ status: 201 });
  await happens(shop, first.reference, 'record', { amount_refunded: 4000 });
  await stands(shop, first.orderId, 'paid', 'reversed 0 400000 NGN');
  expect(await refund('4500.00', 'R-2')).toMatchObject({ status: 201 });
  await stands(shop, first.orderId, 'paid');
  const books = 'SELECT refunded::int FROM ledgers WHERE reference = ANY($1) ORDER BY refunded';
  const rows = await shop.database.query(books, [[first.reference, rest.reference]]);
  expect(rows).toEqual([{ refunded: 100_000 }, { refunded: 400_000 }]);
});

test('a refund of exactly the captured amount of one payment is a refund of that payment', async () => {
  const first = await askedForRest();
  const { body: rest } = await next(first);
  await happens(shop, rest.reference, 'pay');
  await stands(shop, first.orderId, 'paid');
  const refund = { amount: '5000.00', reason: 'a test', externalId: 'R-1' };
  expect(await asShop(shop, `/orders/${first.orderId}/refunds`, refund)).toMatchObject({ status: 201 });
  await happens(shop, first.reference, 'record', { amount_refunded: 5000 });
  await stands(shop, first.orderId, 'paid');
});

test('a person cannot ask for the rest of an overpaid order', async () => {
  const { orderId, reference, ...more } = await buy(shop, { amount: 9000 });
  await stands(shop, orderId, 'review', 'overpaid 900000 0 NGN');
  const said = saying(/only the rest of an underpaid order is asked for/);
  expect(await decide({ orderId, reference, ...more }, 'ask-rest')).toEqual({ exit: 1, said });
});
