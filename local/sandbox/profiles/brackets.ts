import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { majorNumber } from './shapes/amounts.ts';
import { byNumber } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA512_HEX } from './shapes/signing.ts';

/*
 * A point-of-sale maker's web checkout. A code 0 means yes, paging is asked for in brackets and told under
 * `pagination`, and webhooks are flat.
 */

const WORDS: Words = {
  pending: 'processing',
  'in-review': 'processing',
  abandoned: 'processing',
  paid: 'complete',
  failed: 'declined',
  cancelled: 'canceled',
  expired: 'expired',
  reversed: 'refunded',
};

function envelope(status: number, message: string, rest: Record<string, unknown> = {}): Answer {
  return json(status, { resultCode: status < 400 ? 0 : status, message, ...rest });
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: majorNumber(amount),
    currency: amount.currency,
    created_at: transaction.createdAt,
  };
}

export const brackets: Profile = {
  ...plain,
  title: 'Brackets',
  kind: 'A till maker: result code 0 for yes, paging in brackets, flat webhooks.',
  opened: ({ checkoutUrl }) =>
    envelope(200, 'created', { data: { checkout_url: checkoutUrl, receipt_url: null } }),
  duplicate: () => envelope(400, 'reference is taken', { data: null }),
  found: (transaction) => envelope(200, 'ok', { data: recordOf(transaction) }),
  unknown: () => envelope(404, 'unknown reference', { data: null }),
  refused: (status, message) => envelope(status, message, { data: null }),
  history(list, query) {
    const paged = byNumber(list, query, {
      pageParam: 'page[number]',
      first: 1,
      sizeParam: 'page[size]',
      size: 20,
      maxSize: 100,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return envelope(400, paged);
    const { rows, page, take: size, pageCount } = paged;
    const pagination = { number: page, size, total_pages: pageCount };
    return envelope(200, 'ok', { data: rows.map(recordOf), pagination });
  },
  webhook: ({ transaction }, secret) =>
    jsonMessage(recordOf(transaction), (body) => ({ 'x-signature': hmac(secret, body, SHA512_HEX) })),
  delivery: { takes: 'any 2xx', maxAttempts: 12, on4xx: 'try again' },
  returnAddress: (transaction) => withAdded(transaction, { reference: transaction.reference }),
  tooMany: 'reset-seconds',
};
