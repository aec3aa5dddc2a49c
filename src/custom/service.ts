import type { ServiceAdapter } from '../gateway/adapter.ts';
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
} from '../gateway/adapter-helpers.ts';

/**
 * The adapter describes the answers of your payment service. The service's reference does not show
 * them, so this file contains the most likely ones. Compare each part with a real answer (`npm run
 * probe` prints them) and change what differs. service.examples.json contains answers with the
 * expected readings, and a test checks all of them.
 *
 * An answer that this file does not cover never pays an order: the order waits, or a person gets a
 * case.
 */
const adapter: ServiceAdapter = {
  // The unit of amounts: 'major' if 25.00 naira is written as 25, 'minor' if it is written as 2500.
  amountUnit: 'major',

  // A hosted page is offered again for 60 minutes. A payment can still be paid for 8 days.
  checkoutLifetimeMin: 60,
  payableDays: 8,

  initialize: {
    // {"status": true, "data": "https://pay.example/abc"}, or {"data": {"checkoutUrl":
    // "https://pay.example/abc"}}.
    checkoutUrl: (answer) => {
      if (at(answer, 'status') === false) return { refused: text(at(answer, 'message')) ?? 'the service said no' };
      return firstText(answer, [
        'data',
        'data.authorizationUrl',
        'data.authorization_url',
        'data.checkoutUrl',
        'data.checkout_url',
        'data.checkoutLink',
        'data.link',
        'data.url',
      ]);
    },
  },

  verify: {
    // {"status": true, "message": "…", "data": {"reference": "…", "status": "SUCCESS", …}}, or the
    // record alone.
    record: (answer) => {
      if (at(answer, 'status') === false || at(answer, 'data') === null) return null;
      return isRecord(at(answer, 'data')) ? at(answer, 'data') : answer;
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
    // Set this to true if the service filters by the time in `from`.
    filters: false,
    // {"data": {"data": [rows], "hasNextPage": true}}, or {"data": [rows]}.
    rows: (page) => (at(page, 'status') === false ? null : (rows(at(page, 'data.data')) ?? rows(at(page, 'data')))),
    next: pages({ page: 'page', isLast: (page) => at(page, 'data.hasNextPage') === false }),
    // A paid payment appears in the history after 10 minutes at the latest.
    lagMin: 10,
    // The history goes back to the beginning. A number limits it to that many days.
    reachesBackDays: null,
  },

  // Reads the record of verify, and each row of the history.
  read: (record) => {
    const word = text(at(record, 'status'));
    if (!isRecord(record) || word === null) return null;
    const status = classOf(word);
    return {
      reference: text(record.reference),
      status,
      word,
      amount: figure(record.amount),
      currency: text(record.currency),
      id: text(record.id),
      mode: modeOf(record),
      // A chargeback takes the whole payment back, so an earlier refund no longer matters.
      refunded: isChargeback(word) ? null : figure(record.amount_refunded ?? record.amountRefunded ?? record.refunded),
      doubt: status === 'paid' ? doubtAbout(record, classOf) : null,
    };
  },

  webhook: {
    // {"event": "…", "data": {"reference": "…"}}, or {"reference": "…"}, or a list of such events.
    references: (body) => referencesIn(body),
    // The header x-signature holds the HMAC of the raw body. Set this to null if webhooks are not
    // signed.
    signature: hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' }),
  },
};

export default adapter;

/**
 * The service's status words. Case does not matter. A word that is missing here means neither paid
 * nor failed.
 */
const classOf = words({
  paid: ['success', 'successful', 'succeeded', 'paid', 'completed'],
  pending: ['pending', 'in_review', 'processing', 'initiated', 'abandoned', 'ongoing'],
  failed: ['failed', 'declined', 'cancelled', 'canceled'],
  expired: ['expired'],
  reversed: ['reversed', 'refunded', 'chargeback', 'charged_back'],
});

/** Whether the payment was reversed by a chargeback and not by a refund. */
function isChargeback(word: string): boolean {
  return classOf(word) === 'reversed' && !/refund/i.test(word);
}
