import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { minorNumber, paidAt, received } from './shapes/amounts.ts';
import { byOffset } from './shapes/paging.ts';
import { withSecondQuestionMark } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_HEX } from './shapes/signing.ts';
import { unixSeconds } from './shapes/times.ts';

/*
 * Short links to pay. Everything is flat and bare, times are seconds since 1970 with 0 for "not yet", lists are counted
 * in rows, and an integrator's own question mark in the return address is not looked at.
 */

const WORDS: Words = {
  pending: 'created',
  'in-review': 'created',
  abandoned: 'created',
  paid: 'paid',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  reversed: 'refunded',
};

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: `plink_${transaction.id}`,
    reference_id: transaction.reference,
    status: WORDS[transaction.state],
    amount: minorNumber(amount),
    amount_paid: minorNumber(received(transaction)),
    currency: amount.currency,
    created_at: unixSeconds(transaction.createdAt),
    paid_at: unixSeconds(paidAt(transaction)),
    callback_url: null,
  };
}

/** Behind this kind of service stands a proxy that cuts the body of an error off. */
function refused(status: number, description: string): Answer {
  const answer = json(status, { error: { code: 'BAD_REQUEST_ERROR', description } });
  return status < 500 ? answer : { ...answer, body: answer.body.slice(0, 24) };
}

export const paymentLinks: Profile = {
  ...plain,
  title: 'Short links',
  kind: 'Links to pay: flat records, seconds since 1970, lists counted in rows, errors cut off by a proxy.',
  unit: 'minor',
  opened: ({ checkoutUrl, transaction }) => json(200, { ...recordOf(transaction), short_url: checkoutUrl }),
  duplicate: () => refused(400, 'payment link with this reference_id already exists'),
  found: (transaction) => json(200, recordOf(transaction)),
  unknown: () => refused(400, 'the requested reference was not found'),
  refused,
  facts: { reference: '/reference_id', status: '/status', amount: '/amount', currency: '/currency' },
  history(list, query) {
    const paged = byOffset(list, query, {
      skipParam: 'skip',
      sizeParam: 'count',
      size: 10,
      maxSize: 100,
      tooLarge: 'is refused',
    });
    if (typeof paged === 'string') return refused(400, paged);
    // `count` is that of this page; nothing tells how many there are.
    return json(200, { entity: 'collection', count: paged.rows.length, items: paged.rows.map(recordOf) });
  },
  webhook: ({ change, transaction }, secret) =>
    jsonMessage({ ...recordOf(transaction), event: `payment_link.${WORDS[change]}` }, (body) => ({
      'x-signature': `sha256=${hmac(secret, body, SHA256_HEX)}`,
    })),
  delivery: { takes: 'any 2xx', maxAttempts: 24, on4xx: 'switch the address off' },
  returnAddress: (transaction) =>
    withSecondQuestionMark(transaction, { payment_link_reference_id: transaction.reference, status: 'done' }),
  tooMany: 'reset-epoch',
  balances: {
    path: '/balance',
    answer: (balances) =>
      json(200, {
        entity: 'collection',
        items: balances.map(({ currency, available, pending }) => ({
          currency,
          balance: available.toString(),
          pending: pending.toString(),
        })),
      }),
  },
  transfers: {
    path: '/payouts',
    answer: (transfers) =>
      json(200, {
        entity: 'collection',
        items: transfers.map(({ id, reference, money, at }) => ({
          id: `pout_${id}`,
          reference_id: reference,
          amount: minorNumber(money),
          currency: money.currency,
          status: 'processed',
          created_at: unixSeconds(at),
        })),
      }),
  },
};
