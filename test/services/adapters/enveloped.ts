import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, hmac, pages, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['Successful'], pending: ['Pending'], failed: ['Declined'] });

export default {
  amountUnit: 'major',
  checkoutLifetimeMin: 30,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'data.authorization_url')) },
  verify: { record: (answer) => (at(answer, 'status') === true ? at(answer, 'data') : null) },
  history: {
    first: () => '/v1/transactions/history?page=1',
    rows: (page) => rows(at(page, 'data')),
    next: pages({ page: 'page', isLast: (page) => at(page, 'meta.hasNext') === false }),
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'reference')),
    status: classOf(text(at(record, 'status')) ?? ''),
    word: text(at(record, 'status')) ?? '',
    amount: figure(at(record, 'amount')),
    currency: text(at(record, 'currency')),
    id: text(at(record, 'id')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'data.reference')) ?? ''],
    signature: hmac({ header: 'x-signature', algorithm: 'sha512', encoding: 'hex' }),
  },
} satisfies ServiceAdapter;
