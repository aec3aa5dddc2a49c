import type { Database } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import { invalidField } from '../platform/problem.ts';
import { findReturnUrl } from './orders.sql.ts';

/** The storefront addresses that shoppers may return to, as configured; the first is the default. */
export type ReturnUrls = readonly URL[];

/**
 * The address of the list that a request names.
 * @returns null: it names none
 * @throws {Problem} 422 when it is not one of them
 */
export function listedReturnUrl(given: string | undefined, listed: ReturnUrls): string | null {
  if (given === undefined) return null;
  const url = URL.canParse(given) ? new URL(given).href : null;
  if (listed.some(({ href }) => href === url)) return url;
  throw invalidField('returnUrl', 'must equal one of the addresses in STOREFRONT_RETURN_URL');
}

/**
 * Where the shopper of an order lands. The stored address is only looked up in the list, never followed:
 * an address that has been taken off the list is no longer redirected to.
 * @returns null: none is configured
 */
export async function returnUrlOf(
  database: Database,
  orderId: OrderId,
  listed: ReturnUrls,
): Promise<URL | null> {
  const [first = null] = listed;
  if (listed.length < 2) return first;
  const chosen = await findReturnUrl(database, orderId);
  return listed.find(({ href }) => href === chosen) ?? first;
}
