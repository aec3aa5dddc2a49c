import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { feeOf, minorNumber } from './shapes/amounts.ts';
import { byNumber } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA512_HEX } from './shapes/signing.ts';

/*
 * A card processor that counts in the smallest unit (kobo), writes snake_case, and calls a transaction "abandoned"
 * from the moment it is opened: the word says that nobody has paid yet, not that nobody will.
 */

const WORDS: Words = {
  pending: 'abandoned',
  'in-review': 'ongoing',
  abandoned: 'abandoned',
  paid: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  reversed: 'reversed',
};

function envelope(code: number, message: string, rest: Record<string, unknown> = {}): Answer {
  return json(code, { status: code < 400, message, ...rest });
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    domain: transaction.mode,
    status: WORDS[transaction.state],
    reference: transaction.reference,
    amount: minorNumber(amount),
    requested_amount: minorNumber(transaction.asked),
    fees: minorNumber(feeOf(amount)),
    currency: amount.currency,
    created_at: transaction.createdAt,
    // Trap: an object beside the facts that has a status of its own.
    customer: { email: transaction.email, status: 'enabled' },
  };
}

export const minorUnits: Profile = {
  ...plain,
  title: 'Smallest units',
  kind: 'A card processor that counts in the smallest unit and calls every open payment abandoned.',
  unit: 'minor',
  opened: ({ checkoutUrl, transaction }) =>
    envelope(200, 'Authorization URL created', {
      data: {
        authorization_url: checkoutUrl,
        access_code: transaction.token,
        reference: transaction.reference,
      },
    }),
  duplicate: () => envelope(400, 'Duplicate Transaction Reference'),
  found: (transaction) => envelope(200, 'Verification successful', { data: recordOf(transaction) }),
  unknown: () => envelope(400, 'Transaction reference not found.'),
  refused: (status, message) => envelope(status, message),
  history(list, query) {
    const paged = byNumber(list, query, {
      pageParam: 'page',
      first: 1,
      sizeParam: 'perPage',
      size: 50,
      maxSize: 100,
      tooLarge: 'is clamped',
    });
    if (typeof paged === 'string') return envelope(400, paged);
    const { rows, total, skip, take: perPage, page, pageCount } = paged;
    const meta = { total, skipped: skip, perPage, page, pageCount };
    return envelope(200, 'Transactions retrieved', { data: rows.map(recordOf), meta });
  },
  webhook: ({ change, transaction }, secret) =>
    jsonMessage({ event: `charge.${WORDS[change]}`, data: recordOf(transaction) }, (body) => ({
      'x-signature': hmac(secret, body, SHA512_HEX),
    })),
  delivery: { takes: 'any 2xx', maxAttempts: 72, on4xx: 'try again' },
  returnAddress: (transaction) =>
    withAdded(transaction, { trxref: transaction.reference, reference: transaction.reference }),
  onLeave: 'abandoned',
  tooMany: 'nothing',
  balances: {
    path: '/balance',
    answer: (balances) =>
      envelope(200, 'Balances retrieved', {
        data: balances.map(({ currency, available, pending }) => ({
          currency,
          balance: minorNumber({ minor: available }),
          pending: minorNumber({ minor: pending }),
        })),
      }),
  },
  transfers: {
    path: '/transfer',
    answer: (transfers) =>
      envelope(200, 'Transfers retrieved', {
        data: transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: minorNumber(money),
          currency: money.currency,
          status: 'success',
          created_at: at,
        })),
      }),
  },
};
