import { amountOnRecord } from '../assumptions.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { kindOf, type Fields } from './kind.ts';
import { majorNumber } from './shapes/amounts.ts';
import { afterId, byNumber, whole } from './shapes/paging.ts';
import { hmac, SHA256_HEX, SHA512_HEX } from './shapes/signing.ts';
import { isoWithoutZone, unixMilliseconds } from './shapes/times.ts';
import { datesIn, within } from './shapes/windows.ts';

/* Services whose lists or webhooks are unlike others': in which order, how late, what is told and what is not. */

const usual: Fields = ({ id, reference, createdAt }, status, amount) => ({
  ...{ id, reference, status, amount: majorNumber(amount), currency: amount.currency, createdAt },
});

export const oldestFirst = kindOf({
  title: 'Oldest first',
  kind: 'A bookkeeper: the list begins with the oldest, and new payments stand at its end.',
  words: { paid: 'PAID', pending: 'NEW', abandoned: 'NEW' },
  url: '/data/url',
  record: usual,
  list: {
    at: '/data/rows',
    order: 'oldest first',
    page: (list, query) =>
      byNumber(list, query, {
        ...{ pageParam: 'p', first: 1, sizeParam: 'n', size: 20, maxSize: 100, tooLarge: 'is clamped' },
      }),
    told: ({ pageCount }) => ({ meta: { last_page: pageCount } }),
  },
});

export const oldestFirstByCursor = kindOf({
  title: 'A journal',
  kind: 'A journal of entries behind a cursor, the oldest first, which tells neither how many there are nor where it ends.',
  words: { paid: 'posted', pending: 'pending', abandoned: 'pending', failed: 'rejected' },
  at: '/entry',
  url: '/entry/checkout',
  fine: { error: null },
  bad: { error: { code: 1 } },
  record: usual,
  list: {
    at: '',
    order: 'oldest first',
    page: (list, query) =>
      afterId(list, query, {
        ...{ afterParam: 'since_id', sizeParam: 'limit', size: 10, maxSize: 50, tooLarge: 'is clamped' },
      }),
  },
});

export const lateList = kindOf({
  title: 'A late list',
  kind: 'Verify at once and a list from a copy that is behind it: a new payment is in the one and not in the other.',
  words: { paid: 'COMPLETED', pending: 'CREATED', abandoned: 'CREATED' },
  record: usual,
  listLagMs: 2_000,
  list: {
    at: '/data/transactions',
    page: (list, query) =>
      byNumber(list, query, {
        ...{ pageParam: 'pageNumber', first: 0, sizeParam: 'pageSize' },
        ...{ size: 20, maxSize: 100, tooLarge: 'is refused' },
      }),
    told: ({ page, pageCount }) => ({ pagination: { hasNext: page + 1 < pageCount } }),
  },
  hook: {
    // The time is sent beside the signature, which does not cover it.
    sign: (secret, body, at) => ({
      'x-timestamp': String(unixMilliseconds(at.toISOString())),
      'x-webhook-signature': hmac(secret, body, SHA512_HEX),
    }),
  },
});

export const pagedDays = kindOf({
  title: 'Days in pages',
  kind: 'History only for named days without a time of day, and in pages besides; times without a zone.',
  words: { paid: 'Successful', pending: 'Processing', abandoned: 'Processing', failed: 'Unsuccessful' },
  record: (transaction, status, amount) => ({
    ...usual(transaction, status, amount),
    createdAt: isoWithoutZone(transaction.createdAt),
  }),
  list: {
    at: '/data',
    page(list, { startDate, endDate, ...query }) {
      const window = datesIn({ from: startDate, to: endDate });
      if (window === null) return 'startDate and endDate are required (YYYY-MM-DD)';
      return byNumber(within(list, window), query, {
        ...{ pageParam: 'page', first: 1, sizeParam: 'limit', size: 5, maxSize: 25, tooLarge: 'is clamped' },
      });
    },
    told: ({ hasMore }) => ({ hasMore }),
  },
});

export const onlySuccess = kindOf({
  title: 'Good news only',
  kind: 'Tells payments and nothing else, each attempt under another id; a reversal is a row of its own with a minus.',
  record: usual,
  delivery: { tells: 'payments', takes: 'any 2xx', maxAttempts: 16, on4xx: 'try again' },
  list: {
    at: '/data',
    rows: withReversalRow,
    page: (list) => whole(list),
    told: ({ total }) => ({ total }),
  },
  hook: {
    body: (data, _notice, at) => ({ id: `evt_${unixMilliseconds(at.toISOString())}`, event: 'paid', data }),
    sign: (secret, body) => ({ 'x-webhook-signature': `v1:${hmac(secret, body, SHA256_HEX)}` }),
  },
});

/** The payment's own row stays as it was paid. */
function withReversalRow(row: Record<string, unknown>, transaction: Transaction): Record<string, unknown>[] {
  if (transaction.state !== 'reversed') return [row];
  const { minor, currency } = amountOnRecord(transaction);
  const back = { ...row, id: `${transaction.id}-r`, amount: majorNumber({ minor: -minor, currency }) };
  return [back, { ...row, status: 'SUCCESS' }];
}
