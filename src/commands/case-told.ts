import { DECISIONS } from '../cases/decision.ts';
import type { AcceptOutcome } from '../payments/accept.ts';

/** What the commands say of cases. */
export const SURPLUS_NOTED =
  'Noted. When the service shows exactly what was asked for, the order is paid by itself and the item closes.';

export const NOT_RESOLVED =
  'There is no such open item, or its surplus was refunded before: then accept or refund the rest; a surplus alone is ' +
  'refunded under the number that was noted.';

/** @param item the money in suspense that the finding is about */
export const decideFirst = (item: bigint): string =>
  'Its money is in suspense, and the decision about that closes the finding too. ' +
  `Type: npm run suspense -- resolve ${item} --decision ${Object.keys(DECISIONS).join('|')} --note "why" --by "your name"`;

export const ACCEPT_TOLD: Record<AcceptOutcome, string> = {
  accepted: 'Accepted: the order is paid.',
  gone: 'There is no such open item.',
  'not-this': 'Only too little or too much that came for an unpaid order, and nothing else, can be accepted.',
  changed: 'Nothing was accepted: the service shows something else now. Look again.',
  unanswered: 'Nothing was accepted: the service could not be asked. Try again.',
};
