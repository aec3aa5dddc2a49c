import type { Reading, ServiceAdapter } from '../gateway/adapter.ts';
import { at, figure, hmac, pages, rows, text, withQuery, words } from '../gateway/adapter-helpers.ts';

/**
 * What the service's answers look like. The reference leaves that open, so this is the most probable shape. Hold one
 * real answer beside each part, and change what differs. What is not covered here is not paid: it waits, or it becomes
 * a case for a person.
 */
const adapter: ServiceAdapter = {
  amountUnit: 'major',
  checkoutLifetimeMin: 60,
  payableDays: 8,
  initialize: {
    // {"status": true, "data": "https://pay.example/abc"}, or an object in data that has the address.
    checkoutUrl: (answer) => {
      if (at(answer, 'status') === false) return { refused: text(at(answer, 'message')) ?? 'the service said no' };
      const data = at(answer, 'data');
      const named = [
        'authorizationUrl',
        'authorization_url',
        'checkoutUrl',
        'checkout_url',
        'checkoutLink',
        'link',
        'url',
      ];
      return [data, ...named.map((name) => at(data, name))].find((one) => typeof one === 'string') ?? null;
    },
  },
  verify: {
    // {"status": true, "message": "…", "data": {"reference": "…", "status": "SUCCESS", …}}, or the bare record.
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
    filters: false,
    // {"data": {"data": [rows], "hasNextPage": true}}, or {"data": [rows]}.
    rows: (page) => (at(page, 'status') === false ? null : (rows(at(page, 'data.data')) ?? rows(at(page, 'data')))),
    next: pages({ page: 'page', isLast: (page) => at(page, 'data.hasNextPage') === false }),
    lagMin: 10,
    reachesBackDays: null,
  },
  read: (record) => {
    const word = isRecord(record) ? text(record.status) : null;
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
      // Of a chargeback it is what was refunded before: nothing is left of the rest.
      refunded: isTakenBack(word) ? null : figure(record.amount_refunded ?? record.amountRefunded ?? record.refunded),
      doubt: status === 'paid' ? doubtAbout(record) : null,
    };
  },
  webhook: {
    // {"event": "…", "data": {"reference": "…"}}, or flat, or a list of such.
    references: (body) => {
      const events = [body, at(body, 'data'), at(body, 'events')].flatMap((part) => rows(part) ?? [part]);
      const named = events.flatMap((event) => [at(event, 'reference'), at(event, 'data.reference')]);
      return named.filter((one) => typeof one === 'string');
    },
    signature: hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' }),
  },
};

export default adapter;

/** Words, in any case of letters, are neither paid nor failed until they stand here. */
const classOf = words({
  paid: ['success', 'successful', 'succeeded', 'paid', 'completed'],
  pending: ['pending', 'in_review', 'processing', 'initiated', 'abandoned', 'ongoing'],
  failed: ['failed', 'declined', 'cancelled', 'canceled'],
  expired: ['expired'],
  reversed: ['reversed', 'refunded', 'chargeback', 'charged_back'],
});

const isTakenBack = (word: string): boolean => classOf(word) === 'reversed' && !/refund/i.test(word);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What was really paid, where a service says so beside the amount. */
const OTHER_AMOUNTS = ['Received', 'Paid', 'Captured', 'Collected'].flatMap((deed) => {
  const small = deed.toLowerCase();
  return [`amount${deed}`, `amount_${small}`, `${small}Amount`, `${small}_amount`];
});
const OTHER_STATUSES = ['paymentStatus', 'payment_status', 'transactionStatus', 'transaction_status'];
const DENIALS = ['refunded', 'reversed', 'disputed'];

/** What stands beside `status: SUCCESS` and denies it. Fees, net and settled amounts deny nothing. */
function doubtAbout(record: Record<string, unknown>): string | null {
  const inner = text(at(record, 'amount.currency'));
  if (inner !== null && inner !== record.currency) return 'the currency inside the amount differs';
  for (const [name, value] of Object.entries(record)) {
    const amount = OTHER_AMOUNTS.includes(name) ? figure(value) : null;
    if (amount !== null && Number(amount) !== Number(record.amount)) return `${name} differs from amount`;
    const other = OTHER_STATUSES.includes(name) ? text(value) : null;
    if (other !== null && classOf(other) !== 'paid') return `${name} says ${other}`;
    if (value === true && DENIALS.includes(name)) return `${name} is true`;
    if (isRecord(value) && 'status' in value && ('amount' in value || 'reference' in value))
      return `its status may be the call's own: ${name} has a status, too`;
  }
  return null;
}

/** Rows of a live list may be of test mode. */
function modeOf(record: Record<string, unknown>): Reading['mode'] {
  const words = [record.mode, record.environment].map((word) => text(word)?.toLowerCase() ?? '');
  const says = (...known: string[]): boolean => words.some((word) => known.includes(word));
  if (record.livemode === false || record.isTest === true || says('test', 'sandbox')) return 'test';
  return record.livemode === true || says('live', 'production') ? 'live' : null;
}
