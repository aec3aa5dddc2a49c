import { timingSafeEqual } from 'node:crypto';
import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, offsets, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['DONE'], pending: ['IN REVIEW'] });

export default {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'payUrl')) },
  verify: { record: (answer) => (at(answer, 'code') === '00' ? answer : null) },
  history: {
    first: () => '/v1/transactions/history?skip=0&take=100',
    rows: (page) => rows(at(page, 'list')),
    next: offsets({ offset: 'skip' }),
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'txRef')),
    status: classOf(text(at(record, 'state')) ?? ''),
    word: text(at(record, 'state')) ?? '',
    amount: figure(at(record, 'amount')),
    currency: text(at(record, 'currency')),
    id: text(at(record, 'id')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'txRef')) ?? ''],
    signature: ({ headers, secret }) => {
      const [given, expected] = [Buffer.from(headers['verif-hash'] ?? ''), Buffer.from(secret)];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  },
} satisfies ServiceAdapter;
