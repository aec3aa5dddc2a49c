import type { ServiceAdapter } from '../src/gateway/adapter.ts';
import {
  at,
  doubtAbout,
  figure,
  firstText,
  hmac,
  isRecord,
  modeOf,
  pages,
  referencesIn,
  rows,
  text,
  withQuery,
  words,
} from '../src/gateway/adapter-helpers.ts';

/** The sandbox's status words, and further words that tests use. */
const classOf = words({
  paid: ['success', 'paid'],
  pending: ['pending', 'in_review', 'abandoned'],
  failed: ['failed', 'declined', 'cancelled'],
  expired: ['expired'],
  reversed: ['reversed', 'refunded', 'chargeback'],
});

/**
 * The adapter of the sandbox. `npm start` uses it while the service is the sandbox, and so do the
 * tests. It does not depend on src/custom/service.ts, so you can change that file without affecting
 * the sandbox.
 */
const adapter: ServiceAdapter = {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: {
    checkoutUrl: (answer) => {
      if (at(answer, 'status') === false) return { refused: text(at(answer, 'message')) ?? 'the sandbox refused' };
      return firstText(answer, ['data', 'data.authorizationUrl', 'data.authorization_url']);
    },
  },
  verify: {
    record: (answer) => {
      const data = at(answer, 'data');
      if (at(answer, 'status') === false || data === null) return null;
      return isRecord(data) ? data : answer;
    },
  },
  history: {
    first: ({ since, until }) =>
      withQuery('/v1/transactions/history', {
        page: 1,
        limit: 100,
        ...(since && { from: since.toISOString() }),
        ...(until && { to: until.toISOString() }),
      }),
    filters: false,
    rows: (page) => rows(at(page, 'data.data')),
    next: pages({ page: 'page', isLast: (page) => at(page, 'data.hasNextPage') === false }),
    lagMin: 10,
    reachesBackDays: null,
  },
  read: (record) => {
    const word = text(at(record, 'status'));
    if (!isRecord(record) || word === null) return null;
    const status = classOf(word);
    // For a refund or a reversal, the sandbox shows the returned amount. A chargeback takes the
    // whole amount.
    const refunded = /^(chargeback|reversed)$/i.test(word) ? null : figure(record.amount_refunded);
    return {
      reference: text(record.reference),
      status,
      word,
      amount: figure(record.amount),
      currency: text(record.currency),
      id: text(record.id),
      mode: modeOf(record),
      refunded,
      doubt: status === 'paid' ? doubtAbout(record, classOf) : null,
    };
  },
  webhook: {
    references: (body) => referencesIn(body),
    signature: hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' }),
  },
};

export default adapter;
