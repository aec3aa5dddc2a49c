import { json } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { valueObject } from './shapes/amounts.ts';
import { afterId } from './shapes/paging.ts';

/*
 * A European hypermedia interface: no envelope, amounts as `{value, currency}` with the value as a text, links to
 * follow, errors in the manner of RFC 9457. Its webhook is a form with nothing but its own id: ask us.
 */

const WORDS: Words = {
  pending: 'open',
  'in-review': 'pending',
  abandoned: 'open',
  paid: 'paid',
  failed: 'failed',
  cancelled: 'canceled',
  expired: 'expired',
  reversed: 'refunded',
};

const HISTORY = '/v1/transactions/history';

function recordOf(transaction: Transaction): Record<string, unknown> {
  return {
    resource: 'payment',
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: valueObject(amountOnRecord(transaction)),
    createdAt: transaction.createdAt,
  };
}

export const valueObjects: Profile = {
  ...plain,
  title: 'Links and value objects',
  kind: 'A hypermedia interface: bare records, {value, currency}, links to follow, webhooks with nothing but an id.',
  opened: ({ checkoutUrl, transaction }) =>
    json(201, { ...recordOf(transaction), _links: { checkout: { href: checkoutUrl, type: 'text/html' } } }),
  // Idempotent: a repeat gets what the first one got.
  duplicate: ({ checkoutUrl, transaction }) =>
    json(200, { ...recordOf(transaction), _links: { checkout: { href: checkoutUrl, type: 'text/html' } } }),
  found: (transaction) => json(200, recordOf(transaction)),
  unknown: (reference) => problem(404, `No payment exists with reference ${reference}.`),
  refused: (status, message) => problem(status, message),
  facts: {
    reference: '/reference',
    status: '/status',
    amount: '/amount/value',
    currency: '/amount/currency',
  },
  history(list, query) {
    const paged = afterId(list, query, {
      afterParam: 'from',
      sizeParam: 'limit',
      size: 50,
      maxSize: 250,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return problem(400, paged);
    const { rows, take, hasMore } = paged;
    const next = hasMore ? { href: `${HISTORY}?from=${rows.at(-1)?.id ?? ''}&limit=${take}` } : null;
    return json(200, { count: rows.length, payments: rows.map(recordOf), _links: { next } });
  },
  webhook: ({ transaction }) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `id=${transaction.id}`,
  }),
  delivery: { takes: 'any 2xx', maxAttempts: 10, on4xx: 'try again' },
  // The same address whatever happened, a cancelled checkout included.
  returnAddress: ({ redirectUrl }) => redirectUrl,
  tooMany: 'retry-after-seconds',
  balances: {
    path: '/balances',
    answer: (balances) =>
      json(200, {
        count: balances.length,
        balances: balances.map(({ currency, available, pending }) => ({
          currency,
          availableAmount: valueObject({ minor: available, currency }),
          pendingAmount: valueObject({ minor: pending, currency }),
        })),
      }),
  },
  transfers: {
    path: '/settlements',
    answer: (transfers) =>
      json(200, {
        count: transfers.length,
        settlements: transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          status: 'paidout',
          amount: valueObject(money),
          settledAt: at,
        })),
      }),
  },
};

function problem(status: number, detail: string): ReturnType<typeof json> {
  return json(status, { status, title: TITLES[status] ?? 'Error', detail }, {});
}

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized Request',
  404: 'Not Found',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
};
