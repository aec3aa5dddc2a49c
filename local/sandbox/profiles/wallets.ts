import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { majorNumber } from './shapes/amounts.ts';
import { afterId, fromCursor, toCursor } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_HEX } from './shapes/signing.ts';
import { unixMilliseconds } from './shapes/times.ts';

/*
 * A wallet application. Records lie two levels deep, words come with spaces and slashes, cursors are opaque, the
 * signature covers a timestamp, and for a reference it does not know it answers with the last payment it made.
 */

const WORDS: Words = {
  pending: 'pending',
  'in-review': 'in review',
  abandoned: 'pending',
  paid: 'completed',
  failed: 'failed/cancelled',
  cancelled: 'failed/cancelled',
  expired: 'expired',
  reversed: 'REFUND PENDING',
};

function envelope(code: number, message: string, data: unknown = null): Answer {
  return json(code, { status: code < 400 ? 'SUCCESS' : 'ERROR', message, data });
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: majorNumber(amount),
    currency: amount.currency,
    createdAt: transaction.createdAt,
  };
}

const found = (transaction: Transaction): Answer =>
  envelope(200, 'done', { status: 'success', data: recordOf(transaction) });

export const wallets: Profile = {
  ...plain,
  title: 'Wallets',
  kind: 'A wallet: records two levels deep, words with spaces, opaque cursors, and somebody else for an unknown reference.',
  opened: ({ checkoutUrl }) => envelope(201, 'created', { checkoutUrl, deepLink: null }),
  duplicate: ({ checkoutUrl }) => envelope(200, 'exists', { checkoutUrl, deepLink: null }),
  found,
  unknown: (_reference, neighbour) =>
    neighbour === null ? envelope(404, 'no payments yet') : found(neighbour),
  refused: (status, message) => envelope(status, message),
  facts: {
    reference: '/data/data/reference',
    status: '/data/data/status',
    amount: '/data/data/amount',
    currency: '/data/data/currency',
  },
  history(list, query) {
    const paged = afterId(
      list,
      { ...query, cursor: fromCursor(query.cursor) },
      { afterParam: 'cursor', sizeParam: 'limit', size: 20, maxSize: 100, tooLarge: 'is clamped' },
    );
    if (typeof paged === 'string') return envelope(400, paged);
    const { rows, hasMore } = paged;
    const last = rows.at(-1);
    const pagination = { next: hasMore && last !== undefined ? toCursor(last.id) : null };
    return json(200, { status: 'SUCCESS', data: rows.map(recordOf), pagination });
  },
  webhook({ change, transaction }, secret, at) {
    const stamp = String(unixMilliseconds(at.toISOString()));
    return jsonMessage({ type: `payment.${change}`, data: recordOf(transaction) }, (body) => ({
      'x-timestamp': stamp,
      'x-signature': hmac(secret, `${stamp}.${body}`, SHA256_HEX),
    }));
  },
  delivery: { takes: 'any 2xx', maxAttempts: 8, on4xx: 'try again' },
  returnAddress: (transaction) => withAdded(transaction, { reference: transaction.reference }),
  tooMany: 'retry-after-date',
};
