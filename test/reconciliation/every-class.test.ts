import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { fillBooks } from '../support/formula-books.ts';
import { createWriter, paidOf, RECORD } from '../support/formula.ts';
import { closeFinding } from '../../src/cases/findings.sql.ts';
import { newId } from '../../src/platform/ids.ts';
import type { ReconciliationClass } from '../../src/cases/classes.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { plant, type PlantedPayment } from './books.ts';
import { openDesk, type Desk } from './desk.ts';
import { someOf } from '../support/extent.ts';
import { send, textOf, type FakeTransaction } from './fake-service.ts';

/** Rows of which nothing is to be said, around the planted ones. With CLASS_ROWS=100000 a part of `npm run bench -- reconcile-soak`. */
const FILLER = Number(process.env.CLASS_ROWS ?? '2000');
/** Of each kind. */
const EACH = 3;

let desk: Desk;
/** The whole list, in the service's order. */
const list: string[] = [];
beforeAll(async () => {
  desk = await openDesk();
  await fillBooks(desk.url, FILLER);
  const filler = createWriter(RECORD)(1, FILLER).toString().split('},{');
  for (const [at, part] of filler.entries())
    list.push(`${at === 0 ? '' : '{'}${part.replace(/,$/, '')}${at === filler.length - 1 ? '' : '}'}`);
  // Rows move between pages while a list is read: some stand in it twice, far apart.
  for (let at = 0; at < FILLER; at += 97) list.push(list[at] ?? '');
  for (let round = 0; round < EACH; round += 1) for (const kind of KINDS) await kind.put();
});
afterAll(() => desk.close());

/** A payment, what the history lists of it (null: nothing) and what verify answers (null: not found). */
async function put(
  payment: PlantedPayment,
  listed: Partial<FakeTransaction> | null,
  answered: Partial<FakeTransaction> | null = listed,
): Promise<{ reference: string; orderId: string }> {
  const planted = await plant(desk.database, payment);
  const { reference } = planted;
  desk.service.verify.set(reference, answered && { reference, ...answered });
  // In the middle of the list, where page edges are.
  if (listed !== null) list.splice(list.length >> 1, 0, textOf({ id: newId(), reference, ...listed }));
  return planted;
}

type Kind = { name: string; class: ReconciliationClass; put(): Promise<unknown> };

const KINDS: Kind[] = [
  { name: 'less money', class: 'underpaid', put: () => put({}, { amount: '20.00' }) },
  { name: 'more money', class: 'overpaid', put: () => put({}, { amount: '25.01' }) },
  { name: 'minor for major units', class: 'unit_error', put: () => put({}, { amount: '2500' }) },
  { name: 'other currency', class: 'currency_mismatch', put: () => put({}, { currency: 'USD' }) },
  { name: 'other mode', class: 'mode_mismatch', put: () => put({ mode: 'live' }, {}) },
  {
    name: 'second payment of an order',
    class: 'duplicate_payment',
    put: async () => {
      const { orderId } = await put({ isConfirmed: true }, {});
      await put({ orderId, status: 'failed' }, {});
    },
  },
  {
    name: 'two charges on one reference (two rows)',
    class: 'duplicate_payment',
    put: async () => {
      const { reference } = await put({ isConfirmed: true }, {});
      list.unshift(textOf({ id: newId(), reference }));
    },
  },
  {
    name: 'not ours',
    class: 'unknown_reference',
    put: () => Promise.resolve(list.push(textOf({ reference: `other-${newId()}`, amount: '7.50' }))),
  },
  { name: 'confirmed and absent', class: 'absent_from_history', put: () => put({ isConfirmed: true }, null) },
  {
    name: 'open, old and absent: expires by its last verify',
    class: 'failed',
    put: () => put({ age: '9 days' }, null),
  },
  {
    name: 'confirmed and pending there',
    class: 'paid_unconfirmed',
    put: () => put({ isConfirmed: true }, { status: 'PENDING' }),
  },
  {
    name: 'confirmed and taken back',
    class: 'reversed',
    put: () => put({ isConfirmed: true }, { status: 'REVERSED' }),
  },
  { name: 'unknown word', class: 'unknown_status', put: () => put({}, { status: 'COLLECTED' }) },
  {
    name: 'paid there, pending by verify',
    class: 'sources_disagree',
    put: () => put({}, {}, { status: 'PENDING' }),
  },
  {
    name: 'expired, paid there, pending by verify (two things at once)',
    class: 'sources_disagree',
    put: () => put({ status: 'expired' }, {}, { status: 'PENDING' }),
  },
  {
    name: 'unreadable amount',
    class: 'unreadable',
    put: () => put({ isConfirmed: true }, { amount: '"25,00"' }, {}),
  },
  { name: 'no record at all', class: 'unreadable', put: () => Promise.resolve(list.push(`"${newId()}"`)) },
  // What is no finding.
  {
    name: 'paid after it had failed',
    class: 'matched_late',
    put: () => put({ isConfirmed: true, earlier: 'failed' }, {}),
  },
  { name: 'open on both sides', class: 'open', put: () => put({}, { status: 'PENDING' }) },
  {
    name: 'failed on both sides',
    class: 'failed',
    put: () => put({ status: 'failed' }, { status: 'FAILED' }),
  },
  { name: 'missed', class: 'repaired', put: () => put({}, {}) },
  {
    name: 'listed twice, pending and then paid (two rows)',
    class: 'matched',
    put: async () => {
      const { reference } = await put({ isConfirmed: true }, null, {});
      const id = newId();
      list.unshift(textOf({ id, reference, status: 'PENDING' }));
      list.push(textOf({ id, reference }));
    },
  },
];

const expectedFindings = (): ReconciliationReport['findings'] => {
  const quiet = new Set<ReconciliationClass>(['matched', 'matched_late', 'open', 'failed', 'repaired']);
  const counts: Partial<Record<ReconciliationClass, number>> = {};
  for (const { class: name } of KINDS) if (!quiet.has(name)) counts[name] = (counts[name] ?? 0) + EACH;
  return counts;
};

type Service = (query: URLSearchParams, res: ServerResponse) => void;
const part = (from: number, to: number): string => list.slice(from, to).join(',');
const number = (query: URLSearchParams, name: string, other = 0): number => Number(query.get(name) ?? other);
const SIZE = 100;

const styles: [string, object, Service][] = [
  [
    'none',
    { style: 'none' },
    (_query, res) => {
      send(res, `{"data":[${part(0, list.length)}]}`);
    },
  ],
  [
    'page, to the empty one',
    { style: 'page' },
    (query, res) => {
      const page = number(query, 'page');
      send(res, `[${part((page - 1) * SIZE, page * SIZE)}]`);
    },
  ],
  [
    'page, with a limit that is clamped to seventy',
    { style: 'page' },
    (query, res) => {
      const page = number(query, 'page');
      send(res, `{"data":[${part((page - 1) * 70, page * 70)}],"total":${list.length}}`);
    },
  ],
  [
    'offset',
    { style: 'offset', pageParam: 'skip', sizeParam: 'take' },
    (query, res) => {
      const from = number(query, 'skip');
      send(res, `[${part(from, from + SIZE)}]`);
    },
  ],
  [
    'cursor',
    { style: 'cursor' },
    (query, res) => {
      const to = number(query, 'cursor') + SIZE;
      send(res, `{"data":[${part(to - SIZE, to)}],"meta":{"next":${to < list.length ? `"${to}"` : 'null'}}}`);
    },
  ],
  [
    'link',
    { style: 'link' },
    (query, res) => {
      const to = number(query, 'after') + SIZE;
      const next = to < list.length ? `"/v1/transactions/history?after=${to}"` : 'null';
      send(res, `{"data":[${part(to - SIZE, to)}],"links":{"next":${next}}}`);
    },
  ],
  [
    'auto over pages',
    {},
    (query, res) => {
      const page = number(query, 'page', 1);
      send(
        res,
        `{"data":{"data":[${part((page - 1) * SIZE, page * SIZE)}],"hasNextPage":${page * SIZE < list.length}}}`,
      );
    },
  ],
  [
    'auto over one list',
    {},
    (_query, res) => {
      send(res, `[${part(0, list.length)}]`);
    },
  ],
];

/** How many open findings a run has stored, by class. */
async function storedBy({ runId }: ReconciliationReport, isRaised: boolean): Promise<object> {
  const rows = await desk.database.query<{ class: string; count: number }>(
    `SELECT class, count(*)::int FROM findings
     WHERE last_run_id = $1 AND closed_at IS NULL AND (raised_at IS NOT NULL) = $2 GROUP BY class`,
    [runId, isRaised],
  );
  return Object.fromEntries(rows.map(({ class: name, count }) => [name, count]));
}

/** What two runs over the same books must agree on. */
const lasting = ({
  complete,
  verdict,
  payments,
  matched,
  unclassified,
  identity,
  findings,
  items,
  history,
}: ReconciliationReport) => ({
  complete,
  verdict,
  payments,
  matched,
  unclassified,
  identity,
  findings,
  items,
  references: history.references,
  unreadable: history.unreadable,
});

describe('every class among many rows that agree, and the money adds up', () => {
  let first: ReturnType<typeof lasting> | undefined;

  test('in the first run, which repairs what was missed', async () => {
    desk.service.answerHistory = (_query, res) => {
      send(res, `[${part(0, list.length)}]`);
    };
    const report = await desk.reconcile({ dryRun: false });
    expect(report).toMatchObject({ complete: true, verdict: 'findings', repaired: EACH, unclassified: 0 });
    const { sources_disagree: contradictions, ...others } = expectedFindings();
    expect(report.findings).toEqual(others);
    expect(report.graced).toEqual({ sources_disagree: contradictions });
    await desk.database.query(`UPDATE findings SET first_seen_at = first_seen_at - interval '61 minutes'`);
    expect(report.identity.map(({ difference }) => Number(difference))).toEqual(report.identity.map(() => 0));
  });

  test.each(someOf(styles, 2))('twice the same: %s', async (_name, paging, service) => {
    desk.service.answerHistory = service;
    const reconcile = desk.speaking({ history: { paging } });
    const reports = [
      lasting(await reconcile({ dryRun: false })),
      lasting(await reconcile({ dryRun: false })),
    ];
    first ??= reports[0];
    expect(reports).toEqual([first, first]);
    expect(first).toMatchObject({ complete: true, unclassified: 0, findings: expectedFindings() });
    // The filler; the first payments of twice paid orders; late, repaired and twice listed ones.
    expect(first?.matched).toBe(paidOf(FILLER) + 4 * EACH);
    expect(first?.identity.filter(({ difference }) => Number(difference) !== 0)).toEqual([]);
  });

  test('and what a run reports by class is what it has stored as open, beside what a person has closed', async () => {
    const closed = await desk.database.query<{ id: bigint }>(
      `SELECT min(id) AS id FROM findings WHERE class IN ('absent_from_history', 'unknown_status') GROUP BY class`,
    );
    for (const { id } of closed)
      expect(await closeFinding(desk.database, 'test', { id, by: 'ada', note: 'Known.', seen: null })).toBe(
        true,
      );
    // One kind of contradiction is younger than an hour again.
    await desk.database.query(
      `UPDATE findings SET raised_at = NULL, first_seen_at = now() WHERE class = 'paid_unconfirmed'`,
    );
    const report = await desk.reconcile({ dryRun: false });
    expect(report.findings).toMatchObject({ absent_from_history: EACH - 1, unknown_status: EACH - 1 });
    expect(report.findings).toEqual(await storedBy(report, true));
    expect([report.graced, Object.keys(report.graced)]).toEqual([
      await storedBy(report, false),
      ['paid_unconfirmed'],
    ]);
    expect(report.items).toHaveLength(Object.values(report.findings).reduce((sum, count) => sum + count, 0));
  });
});
