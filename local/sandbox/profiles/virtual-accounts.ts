import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { formatAmount } from '../money.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { comparison, feeOf, majorNumber, minus } from './shapes/amounts.ts';
import { byNumber, type List, type Query } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA512_HEX } from './shapes/signing.ts';
import { dayFirst } from './shapes/times.ts';
import { DAY_MS, windowIn, within } from './shapes/windows.ts';

/*
 * Bank transfers to accounts made for one payment. People type the amount themselves, so there are words for too much
 * and too little; amounts are texts here and numbers in webhooks; pages are counted from 0.
 */

const WORDS: Words = {
  pending: 'PENDING',
  // A word whose meaning the service does not state: integrators disagree on it.
  'in-review': 'COLLECTED',
  abandoned: 'ABANDONED',
  paid: 'PAID',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  expired: 'EXPIRED',
  reversed: 'REVERSED',
};

function wordOf(transaction: Transaction): string {
  if (transaction.state !== 'paid') return WORDS[transaction.state];
  const words = { exact: 'PAID', over: 'OVERPAID', under: 'PARTIALLY_PAID', 'other currency': 'PAID' };
  return words[comparison(transaction)];
}

function envelope(code: number, message: string, responseBody: unknown = null): Answer {
  const isFine = code < 400;
  return json(code, {
    requestSuccessful: isFine,
    responseMessage: message,
    responseCode: isFine ? '0' : '99',
    responseBody,
  });
}

function recordOf(transaction: Transaction, amount: (text: string) => unknown): Record<string, unknown> {
  const paid = amountOnRecord(transaction);
  return {
    transactionReference: `BANK|${transaction.id}`,
    paymentReference: transaction.reference,
    amountPaid: amount(formatAmount(paid)),
    totalPayable: amount(formatAmount(transaction.asked)),
    settlementAmount: amount(formatAmount(minus(paid, feeOf(paid)))),
    currency: paid.currency,
    paymentStatus: wordOf(transaction),
    createdOn: dayFirst(transaction.createdAt),
  };
}

const inTexts = (transaction: Transaction): Record<string, unknown> => recordOf(transaction, (text) => text);

/** Days may be named, and what is more than a month of them is silently left out: the newest are. */
function inWindow(list: List, query: Query): List {
  const window = windowIn(query);
  if (window === null) return list;
  const until = Math.min(window.until, window.since + MAX_DAYS * DAY_MS);
  return within(list, { ...window, until });
}

const MAX_DAYS = 31;

export const virtualAccounts: Profile = {
  ...plain,
  title: 'Bank transfers',
  kind: 'Accounts made for one payment each: words for too much and too little, texts for amounts, pages from 0.',
  opened: ({ checkoutUrl, transaction }) =>
    envelope(200, 'success', { paymentReference: transaction.reference, checkoutUrl }),
  duplicate: () => envelope(422, 'Payment reference is not unique'),
  found: (transaction) => envelope(200, 'success', inTexts(transaction)),
  unknown: () => envelope(404, 'There is no transaction with this reference'),
  refused: (status, message) => envelope(status, message),
  facts: {
    reference: '/responseBody/paymentReference',
    status: '/responseBody/paymentStatus',
    amount: '/responseBody/amountPaid',
    currency: '/responseBody/currency',
  },
  history(list, query) {
    const paged = byNumber(inWindow(list, query), query, {
      pageParam: 'page',
      first: 0,
      sizeParam: 'size',
      size: 10,
      maxSize: 100,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return envelope(400, paged);
    const { rows, page, take: size, total, pageCount, hasMore } = paged;
    const place = { number: page, size, totalElements: total, totalPages: pageCount, last: !hasMore };
    return envelope(200, 'success', { content: rows.map(inTexts), ...place });
  },
  webhook({ change, transaction }, secret) {
    const eventData = {
      ...inTexts(transaction),
      amountPaid: majorNumber(amountOnRecord(transaction)),
      totalPayable: majorNumber(transaction.asked),
    };
    const eventType = change === 'paid' ? 'SUCCESSFUL_TRANSACTION' : 'REJECTED_PAYMENT';
    return jsonMessage({ eventType, eventData }, (body) => ({
      'x-signature': hmac(secret, body, SHA512_HEX),
    }));
  },
  delivery: { takes: 'exactly 200', maxAttempts: 10, on4xx: 'try again' },
  returnAddress: (transaction) => withAdded(transaction, { reference: transaction.reference }),
  tooMany: 'reset-seconds',
  balances: {
    path: '/disbursements/wallet-balance',
    // One object: this kind of service has one wallet, of one currency; the others are not told.
    answer: ([first]) => {
      const text = (minor: bigint): string =>
        first === undefined ? '0.00' : formatAmount({ minor, currency: first.currency });
      return envelope(200, 'success', {
        availableBalance: text(first?.available ?? 0n),
        ledgerBalance: text((first?.available ?? 0n) + (first?.pending ?? 0n)),
        currency: first?.currency ?? 'NGN',
      });
    },
  },
  transfers: {
    path: '/disbursements/history',
    answer: (transfers) =>
      envelope(200, 'success', {
        content: transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: formatAmount(money),
          currency: money.currency,
          status: 'COMPLETED',
          createdOn: dayFirst(at),
        })),
      }),
  },
};
