import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, hmac, link, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['success'], pending: ['new'] });

export default {
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'link')) },
  verify: { record: (answer) => at(answer, '0') ?? null },
  history: {
    first: () => '/v1/transactions/history',
    rows: (page) => rows(at(page, 'results')),
    next: link({ at: 'next' }),
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'tx_ref')),
    status: classOf(text(at(record, 'status')) ?? ''),
    word: text(at(record, 'status')) ?? '',
    amount: figure(at(record, 'amount')),
    currency: text(at(record, 'currency')),
    id: text(at(record, 'transaction_id')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'tx_ref')) ?? ''],
    acknowledgement: { status: 200, contentType: 'text/plain', body: 'OK' },
    signature: hmac({ header: 'x-hub-signature', algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' }),
  },
} satisfies ServiceAdapter;
