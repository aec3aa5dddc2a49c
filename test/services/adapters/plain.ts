import type { ServiceAdapter } from '../../../src/gateway/adapter.ts';
import { at, figure, rows, text, words } from '../../../src/gateway/adapter-helpers.ts';

const classOf = words({ paid: ['paid'], pending: ['open'] });

export default {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: { checkoutUrl: (answer) => text(at(answer, 'data')) },
  verify: { record: (answer) => (at(answer, 'reference') === undefined ? null : answer) },
  history: {
    first: () => '/v1/transactions/history',
    rows,
    next: () => null,
    ...{ filters: false, lagMin: 10, reachesBackDays: null },
  },
  read: (record) => {
    const word = text(at(record, 'status'));
    if (word === null) return null;
    return {
      reference: text(at(record, 'reference')),
      status: classOf(word),
      word,
      amount: figure(at(record, 'amount')),
      currency: text(at(record, 'currency')),
    };
  },
  webhook: { references: (body) => [text(at(body, 'reference')) ?? ''], signature: null },
} satisfies ServiceAdapter;
