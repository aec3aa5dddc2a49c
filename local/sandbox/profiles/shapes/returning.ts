import type { Transaction } from '../../ledger/transaction.ts';

/** The integrator's address with its own query untouched, and something added behind it. */
export function withAdded({ redirectUrl }: Transaction, added: Record<string, string>): string {
  const url = new URL(redirectUrl);
  const text = new URLSearchParams(added).toString();
  if (text !== '') url.search = url.search === '' ? text : `${url.search}&${text}`;
  return url.href;
}

/** Glued on behind a question mark, whether or not there was one already. */
export function withSecondQuestionMark({ redirectUrl }: Transaction, added: Record<string, string>): string {
  return `${redirectUrl}?${new URLSearchParams(added).toString()}`;
}

/** Every parameter twice, as by two layers that each add it. */
export function withDoubled(transaction: Transaction, added: Record<string, string>): string {
  return withAdded({ ...transaction, redirectUrl: withAdded(transaction, added) }, added);
}
