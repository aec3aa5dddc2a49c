import { json, type Answer } from '../api/answer.ts';
import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { plain } from './plain.ts';
import type { Profile, Words } from './profile.ts';
import { majorNumber } from './shapes/amounts.ts';
import { whole, type List, type Query } from './shapes/paging.ts';
import { withAdded } from './shapes/returning.ts';
import { hmac, jsonMessage, SHA256_HEX } from './shapes/signing.ts';
import { unixMilliseconds } from './shapes/times.ts';
import { DAY_MS, windowIn, within } from './shapes/windows.ts';

/*
 * A mobile-money switch. Its history must be asked for a window of days; its records lag behind, so a payment that was
 * just opened is not found yet; the envelope repeats HTTP statuses as numbers, and a proxy in front speaks HTML.
 */

const WORDS: Words = {
  pending: 'PENDING',
  'in-review': 'QUEUED',
  abandoned: 'PENDING',
  paid: 'SUCCESSFUL',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  expired: 'EXPIRED',
  reversed: 'REVERSED',
};

/** Milliseconds until verify knows a new transaction. */
const LAG_MS = 1_000;
const MAX_DAYS = 30;
const PROXY = '<html><head><title>Service Unavailable</title></head><body>try again</body></html>';

function envelope(status: number, message: string, data: unknown = null): Answer {
  return json(status, { status, message, data });
}

function recordOf(transaction: Transaction): Record<string, unknown> {
  const amount = amountOnRecord(transaction);
  return {
    id: transaction.id,
    reference: transaction.reference,
    status: WORDS[transaction.state],
    amount: majorNumber(amount),
    currency: amount.currency,
    created: unixMilliseconds(transaction.createdAt),
  };
}

export const dateWindow: Profile = {
  ...plain,
  title: 'Days to be named',
  kind: 'A mobile-money switch: history only for named days, a month at most, records that lag behind, errors in HTML.',
  opened: ({ checkoutUrl }) => envelope(200, 'OK', { checkoutLink: checkoutUrl, qrLink: null }),
  duplicate: () => envelope(422, 'reference has been used'),
  found: (transaction) => envelope(200, 'OK', recordOf(transaction)),
  unknown: () => envelope(404, 'not found'),
  refused: (status, message) =>
    status < 500 ? envelope(status, message) : { status, type: 'html', body: PROXY },
  hiddenForMs: LAG_MS,
  history: (list, query) => historyOf(list, query),
  webhook({ transaction }, secret) {
    const { reference, status, amount, currency } = recordOf(transaction);
    const message = { event_type: 'payment', reference, status, amount, currency };
    return jsonMessage(message, (body) => ({ 'x-signature': hmac(secret, body, SHA256_HEX).toUpperCase() }));
  },
  delivery: { takes: 'any 2xx', maxAttempts: 3, on4xx: 'try again' },
  returnAddress: (transaction) => withAdded(transaction, {}),
  tooMany: 'reset-epoch',
  balances: {
    path: '/wallets',
    answer: (balances) =>
      envelope(
        200,
        'OK',
        balances.map(({ currency, available, pending }) => ({
          currency,
          available: majorNumber({ minor: available, currency }),
          pending: majorNumber({ minor: pending, currency }),
        })),
      ),
  },
  transfers: {
    path: '/payments/outgoing',
    answer: (transfers) =>
      envelope(
        200,
        'OK',
        transfers.map(({ id, reference, money, at }) => ({
          id,
          reference,
          amount: majorNumber(money),
          currency: money.currency,
          status: 'SUCCESSFUL',
          created: unixMilliseconds(at),
        })),
      ),
  },
};

/** Both days or nothing; all of the window in one list. */
function historyOf(list: List, query: Query): Answer {
  const window = windowIn(query);
  if (window === null) return envelope(400, 'from and to are required (ISO 8601)');
  const days = (window.until - window.since) / DAY_MS;
  if (days < 0 || days > MAX_DAYS) return envelope(400, `from and to: at most ${MAX_DAYS} days`);
  return envelope(200, 'OK', whole(within(list, window)).rows.map(recordOf));
}
