import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { feeOf, majorNumber, minus, plus } from './shapes/amounts.ts';
import { byNumber } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { isoWithOffset } from './shapes/times.ts';
import { jsonMessage } from './shapes/signing.ts';

/*
 * An aggregator of cards, mobile money and banks. The customer may bear the fees, so a record shows the amount beside
 * what was charged and what will be settled; it proves its webhooks by sending the secret itself.
 */

const WORDS: Words = {
  pending: 'pending',
  'in-review': 'processing',
  abandoned: 'pending',
  paid: 'successful',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  reversed: 'refunded',
};

function envelope(code: number, message: string, data: unknown, meta?: unknown): Answer {
  return json(code, {
    status: code < 400 ? 'success' : 'error',
    message,
    ...(meta !== undefined && { meta }),
    data,
  });
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    // The service's own reference, beside ours: match by name, never by position.
    service_reference: `svc-${transaction.id}`,
    amount: majorNumber(amount),
    charged_amount: majorNumber(plus(amount, feeOf(amount))),
    app_fee: majorNumber(feeOf(amount)),
    amount_settled: majorNumber(minus(amount, feeOf(amount))),
    currency: amount.currency,
    status: WORDS[transaction.state],
    created_at: isoWithOffset(transaction.createdAt),
  };
}

export const aggregator: Profile = {
  ...plain,
  title: 'Gross, net and fees',
  kind: 'An aggregator whose records show the amount beside fees, charge and settlement.',
  opened: ({ checkoutUrl }) => envelope(200, 'Hosted Link', { link: checkoutUrl }),
  // A success line around a refusal: only the body says no.
  duplicate: () => json(200, { status: false, message: 'duplicate tx_ref', data: null }),
  found: (transaction) => envelope(200, 'Transaction fetched', recordOf(transaction)),
  unknown: () => json(200, { status: 'false', message: 'No transaction was found', data: {} }),
  refused: (status, message) => envelope(status, message, null),
  history(list, query) {
    const paged = byNumber(list, query, {
      pageParam: 'page',
      first: 1,
      sizeParam: 'size',
      size: 10,
      maxSize: 100,
      tooLarge: 'is refused',
    });
    if (typeof paged === 'string') return envelope(400, paged, null);
    const { rows, total, page, pageCount } = paged;
    const meta = { page_info: { total, current_page: page, total_pages: pageCount } };
    return envelope(200, 'Transactions fetched', rows.map(recordOf), meta);
  },
  webhook: ({ transaction }, secret) =>
    jsonMessage(
      { event: 'charge.completed', 'event.type': 'CARD_TRANSACTION', data: recordOf(transaction) },
      () => ({
        'x-secret-hash': secret,
      }),
    ),
  delivery: { takes: 'any 2xx', maxAttempts: 4, on4xx: 'end the delivery' },
  returnAddress: (transaction) =>
    withAdded(transaction, {
      tx_ref: transaction.reference,
      transaction_id: transaction.id,
      status: WORDS[transaction.state],
    }),
  tooMany: 'retry-after-date',
  balances: {
    path: '/balances',
    // Keyed by currency.
    answer: (balances) =>
      envelope(
        200,
        'Wallet balances',
        Object.fromEntries(
          balances.map(({ currency, available, pending }) => [
            currency,
            {
              available_balance: majorNumber({ minor: available, currency }),
              ledger_balance: majorNumber({ minor: available + pending, currency }),
            },
          ]),
        ),
      ),
  },
  transfers: {
    path: '/transfers',
    answer: (transfers) =>
      envelope(
        200,
        'Transfers fetched',
        transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: majorNumber(money),
          fee: majorNumber(feeOf(money)),
          currency: money.currency,
          status: 'SUCCESSFUL',
          created_at: isoWithOffset(at),
        })),
      ),
  },
};
