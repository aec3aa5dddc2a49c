import { returnParameters } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';

/**
 * Where the browser goes after the page: the integrator's address with its own query untouched, and the
 * outcome added behind it. Nothing of it is evidence: anybody can type it.
 */
export function returnAddress(transaction: Transaction): string {
  const url = new URL(transaction.redirectUrl);
  const added = new URLSearchParams(returnParameters(transaction)).toString();
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`;
  return url.href;
}
