import { expect } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import type { Checkout, Shop } from '../support/shop.ts';

export const SHOP_TOKEN = 'a_token_of_a_shop_for_tests';

/** A call of the shop's own system. */
export const asShop = <Body = unknown>(shop: Shop, path: string, json: object) =>
  shop.request<Body>('POST', path, { headers: { authorization: `Bearer ${SHOP_TOKEN}` }, json });

/** Sends a webhook, and waits until the answer of verify is stored. */
export async function tell(shop: Shop, reference: string): Promise<void> {
  const [clock] = await shop.database.query(`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`);
  await shop.sandboxPost(`/transactions/${reference}/webhook`);
  const asked = 'SELECT 1 FROM payments WHERE reference = $1 AND answered_at >= $2 AND leased_until IS NULL';
  await eventually(async () => (await shop.database.query(asked, [reference, clock?.now])).length > 0);
}

/** Changes a payment at the service (local/sandbox/control.ts), and sends its webhook. */
export async function happens(shop: Shop, reference: string, act: string, body: object = {}): Promise<void> {
  const isQuiet = act === 'record' || act === 'hide';
  await shop.sandboxPost(`/transactions/${reference}/${act}`, isQuiet ? body : { ...body, notify: false });
  await tell(shop, reference);
}

/** A checkout of NGN 8500.00 that is paid. */
export async function buy(shop: Shop, payment: object = {}): Promise<Checkout> {
  const checkout = await shop.checkout();
  await happens(shop, checkout.reference, 'pay', payment);
  return checkout;
}

/**
 * Waits until an order has this status, and exactly these open cases: class, held, missing (minor
 * units), currency.
 */
export async function stands(shop: Shop, orderId: string, status: string, ...cases: unknown[]): Promise<void> {
  const open = `SELECT concat_ws(' ', class, held, missing, currency) AS text FROM cases
    WHERE order_id = $1 AND closed_at IS NULL ORDER BY id`;
  await eventually(async () => {
    const { body } = await shop.request<{ status: string }>('GET', `/orders/${orderId}`);
    const rows = await shop.database.query(open, [orderId]);
    expect([body.status, ...rows.map(({ text }) => text)]).toEqual([status, ...cases]);
  });
}

export const saying = (text: RegExp): unknown => expect.stringMatching(text);

/** A command that Ada runs. @returns its exit code and its output */
export async function command(shop: Shop, ...words: string[]): Promise<{ exit: number | string; said: string }> {
  const { exit, out, err } = await shop.command(
    words[1] === 'list' ? words : [...words, '--note', 'a test', '--by', 'ada'],
  );
  return { exit, said: out + err };
}

/** Ada accepts the open case of an order. */
export async function accept(shop: Shop, orderId: string): ReturnType<typeof command> {
  const [open] = await shop.database.query('SELECT id FROM cases WHERE order_id = $1 AND closed_at IS NULL', [orderId]);
  return command(shop, 'cases', 'decide', String(open?.id), '--as', 'accept');
}
