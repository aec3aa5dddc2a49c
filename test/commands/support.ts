import { eventually } from '../support/eventually.ts';
import type { Checkout, Shop } from '../support/shop.ts';
import type { Ran } from '../support/terminal.ts';

/** What Ada does. */
export const act = (shop: Shop, ...words: string[]): Promise<Ran> => shop.command([...words, '--by', 'Ada']);

/** What a command prints by --json. @throws unless it ends with 0 */
export async function json<Data>(shop: Shop, ...words: string[]): Promise<Data> {
  const { exit, out, err } = await shop.command([...words, '--json']);
  if (exit !== 0) throw new Error(`${words.join(' ')} ended with ${exit}: ${err}`);
  return JSON.parse(out) as Data;
}

export async function statusOf(shop: Shop, orderId: string): Promise<string> {
  return (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;
}

/**
 * A checkout that is paid, and its order is what is waited for.
 * @param more as the sandbox takes it
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
