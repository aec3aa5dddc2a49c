import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, hmac, rows, text, withQuery, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['Paid'], pending: ['Created'] });
const wordOf = (record: unknown) => text(at(rows(at(record, 'events'))?.at(-1), 'status')) ?? '';

export default {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, '_links.checkout.href')) },
  verify: { record: (answer) => at(answer, 'payment') ?? null },
  history: {
    first: () => '/v1/transactions/history?page=0',
    rows: (page) => rows(at(page, 'payments')),
    next: (_page, { path, number, rows }) => (rows === 0 ? null : withQuery(path, { page: number })),
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'merchantReference')),
    status: classOf(wordOf(record)),
    word: wordOf(record),
    amount: figure(at(record, 'amount.value')),
    currency: text(at(record, 'amount.currency')),
    id: text(at(record, 'id')),
  }),
  webhook: {
    references: (body) =>
      (rows(at(body, 'batch.items')) ?? []).map((item) => text(at(item, 'merchantReference')) ?? ''),
    signature: hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' }),
  },
} satisfies ServiceAdapter;
