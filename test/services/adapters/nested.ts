import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, cursor, figure, hmac, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['CAPTURED'], pending: ['CREATED'], reversed: ['VOIDED'] });

export default {
  amountUnit: 'minor',
  checkoutLifetimeMin: 15,
  payableDays: 8,
  initialize: {
    body: (fields) => ({ order: fields }),
    checkoutUrl: (answer) => text(at(answer, 'response.links.1.href')),
  },
  verify: { record: (answer) => at(answer, 'response') ?? null },
  history: {
    first: () => '/v1/transactions/history',
    rows: (page) => rows(at(page, 'response.content')),
    next: cursor({ parameter: 'cursor', at: 'response.next' }),
    ...{ filters: false, lagMin: 10, reachesBackDays: 90 },
  },
  read: (record) => ({
    reference: text(at(record, 'payment.order.reference')),
    status: classOf(text(at(record, 'payment.state')) ?? ''),
    word: text(at(record, 'payment.state')) ?? '',
    amount: figure(at(record, 'payment.order.amount')),
    currency: text(at(record, 'payment.order.currency')),
    id: text(at(record, 'payment.id')),
  }),
  webhook: {
    references: (body) => [text(at(body, 'payment.order.reference')) ?? ''],
    signature: hmac({
      ...{ header: 'x-sign', algorithm: 'sha256', encoding: 'base64', timestampHeader: 'x-time', toleranceSec: 300 },
      signs: ({ timestamp, body }) => `${timestamp}.${body.toString()}`,
    }),
  },
} satisfies ServiceAdapter;
