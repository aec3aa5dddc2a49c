import { eventually } from '../support/eventually.ts';
import { startProcess } from '../support/process.ts';
import { TEST_KEY, WEBHOOK_SECRET, type Checkout, type Shop } from '../support/shop.ts';

export type Ran = { exit: number | string; out: string; err: string };

/** Runs a command in a process of its own, as users do. @param env over that of a shop; without one: all of it */
export async function run(shop: Shop | null, words: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const keys = { GATEWAY_SECRET_KEY: TEST_KEY, WEBHOOK_SECRETS: WEBHOOK_SECRET };
  const places = shop && {
    PUBLIC_URL: shop.url,
    DATABASE_URL: shop.database.url,
    GATEWAY_URL: shop.sandbox?.url ?? '',
  };
  const process = startProcess('src/cli.ts', { ...(places && { ...keys, ...places }), ...env }, words);
  const exit = await process.end();
  const out = process
    .lines()
    .map((line) => line.msg ?? JSON.stringify(line))
    .join('\n');
  return { exit, out, err: process.stderr() };
}

/** What Ada does. */
export const act = (shop: Shop, ...words: string[]): Promise<Ran> => run(shop, [...words, '--by', 'Ada']);

/** What a command prints by --json. @throws unless it ends with 0 */
export async function json<Data>(shop: Shop, ...words: string[]): Promise<Data> {
  const { exit, out, err } = await run(shop, [...words, '--json']);
  if (exit !== 0) throw new Error(`${words.join(' ')} ended with ${exit}: ${err}`);
  return JSON.parse(out) as Data;
}

export async function statusOf(shop: Shop, orderId: string): Promise<string> {
  return (await shop.request<{ status: string }>('GET', `/orders/${orderId}`)).body.status;
}

/** A checkout that is paid, and its order is what is waited for. @param more as the sandbox takes it */
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
