import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord, amountRefunded } from '../assumptions.ts';
import type { Change, State, Transaction } from '../ledger/transaction.ts';
import type { Profile, Words } from './profile.ts';
import { majorNumber } from './shapes/amounts.ts';
import { byNumber } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_HEX } from './shapes/signing.ts';

/*
 * The default: a service that answers as the reference suggests where it is silent. One envelope around everything,
 * exact numbers in major units, pages with their totals, signed webhooks. The other profiles are told as differences
 * from this one.
 */

const WORDS: Words = {
  pending: 'PENDING',
  'in-review': 'IN_REVIEW',
  abandoned: 'ABANDONED',
  paid: 'SUCCESS',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  expired: 'EXPIRED',
  reversed: 'REVERSED',
};

/** Every change after initialize is told, none before. */
const EVENTS: Record<Change, string> = {
  'in-review': 'transaction.in_review',
  abandoned: 'transaction.abandoned',
  paid: 'transaction.success',
  failed: 'transaction.failed',
  cancelled: 'transaction.cancelled',
  expired: 'transaction.expired',
  reversed: 'transaction.reversed',
};

/** `status` speaks about the call, `data.status` about the payment; `code` repeats the HTTP status as a number. */
function envelope(code: number, message: string, data: unknown = {}): Answer {
  return json(code, { status: code < 400, message, code, data });
}

/** `amount` carries all decimals of its currency; times are ISO 8601 in UTC; the mode is not told. */
function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  const refunds = transaction.refunds.filter(({ shown }) => shown === 'field');
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: majorNumber(amount),
    currency: amount.currency,
    ...(refunds.length > 0 && { refundedAmount: majorNumber(amountRefunded({ ...transaction, refunds })) }),
    email: transaction.email,
    createdAt: transaction.createdAt,
    updatedAt: transaction.updatedAt,
  };
}

export const plain: Profile = {
  title: 'Plain envelope',
  kind: 'Answers as the reference suggests: one envelope, exact numbers, pages with totals, signed webhooks.',
  unit: 'major',
  opened: ({ checkoutUrl }) => envelope(200, 'checkout opened', checkoutUrl),
  // Even an identical repeat is refused, and the URL is not given again.
  duplicate: () => envelope(409, 'a transaction with this reference exists'),
  found: (transaction) => envelope(200, 'transaction found', recordOf(transaction)),
  unknown: () => envelope(404, 'no transaction has this reference'),
  refused: (status, message) => envelope(status, message),
  hiddenForMs: 0,
  listLagMs: 0,
  facts: {
    reference: '/data/reference',
    status: '/data/status',
    amount: '/data/amount',
    currency: '/data/currency',
  },
  // Newest created first; a larger limit is silently cut, other parameters are ignored.
  history(list, query) {
    const paged = byNumber(list, query, {
      pageParam: 'page',
      first: 1,
      sizeParam: 'limit',
      size: 20,
      maxSize: 100,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return envelope(400, paged);
    const { rows, page, take: limit, total, pageCount, hasMore } = paged;
    const data = { data: rows.map(recordOf), page, limit, total, pageCount, hasNextPage: hasMore };
    return envelope(200, 'transactions listed', data);
  },
  webhook: ({ change, transaction }, secret) =>
    jsonMessage({ event: EVENTS[change], data: recordOf(transaction) }, (body) => ({
      'x-signature': hmac(secret, body, SHA256_HEX),
    })),
  delivery: { takes: 'any 2xx', maxAttempts: 64, on4xx: 'try again' },
  // Shoppers are told less than integrators: a reversal is not seen here, and leaving tells nothing.
  returnAddress(transaction) {
    const said = SAID_TO_SHOPPERS[transaction.state];
    return withAdded(transaction, said === null ? {} : { reference: transaction.reference, status: said });
  },
  onLeave: 'nothing',
  tooMany: 'retry-after-seconds',
  balances: {
    path: '/balances',
    answer: (balances) =>
      envelope(
        200,
        'balances listed',
        balances.map(({ currency, available, pending }) => ({
          currency,
          available: majorNumber({ minor: available, currency }),
          pending: majorNumber({ minor: pending, currency }),
        })),
      ),
  },
  transfers: {
    path: '/transfers',
    answer: (transfers) =>
      envelope(
        200,
        'transfers listed',
        transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: majorNumber(money),
          currency: money.currency,
          status: 'SUCCESS',
          createdAt: at,
        })),
      ),
  },
};

const SAID_TO_SHOPPERS: Record<State, 'success' | 'failed' | null> = {
  pending: null,
  'in-review': null,
  abandoned: null,
  paid: 'success',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
  reversed: 'success',
};
