import { json } from '../api/answer.ts';
import { toJsonText } from '../api/json.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { comparison, feeOf, majorNumber, minus, received } from './shapes/amounts.ts';
import { byNumber } from './shapes/paging.ts';
import { hmac, jsonMessage, SHA512_HEX } from './shapes/signing.ts';

/*
 * Invoices paid in another money than they are written in. Records show what was requested, what was received and what
 * it was converted to; currencies are in small letters; verify forgets what it does not know instead of saying so.
 */

const WORDS: Words = {
  pending: 'waiting',
  'in-review': 'confirming',
  abandoned: 'waiting',
  paid: 'finished',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'expired',
  reversed: 'refunded',
};

/** What is received is worth four of what it is paid with. */
const RATE = 4n;

function recordOf(transaction: Transaction): Record<string, unknown> {
  const { asked } = transaction;
  const came = received(transaction);
  const isPartial = transaction.state === 'paid' && comparison(transaction) === 'under';
  return {
    payment_id: transaction.id,
    order_id: transaction.reference,
    payment_status: isPartial ? 'partially_paid' : WORDS[transaction.state],
    price_amount: majorNumber(asked),
    requested_currency: asked.currency.toLowerCase(),
    actually_paid: majorNumber(transaction.payments.length === 0 ? asked : came),
    price_currency: came.currency.toLowerCase(),
    pay_amount: majorNumber({ ...came, minor: came.minor / RATE }),
    outcome_amount: majorNumber(minus(came, feeOf(came))),
    // The currency of the shop's own wallet, whatever was asked for. And no time at all.
    outcome_currency: 'usd',
  };
}

export const invoices: Profile = {
  ...plain,
  title: 'Invoices',
  kind: 'Invoices paid in another money: requested, received and converted amounts, currencies in small letters.',
  opened: ({ checkoutUrl, transaction }) =>
    json(201, {
      id: transaction.id,
      order_id: transaction.reference,
      invoice_url: checkoutUrl,
      success_url: null,
    }),
  duplicate: () => json(400, { statusCode: 400, code: 'DUPLICATE_ORDER', message: 'order_id exists' }),
  found: (transaction) => json(200, recordOf(transaction)),
  unknown: () => json(200, null),
  refused: (statusCode, message) => json(statusCode, { statusCode, message }),
  facts: {
    reference: '/order_id',
    status: '/payment_status',
    amount: '/actually_paid',
    currency: '/price_currency',
  },
  history(list, query) {
    const paged = byNumber(list, query, {
      pageParam: 'page',
      first: 0,
      sizeParam: 'limit',
      size: 10,
      maxSize: 100,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return json(400, { statusCode: 400, message: paged });
    const { rows, take, page, pageCount, total } = paged;
    const place = {
      limit: String(take),
      page: String(page),
      pagesCount: String(pageCount),
      total: String(total),
    };
    return json(200, { data: rows.map(recordOf), ...place });
  },
  // Signed is not the body but its JSON with the keys in order: nobody can check that without this recipe.
  webhook: ({ transaction }, secret) => {
    const record = recordOf(transaction);
    const sorted = Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
    return jsonMessage(record, () => ({
      'x-sorted-signature': hmac(secret, toJsonText(sorted), SHA512_HEX),
    }));
  },
  delivery: { takes: 'any 2xx', maxAttempts: 1, on4xx: 'end the delivery' },
  // The browser stays on the page of the invoice.
  returnAddress: () => null,
  tooMany: 'lock-out-message',
  balances: {
    path: '/balance',
    answer: (balances) =>
      json(
        200,
        Object.fromEntries(
          balances.map(({ currency, available, pending }) => [
            currency.toLowerCase(),
            {
              amount: majorNumber({ minor: available, currency }),
              pendingAmount: majorNumber({ minor: pending, currency }),
            },
          ]),
        ),
      ),
  },
  transfers: {
    path: '/payout',
    answer: (transfers) =>
      json(200, {
        payouts: transfers.map(({ id, reference, money }) => ({
          id,
          reference,
          amount: majorNumber(money),
          currency: money.currency.toLowerCase(),
          status: 'FINISHED',
        })),
      }),
  },
};
