import type { Reference } from '../platform/ids.ts';
/** The service's own names and paths, as its reference shows them. Nothing outside this folder knows them. */

export const INITIALIZE_PATH = '/v1/transactions/initialize';
export const HISTORY_PATH = '/v1/transactions/history';

/** @param reference one of ours: by its grammar it needs no escaping and cannot leave the path */
export function verifyPath(reference: Reference): string {
  return `/v1/transactions/verify/${reference}`;
}

/** The body of initialize. `amount` is the decimal text of a JSON number in the unit of the dialect. */
type InitializeMessage = {
  email: string;
  amount: string;
  localCurrency: string;
  reference: Reference;
  redirectUrl: string;
};

/** Writes the exact number that was priced: as a float, 0.1 + 0.2 would be 0.30000000000000004. */
export function initializeBody({ amount, ...texts }: InitializeMessage): string {
  // The reference shows `local`: amount is in localCurrency. Omitted, it may be in the settlement currency.
  const fields = Object.entries({ ...texts, amountCurrency: 'local' });
  const members = fields.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`);
  return `{${members.join(',')},"amount":${amount}}`;
}
