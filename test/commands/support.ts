import { eventually } from '../support/eventually.ts';
import type { Checkout, Shop } from '../support/shop.ts';
import type { Ran } from '../support/terminal.ts';

/** A command that Ada runs. */
export const act = (shop: Shop, ...words: string[]): Promise<Ran> => shop.command([...words, '--by', 'Ada']);

/** The JSON output of a command. @throws unless it exits with 0 */
export async function json<Data>(shop: Shop, ...words: string[]): Promise<Data> {
  const { exit, out, err } = await shop.command([...words, '--json']);
  if (exit !== 0) throw new Error(`${words.join(' ')} ended with ${exit}: ${err}`);
  return JSON.parse(out) as Data;
}

export async function statusOf(shop: Shop, orderId: string): Promise<string> {
  return (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;
}

/**
 * Pays a checkout, and waits until its order is paid.
 * @param more fields of the sandbox's payment
 */
export async function buy(
  shop: Shop,
  input: Record<string, unknown> = {},
  more: object = {},
  status = 'paid',
): Promise<Checkout> {
  const checkout = await shop.checkout(input);
  await shop.sandboxPost(`/transactions/${checkout.reference}/pay`, more);
  await eventually(async () => (await statusOf(shop, checkout.orderId)) === status);
  return checkout;
}
