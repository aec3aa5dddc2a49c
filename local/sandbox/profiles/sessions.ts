import { json } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { minorNumber } from './shapes/amounts.ts';
import { afterId } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_HEX } from './shapes/signing.ts';
import { unixSeconds } from './shapes/times.ts';

/*
 * Checkout sessions. A record has two fields with words that overlap: `status` tells how far the session is, and
 * `payment_status` how far the money. Lists go on behind the id of their last row.
 */

/** How far the session is. */
const SESSION: Words = {
  pending: 'open',
  'in-review': 'complete',
  abandoned: 'open',
  paid: 'complete',
  failed: 'open',
  cancelled: 'expired',
  expired: 'expired',
  reversed: 'complete',
};

/** How far the money is. */
const MONEY: Words = {
  pending: 'open',
  'in-review': 'processing',
  abandoned: 'open',
  paid: 'succeeded',
  failed: 'failed',
  cancelled: 'canceled',
  expired: 'expired',
  reversed: 'refunded',
};

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    object: 'checkout.session',
    client_reference_id: transaction.reference,
    status: SESSION[transaction.state],
    payment_status: MONEY[transaction.state],
    amount_total: minorNumber(amount),
    currency: amount.currency.toLowerCase(),
    created: unixSeconds(transaction.createdAt),
    livemode: transaction.mode === 'live',
  };
}

export const sessions: Profile = {
  ...plain,
  title: 'Sessions',
  kind: 'Checkout sessions with one word for the page and one for the money; lists go on behind the last id.',
  unit: 'minor',
  opened: ({ checkoutUrl, transaction }) =>
    json(200, { ...recordOf(transaction), url: checkoutUrl, success_url: null }),
  duplicate: ({ transaction }) =>
    json(409, {
      error: {
        type: 'idempotency_error',
        message: `${transaction.reference} was used before`,
        status: 'failed',
      },
    }),
  found: (transaction) => json(200, recordOf(transaction)),
  unknown: (reference) => refused(404, `No such checkout.session: ${reference}`),
  refused,
  facts: {
    reference: '/client_reference_id',
    status: '/payment_status',
    amount: '/amount_total',
    currency: '/currency',
  },
  history(list, query) {
    const paged = afterId(list, query, {
      afterParam: 'starting_after',
      sizeParam: 'limit',
      size: 10,
      maxSize: 100,
      tooLarge: 'is refused',
    });
    if (typeof paged === 'string') return refused(400, paged);
    return json(200, { object: 'list', has_more: paged.hasMore, data: paged.rows.map(recordOf) });
  },
  webhook({ change, transaction }, secret, at) {
    const event = { type: `checkout.session.${MONEY[change]}`, data: { object: recordOf(transaction) } };
    const t = unixSeconds(at.toISOString());
    return jsonMessage(event, (body) => ({
      'x-signature': `t=${t},v1=${hmac(secret, `${t}.${body}`, SHA256_HEX)}`,
    }));
  },
  delivery: { takes: 'any 2xx', maxAttempts: 64, on4xx: 'try again' },
  returnAddress: (transaction) => withAdded(transaction, { session_id: transaction.id }),
  tooMany: 'retry-after-seconds',
  balances: {
    path: '/balance',
    answer: (balances) => {
      const side = (name: 'available' | 'pending'): object[] =>
        balances.map((balance) => ({
          amount: minorNumber({ minor: balance[name] }),
          currency: balance.currency.toLowerCase(),
        }));
      return json(200, { object: 'balance', available: side('available'), pending: side('pending') });
    },
  },
  transfers: {
    path: '/payouts',
    answer: (transfers) =>
      json(200, {
        object: 'list',
        has_more: false,
        data: transfers.map(({ id, reference, money, at }) => ({
          id,
          description: reference,
          amount: minorNumber(money),
          currency: money.currency.toLowerCase(),
          status: 'paid',
          arrival_date: unixSeconds(at),
        })),
      }),
  },
};

function refused(status: number, message: string): ReturnType<typeof json> {
  return json(status, { error: { type: 'invalid_request_error', message } });
}
