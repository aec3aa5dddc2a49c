import { LosslessNumber } from 'lossless-json';
import { json, type Answer } from '../../../local/sandbox/api/answer.ts';
import { kindOf, type Fields, type Kind } from '../../../local/sandbox/profiles/kind.ts';
import type { Profile } from '../../../local/sandbox/profiles/profile.ts';
import { longNumber, majorNumber, minorNumber } from '../../../local/sandbox/profiles/shapes/amounts.ts';
import { afterId, byNumber, byOffset, type Sizes } from '../../../local/sandbox/profiles/shapes/paging.ts';
import { isoWithoutZone } from '../../../local/sandbox/profiles/shapes/times.ts';
import { windowIn, within } from '../../../local/sandbox/profiles/shapes/windows.ts';
import { defaultDialect } from '../../support/dialect.ts';

// Services that no profile is: each has several traps at once, and pages of two rows.

const usual: Fields = ({ id, reference, createdAt }, status, amount) => ({
  ...{ id, reference, status, amount: majorNumber(amount), currency: amount.currency, createdAt },
});
const SIZES: Sizes = { sizeParam: 'limit', size: 2, maxSize: 2, tooLarge: 'is clamped' };
const byPage: Kind['list']['page'] = (list, query) =>
  byNumber(list, query, { ...SIZES, pageParam: 'page', first: 1 });
const service = (data: Pick<Kind, 'list'> & Partial<Kind>): Profile =>
  kindOf({ title: 'A test', kind: 'A test.', record: usual, ...data });

export type Hostile = {
  service: Profile;
  dialect?: object;
  sku?: string;
  /** Where the orders end: paid and told, paid and not told, underpaid, declined. */
  ends: [string, string, string, string];
  report: object;
  /** Its money cannot be read, or is told in two units: then it is raised and in no sum. */
  isMisread?: true;
};

const READ: Hostile['ends'] = ['paid', 'paid', 'review', 'failed'];
/** What is said of all that the service has. */
export const ALL = { complete: true, findings: { underpaid: 1, unknown_reference: 1 } };
const { paid } = defaultDialect.statuses;

const counted = service({ list: { at: '/data', page: byPage } });
/** As often as a page is asked for in one run. */
let failures = 3;
const failing = ({ page }: { page?: unknown }): Answer | null => {
  if (page !== '2' || failures === 0) return null;
  failures -= 1;
  return json(200, { status: false, message: 'try again later', data: [] });
};

export const HOSTILE: Record<string, Hostile> = {
  'texts of kobo with separators, the oldest first behind a cursor, a list that is late': {
    service: service({
      unit: 'minor',
      listLagMs: 500,
      record: (transaction, status, amount) => ({
        ...usual(transaction, status, amount),
        amount: amount.minor.toLocaleString('en'),
      }),
      list: {
        at: '/data',
        order: 'oldest first',
        page: (list, query) => afterId(list, query, { ...SIZES, afterParam: 'after' }),
      },
    }),
    dialect: {
      amountUnit: 'minor',
      history: { paging: { style: 'cursor', cursorParam: 'after', cursorFromRow: '/id' } },
    },
    ends: ['review', 'review', 'review', 'failed'],
    report: { complete: true, findings: { unreadable: 4 } },
    isMisread: true,
  },
  'our reference in capitals, statuses in small letters': {
    service: service({
      words: { paid: 'success', failed: 'failed' },
      record: (transaction, status, amount) => ({
        ...usual(transaction, status, amount),
        reference: transaction.reference.toUpperCase(),
      }),
      list: { at: '/data', page: byPage, told: ({ total }) => ({ total }) },
    }),
    ends: ['review', 'review', 'review', 'review'],
    report: { complete: true, findings: { unknown_reference: 5 } },
    isMisread: true,
  },
  'two rows of a payment with different words, the older one first, pages that repeat their edge': {
    service: service({
      record: ({ id, reference }, status, amount) => ({
        ...{ id, reference, status, amount: { value: longNumber(amount), currency: amount.currency } },
      }),
      list: {
        at: '/data/data',
        page: (list, query) => {
          const rows = (skip: number, take: number): ReturnType<typeof list.rows> =>
            list.rows(Math.max(skip - 1, 0), take + (skip > 0 ? 1 : 0));
          return byPage({ ...list, rows }, query);
        },
        rows: (row, { id, state }) =>
          state === 'pending' ? [row] : [{ ...row, id: `${id}-1`, status: 'PENDING' }, row],
        told: ({ hasMore }) => ({ hasNextPage: String(hasMore) }),
      },
    }),
    ends: READ,
    report: ALL,
  },
  'a page that is a failure inside 200 for a while': {
    service: { ...counted, history: (list, query) => failing(query) ?? counted.history(list, query) },
    ends: READ,
    report: { complete: false },
  },
  "somebody else's record for what it does not know yet, HTML for a refusal, a total of nothing": {
    service: service({
      hiddenForMs: 1_500,
      unknown: (_reference, neighbour) =>
        neighbour === null
          ? { status: 404, type: 'html', body: '<html></html>' }
          : json(200, { status: 'true', data: usual(neighbour, 'SUCCESS', neighbour.asked) }),
      list: { at: '/data/data', page: byPage, told: () => ({ meta: { total: null } }) },
    }),
    ends: READ,
    report: ALL,
  },
  'francs with decimals in texts, times without a zone, a total in texts, offsets': {
    service: service({
      words: { paid: 'Complete', failed: 'Canceled' },
      record: (transaction, status, amount) => ({
        ...usual(transaction, status, amount),
        amount: longNumber(amount).value,
        createdAt: isoWithoutZone(transaction.createdAt),
      }),
      list: {
        at: '/data/list',
        page: (list, query) => byOffset(list, query, { ...SIZES, skipParam: 'skip' }),
        told: ({ total }) => ({ meta: { total: String(total) } }),
      },
    }),
    dialect: {
      statuses: { paid: [...paid, 'complete'] },
      history: { records: ['/data/list'], paging: { style: 'offset', pageParam: 'skip' } },
    },
    sku: 'cafe-touba',
    ends: READ,
    report: { complete: true, findings: { underpaid: 1, unknown_reference: 1 } },
  },
  'exponents, ids beyond a double, days in pages, a list that is late': {
    service: service({
      listLagMs: 500,
      record: (transaction, status, amount) => ({
        ...usual(transaction, status, amount),
        id: new LosslessNumber(`90071992547409${String(amount.minor)}`),
        amount: new LosslessNumber(`${String(amount.minor)}e-2`),
      }),
      list: {
        at: '/data',
        page: (list, { from, to, ...query }) => {
          const window = windowIn({ from, to });
          return window === null ? 'from and to are required' : byPage(within(list, window), query);
        },
        told: ({ page, pageCount }) => ({ meta: { page, last_page: pageCount } }),
      },
    }),
    dialect: { history: { paging: { sinceParam: 'from', untilParam: 'to', windowDays: 1 } } },
    ends: READ,
    report: ALL,
  },
  'a list in kobo behind a verify in naira': {
    service: service({
      list: {
        at: '/data',
        row: (transaction, status, amount) => ({
          ...usual(transaction, status, amount),
          amount: minorNumber(amount),
        }),
        page: byPage,
        told: ({ hasMore }) => ({ has_more: hasMore }),
      },
    }),
    ends: READ,
    report: {
      complete: true,
      findings: { overpaid: 1, unknown_reference: 1 },
      graced: { sources_disagree: 2 },
    },
    isMisread: true,
  },
};
