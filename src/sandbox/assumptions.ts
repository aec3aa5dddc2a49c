import { LosslessNumber } from 'lossless-json';

import type { Change, Notice, State, Transaction } from './ledger/transaction.ts';
import { formatAmount, type Money } from './money.ts';

/**
 * The service's reference shows three calls, six fields, one header, one answer field and one refusal.
 * Everything else the stand-in does is an assumption, and every assumption stands in this file: if the
 * real service turns out to differ, this is the list to walk through.
 *
 * Shown by the reference, hence not here: the three paths and methods, `x-api-key`, 401 without a valid
 * key, the prefixes `sk_test_` and `sk_live_`, the six request fields, `data` holding the checkout URL.
 */

/** Every answer is wrapped. `status` speaks about the call, `data.status` about the payment. Shows: each call. */
export type Envelope = { status: boolean; message: string; code: number; data: unknown };

/** `code` repeats the HTTP status as a number; a refusal carries `data: {}`. Shows: each call. */
export function envelope(code: number, message: string, data: unknown = {}): Envelope {
  return { status: code < 400, message, code, data };
}

/** What each call answers with. Shows: the status line and `code`. */
export const HTTP_STATUS = {
  initialized: 200,
  verified: 200,
  listed: 200,
  /** A field is missing or has the wrong type. */
  malformed: 400,
  /** No transaction of this reference in the mode of the key; the other mode's transactions count as none. */
  unknownReference: 404,
  /** A reference is used once per mode for ever; even an identical repeat is refused, and the URL is not given again. */
  duplicateReference: 409,
  /** Well-formed, but against a rule: an amount below the minimum, a currency that does not exist. */
  ruleBroken: 422,
} as const;

/** The words of `data.status`. Shows: verify, history, webhooks. */
export const STATUS_WORDS: Record<State, string> = {
  pending: 'PENDING',
  paid: 'SUCCESS',
  failed: 'FAILED',
  reversed: 'REVERSED',
};

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
 * `amount` is a JSON number in major units, without an exponent, and with no more decimals than its
 * currency has (ISO 4217: NGN 2, XOF 0, KWD 3). Shows: initialize, 400 and 422.
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
  pending: ['paid', 'failed'],
  paid: ['paid', 'reversed'],
  failed: ['paid'],
  reversed: [],
};

/**
 * One reference is one record, however often it was paid: its amount is the sum of all payments taken, and
 * what was asked for while there is none. All payments of one record share a currency, which may differ
 * from the one asked for. Shows: `amount` and `currency` in verify, history and webhooks.
 */
export function amountOnRecord({ asked, payments }: Pick<Transaction, 'asked' | 'payments'>): Money {
  const [first] = payments;
  if (first === undefined) return asked;
  const minor = payments.reduce((sum, { money }) => sum + money.minor, 0n);
  return { minor, currency: first.money.currency };
}

/**
 * The service's record. `amount` is a JSON number in major units that carries all decimals of its currency
 * (25.00, 25, 25.000); times are ISO 8601 in UTC; the mode is not told. Shows: verify, history, webhooks.
 */
export function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: STATUS_WORDS[transaction.state],
    amount: new LosslessNumber(formatAmount(amount)),
    currency: amount.currency,
    email: transaction.email,
    createdAt: transaction.createdAt,
    updatedAt: transaction.updatedAt,
  };
}

/** A page is asked for by `page` (from 1) and `limit`; a larger limit is silently cut, other parameters are ignored. */
export const HISTORY = { defaultLimit: 20, maxLimit: 100 } as const;

/** The rows stand at `data.data`, newest created first, beside where they stand in the whole. Shows: history. */
export function historyPage(
  rows: readonly Transaction[],
  page: number,
  limit: number,
  total: number,
): object {
  const pageCount = Math.ceil(total / limit);
  return { data: rows.map(recordOf), page, limit, total, pageCount, hasNextPage: page < pageCount };
}

/** Every change after initialize is told, none before. Shows: the event's name. */
export const WEBHOOK_EVENTS: Record<Change, string> = {
  paid: 'transaction.success',
  failed: 'transaction.failed',
  reversed: 'transaction.reversed',
};

/** The body is wrapped, with verify's record as it was right after the change. Shows: webhooks. */
export function webhookBody({ change, transaction }: Notice): object {
  return { event: WEBHOOK_EVENTS[change], data: recordOf(transaction) };
}

/** Hex HMAC-SHA256 of the raw body under the webhook secret; one address and one secret serve both modes. */
export const WEBHOOK_SIGNATURE = { header: 'x-signature', algorithm: 'sha256', encoding: 'hex' } as const;

/**
 * Any 2xx ends a delivery; every other answer, redirects included, and silence are tried again after these
 * pauses, the last one repeating. Far shorter than a real service's, so that a person need not wait.
 */
export const WEBHOOK_PAUSES_MS = [1_000, 3_000, 10_000, 30_000, 60_000] as const;

/** After about an hour of trying a delivery is given up, as every service does at some time. */
export const WEBHOOK_MAX_ATTEMPTS = 64;

/** How long the receiver may take to answer, in milliseconds. */
export const WEBHOOK_TIMEOUT_MS = 5_000;

/**
 * After a decision the shopper returns with this added to the query, after leaving with nothing. Shoppers
 * are told less than integrators: a reversal is not seen here. Shows: the redirect of the checkout page.
 */
export function returnParameters({ reference, state }: Transaction): Record<string, string> {
  if (state === 'pending') return {};
  return { reference, status: state === 'failed' ? 'failed' : 'success' };
}
