import type { Change, State, Transaction } from './ledger/transaction.ts';
import type { Money } from './money.ts';

/**
 * The service's reference shows three calls, six fields, one header, one answer field and one refusal.
 * Everything else the stand-in does is an assumption. How answers, lists and webhooks are spelt differs from service
 * to service and stands in profiles/, one file each; what all profiles share stands here.
 *
 * Shown by the reference, hence nowhere here: the three paths and methods, `x-api-key`, 401 without a valid
 * key, the prefixes `sk_test_` and `sk_live_`, the six request fields.
 */

/** How a request is refused before any profile has a say. Shows: the status line. */
export const REFUSALS = {
  /** A field is missing or has the wrong type. */
  malformed: 400,
  /** Well-formed, but against a rule: an amount below the minimum, a currency that does not exist. */
  ruleBroken: 422,
} as const;

/**
 * All six fields are required, unknown ones are ignored, and the body must call itself JSON.
 * Shows: initialize, 400.
 */
export const REQUIRED_FIELDS = [
  'email',
  'amount',
  'localCurrency',
  'amountCurrency',
  'reference',
  'redirectUrl',
] as const;

/** Largest request body. Shows: initialize, 413. */
export const BODY_LIMIT = '16kb';

/** Longest e-mail address, in characters (RFC 5321 allows no more). Shows: initialize, 400. */
export const EMAIL_MAX_LENGTH = 254;

/** The one value of `amountCurrency` that the reference names; any other is refused. Shows: initialize, 422. */
export const AMOUNT_CURRENCY = 'local';

/**
 * `amount` is a JSON number in the profile's unit, without an exponent, and with no more decimals than its
 * currency has (ISO 4217: NGN 2, XOF 0, KWD 3; none in minor units). Shows: initialize, 400 and 422.
 */
export const AMOUNT_PATTERN = /^(0|[1-9]\d{0,14})(\.\d+)?$/;

/** Smallest amount, in major units of any currency. Shows: initialize, 422. */
export const MINIMUM_MAJOR_UNITS = 1n;

/** What a reference may look like. Shows: initialize, 400. */
export const REFERENCE_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Longest address the shopper can be sent back to, in characters. It must be absolute, `http` or `https`,
 * and hold neither blanks nor a user name. Shows: initialize, 400.
 */
export const REDIRECT_URL_MAX_LENGTH = 2_048;

/**
 * What may become of a transaction. A failed one may be paid late, a paid one may be paid again or go back.
 * Nothing expires by itself, and leaving the checkout page decides nothing. Shows: verify, the control routes.
 */
export const POSSIBLE_CHANGES: Record<State, readonly Change[]> = {
  pending: ['paid', 'failed', 'in-review', 'abandoned', 'cancelled', 'expired'],
  'in-review': ['paid', 'failed'],
  abandoned: ['paid', 'failed', 'in-review', 'cancelled', 'expired'],
  paid: ['paid', 'reversed'],
  failed: ['paid'],
  cancelled: ['paid'],
  expired: ['paid'],
  reversed: [],
};

/**
 * One reference is one record, however often it was paid: its amount is the sum of all payments taken, and
 * what was asked for while there is none. A record has one currency, that of its first payment; the ledger takes no
 * second one, and if a record has it all the same, it is not added: naira and francs have no sum.
 * Shows: amount and currency in verify, history and webhooks.
 */
export function amountOnRecord({ asked, payments }: Pick<Transaction, 'asked' | 'payments'>): Money {
  const [first] = payments;
  if (first === undefined) return asked;
  const { currency } = first.money;
  const minor = payments
    .filter(({ money }) => money.currency === currency)
    .reduce((sum, { money }) => sum + money.minor, 0n);
  return { minor, currency };
}

/** What was given back so far, in the currency of the record. */
export function amountRefunded(transaction: Pick<Transaction, 'asked' | 'payments' | 'refunds'>): Money {
  const { currency } = amountOnRecord(transaction);
  return { minor: transaction.refunds.reduce((sum, { money }) => sum + money.minor, 0n), currency };
}

/**
 * What was not taken, and silence, are tried again after these pauses, the last one repeating. Far shorter than a
 * real service's, so that a person need not wait.
 */
export const WEBHOOK_PAUSES_MS = [1_000, 3_000, 10_000, 30_000, 60_000] as const;

/** After about an hour of trying a delivery is given up, as every service does at some time (unless its profile says otherwise). */
export const WEBHOOK_MAX_ATTEMPTS = 64;

/** How long the receiver may take to answer, in milliseconds. */
export const WEBHOOK_TIMEOUT_MS = 5_000;
