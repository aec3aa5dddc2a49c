import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, hmac, pages, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['PAID'], pending: ['PENDING'], expired: ['EXPIRED'] });

export default {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'data.checkoutUrl')) },
  verify: { record: (answer) => at(answer, 'DATA') ?? null },
  history: {
    first: () => '/v1/transactions/history?page=1',
    rows: (page) => rows(at(page, 'DATA')),
    next: pages({ page: 'page' }),
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'REFERENCE')),
    status: classOf(text(at(record, 'STATUS')) ?? ''),
    word: text(at(record, 'STATUS')) ?? '',
    amount: figure(at(record, 'AMOUNT')),
    currency: text(at(record, 'CURRENCY')),
    id: text(at(record, 'ID')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'REFERENCE')) ?? ''],
    signature: hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' }),
  },
} satisfies ServiceAdapter;
