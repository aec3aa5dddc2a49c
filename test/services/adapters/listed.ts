import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, hmac, rows, text, withQuery, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['succeeded'], pending: ['requires_payment_method'] });
const idOf = (page: unknown, row: number) => text(at(page, `data.${row}.id`)) ?? '';

export default {
  amountUnit: 'minor',
  checkoutLifetimeMin: 1_440,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'url')) },
  verify: { record: (answer) => (at(answer, 'error') === undefined ? answer : null) },
  history: {
    first: () => '/v1/transactions/history?limit=100',
    rows: (page) => rows(at(page, 'data')),
    next: (page, { path, rows }) =>
      at(page, 'has_more') === true ? withQuery(path, { starting_after: idOf(page, rows - 1) }) : null,
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => ({
    reference: text(at(record, 'client_reference_id')),
    status: classOf(text(at(record, 'status')) ?? ''),
    word: text(at(record, 'status')) ?? '',
    amount: figure(at(record, 'amount_total')),
    currency: text(at(record, 'currency')),
    id: text(at(record, 'id')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'client_reference_id')) ?? ''],
    signature: hmac({
      ...{ header: 'sig', algorithm: 'sha256', encoding: 'hex', toleranceSec: 300 },
      ...{
        list: { timestamp: 't', signature: 'v1' },
        signs: ({ timestamp, body }) => `${timestamp}.${body.toString()}`,
      },
    }),
  },
} satisfies ServiceAdapter;
