import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { majorNumber } from './shapes/amounts.ts';
import { whole } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_BASE64 } from './shapes/signing.ts';

/*
 * A young service that lists everything at once. Its history is a bare array that looks at no parameter, with a row per
 * attempt: one reference stands there several times. Texts stand where one expects true and false.
 */

const WORDS: Words = {
  pending: 'Pending',
  'in-review': 'Processing',
  abandoned: 'Pending',
  paid: 'Success',
  failed: 'Declined',
  cancelled: 'Cancelled',
  expired: 'Expired',
  reversed: 'Reversed',
};

function envelope(code: number, message: string, data: unknown = null): Answer {
  return json(code, { success: code < 400 ? 'true' : 'false', code: code < 400 ? 200 : code, message, data });
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

/** The newest attempt, and the one that began it. */
function attemptsOf(transaction: Transaction): Record<string, unknown>[] {
  const now = recordOf(transaction);
  if (transaction.state === 'pending') return [now];
  return [
    now,
    { ...now, id: `${transaction.id}-1`, status: WORDS.pending, amount: majorNumber(transaction.asked) },
  ];
}

export const attempts: Profile = {
  ...plain,
  title: 'A row per attempt',
  kind: 'A young service: the whole history at once, one reference in several rows, texts for true and false.',
  opened: ({ checkoutUrl }) => envelope(200, 'ok', { authorizationUrl: checkoutUrl, cancelUrl: null }),
  duplicate: () => json(200, { success: 'false', code: 409, message: 'reference exists', data: null }),
  found: (transaction) => envelope(200, 'ok', recordOf(transaction)),
  unknown: () => json(200, { success: 'false', code: 404, message: 'not found', data: null }),
  refused: (status, message) => envelope(status, message),
  history: (list) => json(200, whole(list).rows.flatMap(attemptsOf)),
  webhook: ({ change, transaction }, secret) =>
    jsonMessage({ type: WORDS[change], data: recordOf(transaction) }, (body) => ({
      'x-signature': hmac(secret, body, SHA256_BASE64),
    })),
  delivery: { takes: 'any 2xx', maxAttempts: 3, on4xx: 'end the delivery' },
  returnAddress: (transaction) => withAdded(transaction, { reference: transaction.reference }),
  tooMany: 'nothing',
  balances: {
    path: '/balances',
    // A number by currency, and what cannot be paid out yet is in it.
    answer: (balances) =>
      envelope(
        200,
        'ok',
        Object.fromEntries(
          balances.map(({ currency, available, pending }) => [
            currency,
            majorNumber({ minor: available + pending, currency }),
          ]),
        ),
      ),
  },
};
