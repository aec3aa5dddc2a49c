import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { formatAmount } from '../money.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { byOffset } from './shapes/paging.ts';
import { withDoubled } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_BASE64 } from './shapes/signing.ts';
import { isoWithoutZone } from './shapes/times.ts';

/*
 * A bank's gateway. Words begin with a capital, so do the keys of webhooks; a code "00" means yes; times do not say in
 * which zone they are; lists tell their length in headers; a refused key gets an answer without a body.
 */

const WORDS: Words = {
  pending: 'Initiated',
  'in-review': 'In Review',
  abandoned: 'Initiated',
  paid: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
  reversed: 'Reversed',
};

function envelope(
  status: number,
  message: string,
  data: unknown = null,
  headers: Record<string, string> = {},
): Answer {
  return json(status, { code: status < 400 ? '00' : '96', message, data }, headers);
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: formatAmount(amount),
    currency: amount.currency,
    createdAt: isoWithoutZone(transaction.createdAt),
  };
}

function refused(status: number, message: string): Answer {
  return status === 401 ? { status, body: '' } : envelope(status, message);
}

export const capitals: Profile = {
  ...plain,
  title: 'A bank with capitals',
  kind: 'A bank gateway: capitalised words and keys, "00" for yes, times without a zone, list lengths in headers.',
  opened: ({ checkoutUrl }) =>
    envelope(200, 'Successful', {
      payments: { redirectLink: checkoutUrl, ussdLink: null, appUrl: null },
    }),
  duplicate: () => envelope(409, 'Duplicate reference'),
  found: (transaction) => envelope(200, 'Successful', recordOf(transaction)),
  unknown: () => envelope(404, 'Record not found'),
  refused,
  history(list, query) {
    const paged = byOffset(list, query, {
      skipParam: 'skip',
      sizeParam: 'take',
      size: 25,
      maxSize: 50,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return envelope(400, paged);
    const headers = { 'x-total-count': String(paged.total), 'x-page-count': String(paged.pageCount) };
    return envelope(200, 'Successful', paged.rows.map(recordOf), headers);
  },
  webhook({ transaction }, secret) {
    const { id, reference, status, amount, currency } = recordOf(transaction);
    const Data = { Id: id, Reference: reference, Status: status, Amount: amount, Currency: currency };
    return jsonMessage({ Event: 'Payment', Data }, (body) => ({
      'x-signature': hmac(secret, body, SHA256_BASE64),
    }));
  },
  delivery: { takes: 'any 2xx', maxAttempts: 5, on4xx: 'try again' },
  returnAddress: (transaction) =>
    withDoubled(transaction, { reference: transaction.reference, status: WORDS[transaction.state] }),
  tooMany: 'nothing',
  balances: {
    path: '/accounts',
    answer: (balances) =>
      envelope(
        200,
        'Successful',
        balances.map(({ currency, available, pending }) => ({
          currency,
          availableBalance: formatAmount({ minor: available, currency }),
          unclearedBalance: formatAmount({ minor: pending, currency }),
        })),
      ),
  },
  transfers: {
    path: '/disbursements',
    answer: (transfers) =>
      envelope(
        200,
        'Successful',
        transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: formatAmount(money),
          currency: money.currency,
          status: 'Completed',
          createdAt: isoWithoutZone(at),
        })),
      ),
  },
};
