import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import type { Alert } from '../../src/alerts/alert.ts';
import { planRun, createReconcileSchedule, type ScheduleParts } from '../../src/reconciliation/schedule.ts';
import type { ReconcileOptions } from '../../src/reconciliation/steps.ts';
import { ReconciliationNotDueError, ReconciliationRunningError } from '../../src/reconciliation/errors.ts';
import { composeReport, type ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { formatDifference, formatRuns } from '../../src/reconciliation/report/format-runs.ts';
import { diffRuns, replayRun, deserializeOutcome } from '../../src/reconciliation/report/replay.ts';
import { lastRuns, latestRuns } from '../../src/reconciliation/report/runs.sql.ts';
import { openDesk, type Desk } from './desk.ts';
import { asRunId } from '../support/ids.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (options: Partial<ReconcileOptions> = {}): Promise<ReconciliationReport> =>
  desk.reconcile({ dryRun: false, ...options });
const replay = (id: string) => replayRun(desk.database, 'test', asRunId(id));
const diff = (one: string, other: string) => diffRuns(desk.database, 'test', asRunId(one), asRunId(other));

test('what came after its payment was closed is kept apart, though its money agrees', async () => {
  await desk.put({ isConfirmed: true }, {});
  await desk.put({ isConfirmed: true, earlier: 'failed', amount: 700n }, { amount: '7.00' });
  await desk.put({ isConfirmed: true, earlier: 'expired', amount: 300n }, { amount: '3.00' });
  await desk.put({ isConfirmed: true, earlier: 'pending' }, {});
  expect(await run()).toMatchObject({ verdict: 'agreed', matched: 4, unclassified: 0 });
  const [kept] = await desk.database.query<{ classes: unknown }>(
    `SELECT outcome #> '{books,classes}' AS classes FROM reconciliation_runs`,
  );
  expect(kept?.classes).toContainEqual(expect.objectContaining({ class: 'matched_late', rows: '2' }));
});

describe('the report of a run is written again to the same bytes', () => {
  test('whatever happened since: ages, amounts, classes, resolutions', async () => {
    await desk.put({ isConfirmed: true }, {});
    await desk.put({}, { currency: 'KWD' });
    const underpaid = await desk.put({}, { amount: '20.00' });
    desk.service.history.push({ reference: 'evil"\u202e=1', amount: '7.50' }, '{"no":"reference"}');
    const first = await run();
    expect(first.items).toHaveLength(4);
    await desk.database.query(
      `UPDATE findings SET first_seen_at = now() - interval '40 days' WHERE class = 'underpaid'`,
    );
    const second = await run();
    expect(second.items[0]?.age).toBe('>30d');
    desk.service.history.splice(1);
    await desk.database.query(`UPDATE history_sentinels SET seen_at = now() - interval '4 days'`);
    const third = await run();
    expect(third.items.map(({ reference }) => reference)).not.toContain('evil"\u202e=1');
    expect(underpaid.reference).not.toBe('');
    for (const report of [first, second, third])
      expect(await replay(report.runId)).toMatchObject({ text: JSON.stringify(report), isSame: true });
  });

  test('with the ages of then, whatever the time is now', () => {
    const outcome = {
      runId: 'run_x',
      mode: 'test',
      startedAt: '2026-01-31T00:00:00.000Z',
      finishedAt: '2026-01-31T00:00:00.000Z',
      asOf: '2026-01-31T00:00:00.000Z',
      history: { records: 0, pages: 1, unreadable: 0 },
      problem: null,
      verified: 0,
      books: { sides: [], classes: [] },
      balances: null,
      findings: [],
      inputs: { history: '', ours: '', dialect: '' },
    };
    const items = ['2026-01-30T00:00:01.000Z', '2026-01-24T00:00:01.000Z', '2026-01-24T00:00:00.000Z'].map(
      (firstSeenAt) => ({ id: '1', class: 'underpaid', reference: 'r', orderId: null, firstSeenAt }),
    );
    expect(composeReport(deserializeOutcome({ outcome, items })).items.map(({ age }) => age)).toEqual([
      '<1d',
      '1-7d',
      '7-30d',
    ]);
  });

  test('and it shows when what is kept was changed', async () => {
    await desk.put({}, { amount: '20.00' });
    const { runId } = await run();
    await desk.database.query(
      `UPDATE reconciliation_items SET items = replace(items::text, '20.00', '25.00')::jsonb`,
    );
    expect(await replay(runId)).toMatchObject({ isSame: false });
  });

  test('but not of a run that broke off, is not there, or is of the other mode', async () => {
    const { runId } = await run();
    await desk.database.query(
      `INSERT INTO reconciliation_runs (id, mode, finished_at, complete, verdict, problem)
       VALUES ('run_broken', 'test', now(), false, 'incomplete', 'the disk was full')`,
    );
    await expect(replay('run_broken')).rejects.toThrow('the disk was full');
    await expect(replay('run_none')).rejects.toThrow('there is no run run_none');
    await expect(replayRun(desk.database, 'live', runId)).rejects.toThrow('in live mode');
  });

  test('and runs that see the same findings keep them once', async () => {
    await desk.put({}, { amount: '20.00' });
    await run();
    await run();
    const [kept] = await desk.database.query('SELECT count(*)::int AS rows FROM reconciliation_items');
    expect(kept).toEqual({ rows: 1 });
  });
});

describe('digests of what was read', () => {
  test('are the same when the same was read, in whatever order, and differ where it differs', async () => {
    const { reference } = await desk.put({ isConfirmed: true }, {});
    await desk.put({ isConfirmed: true }, {});
    const first = await run();
    desk.service.history.reverse();
    expect((await run()).inputs).toEqual(first.inputs);
    desk.service.history.push({ reference: 'other', status: 'FAILED' });
    const longer = await run();
    expect({ ...longer.inputs, history: '' }).toEqual({ ...first.inputs, history: '' });
    expect(longer.inputs.history).not.toBe(first.inputs.history);
    desk.service.history.pop();
    desk.service.history = desk.service.history.map((row) =>
      typeof row !== 'string' && row.reference === reference ? { ...row, status: 'PENDING' } : row,
    );
    expect((await run()).inputs.history).not.toBe(first.inputs.history);
    await desk.put({}, null);
    expect((await run()).inputs.ours).not.toBe(first.inputs.ours);
    const other = await desk.speaking({ statuses: { expired: ['lapsed'] } })({ dryRun: true });
    expect(other.inputs.dialect).not.toBe(first.inputs.dialect);
  });
});

describe('two runs', () => {
  test('differ by what opened, what closed and what changed its class', async () => {
    const changes = await desk.put({ isConfirmed: true }, { status: 'PENDING' });
    const closes = await desk.put({}, { amount: '20.00' });
    await desk.put({}, { amount: '30.00' });
    const first = await run();
    desk.service.history[0] = { reference: changes.reference, status: 'REVERSED' };
    desk.service.history[1] = { reference: closes.reference };
    desk.service.history.push({ reference: 'opens', amount: '7.50' });
    const second = await run();
    const difference = await diff(second.runId, first.runId);
    expect(difference).toMatchObject({ from: { id: first.runId }, to: { id: second.runId } });
    expect(difference.changes).toEqual([
      expect.objectContaining({
        change: 'changed',
        reference: changes.reference,
        before: 'paid_unconfirmed',
        after: 'reversed',
      }),
      expect.objectContaining({
        change: 'closed',
        reference: closes.reference,
        before: 'underpaid',
        closedBy: 'reconciliation',
      }),
      expect.objectContaining({ change: 'opened', reference: 'opens', after: 'unknown_reference' }),
    ]);
    expect(formatDifference(difference)).toMatch(/opened +\d+ +- +Not one of our payments +opens/);
    const third = await run();
    expect((await diff(second.runId, third.runId)).changes).toEqual([]);
    expect((await diff(first.runId, third.runId)).changes).toHaveLength(3);
  });
});

test('runs are listed with their window, their verdict and what went wrong', async () => {
  expect(formatRuns([])).toContain('npm run reconcile');
  await run();
  const since = new Date('2026-01-31T00:00:00Z');
  await run({ since });
  await run({ dryRun: true });
  desk.service.answerHistory = (_query, res) => {
    res.writeHead(503).end('\u001b[2J');
  };
  const { runId, incompleteReason } = await run();
  const runs = await latestRuns(desk.database, 'test', 10);
  expect(runs).toEqual([
    expect.objectContaining({ id: runId, verdict: 'incomplete', problem: incompleteReason, since: null }),
    expect.objectContaining({ verdict: 'agreed', since, findings: {}, records: '0' }),
    expect.objectContaining({ verdict: 'agreed', since: null }),
  ]);
  const text = formatRuns(runs);
  expect(text).toMatch(new RegExp(`^${runId} .* incomplete +0\n {4}\\S`, 'm'));
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(formatRuns(runs)).toContain('2026-01-31T00:00:00.000Z..');
});

describe('the schedule', () => {
  const at = (text: string): Date => new Date(`2026-03-${text}Z`);
  const rulesOf = (paging: object, lagSec: number | null = null) =>
    parseDialect(JSON.stringify({ history: { paging, lagSec } })).dialect.history;
  const filter = rulesOf({ sinceParam: 'from' });
  const newestFirst = rulesOf({ newestFirstBy: '/createdAt' });
  const oneList = rulesOf({ newestFirstBy: '/createdAt', style: 'none' });
  const tonight = { fullCompletedAt: at('10T02:05'), comparedTo: at('10T09:45') };
  const yesterday = { fullCompletedAt: at('09T02:05'), comparedTo: at('10T09:45') };

  test.each<[string, typeof filter, { fullCompletedAt: Date; comparedTo: Date } | null, Date | null]>([
    ['nothing was ever read', filter, null, null],
    ['the day has its whole run', filter, tonight, at('10T07:45')],
    ['the list has the newest first', newestFirst, tonight, at('10T07:45')],
    ['the list may lag for two hours', rulesOf({ sinceParam: 'from' }, 7_200), tonight, at('10T05:45')],
    ['the last whole run was yesterday, and none has completed since', filter, yesterday, null],
    [
      'nothing has completed since the whole run',
      filter,
      { ...tonight, comparedTo: at('10T02:05') },
      at('10T00:05'),
    ],
    ['the service can list no part', rulesOf({}), tonight, null],
    ['the list is always one answer', oneList, tonight, null],
  ])('is incremental only where the rest was compared today: %s', (_name, rules, last, since) => {
    const runs = {
      now: at('10T10:00'),
      finishedAt: null,
      ...(last ?? { fullCompletedAt: null, comparedTo: null }),
    };
    expect(planRun(rules, runs)).toEqual(since === null ? {} : { since });
  });

  test('before the night has come, the run of the night before counts', () => {
    const last = { finishedAt: null, fullCompletedAt: at('09T02:05'), comparedTo: at('10T01:45') };
    expect(planRun(filter, { ...last, now: at('10T01:59') })).toEqual({ since: at('09T23:45') });
    expect(planRun(filter, { ...last, now: at('10T02:00') })).toEqual({});
  });

  /** A run so many minutes ago, of a window that began so many minutes ago. */
  type Past = { ago: number; since?: number; until?: number; complete?: boolean | null };
  test.each<[string, Past[], comparedAgo: number | null]>([
    [
      'each that goes on from the one before it',
      [{ ago: 90 }, { ago: 60, since: 100 }, { ago: 30, since: 61 }],
      30,
    ],
    ['not one that was not complete', [{ ago: 90 }, { ago: 60, since: 100, complete: false }], 90],
    ['not one whose process died', [{ ago: 90 }, { ago: 60, since: 100, complete: null }], 90],
    [
      'not one that leaves a gap, nor those behind it',
      [{ ago: 90 }, { ago: 60, since: 70 }, { ago: 30, since: 65 }],
      90,
    ],
    ['not one with an end', [{ ago: 90 }, { ago: 60, since: 100, until: 80 }], 90],
    ['none without a whole run', [{ ago: 60, since: 100 }], null],
    ['not a whole run that was not complete', [{ ago: 90 }, { ago: 60, complete: false }], 90],
    ['none of before the clock was set back', [{ ago: -60 }, { ago: -30, since: -50 }], null],
    ['days that the shop was down', [{ ago: 4_400 }, { ago: 4_320, since: 4_500 }], 4_320],
  ])('knows up to when payments were compared: %s', async (_name, past, comparedAgo) => {
    const at = (minutes: number | undefined) =>
      minutes === undefined ? null : new Date(Date.now() - minutes * 60_000);
    for (const [index, { ago, since, until, complete = true }] of past.entries())
      await desk.database.query(
        `INSERT INTO reconciliation_runs (id, mode, started_at, finished_at, complete, verdict, since, until)
         VALUES ($1, 'test', $2, CASE WHEN $3::boolean IS NOT NULL THEN $2::timestamptz + interval '5 min' END, $3,
           CASE $3 WHEN true THEN 'agreed' WHEN false THEN 'incomplete' END, $4, $5)`,
        [`run_${index}`, at(ago), complete, at(since), at(until)],
      );
    const { now, comparedTo } = await lastRuns(desk.database, 'test');
    const minutes = comparedTo && Math.floor((now.getTime() - comparedTo.getTime()) / 60_000);
    expect(minutes).toBe(comparedAgo);
  });

  /** What one stroke of the clock asks for and tells, when the run ends as `reconcile` says. */
  async function stroke(reconcile: ScheduleParts['reconcile'], sinceParam: string | null): Promise<Alert[]> {
    const alerts: Alert[] = [];
    let isOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (isOver = resolve));
    const { dialect } = desk.gateway;
    const paging = { ...dialect.history.paging, sinceParam };
    const schedule = createReconcileSchedule({
      everyMin: 0.0001,
      database: desk.database,
      gateway: { mode: 'test', dialect: { ...dialect, history: { ...dialect.history, paging } } },
      clock: systemClock,
      logger: createLogger('silent'),
      alarm: (alert) => {
        if (!('over' in alert)) alerts.push(alert);
        return Promise.resolve();
      },
      reconcile: async (options) => {
        isOver();
        return reconcile(options);
      },
    });
    schedule.start();
    await over;
    await schedule.stop();
    return alerts;
  }

  test('asks for what is new once the list was read whole and can be filtered', async () => {
    await run();
    const asked: (Date | undefined)[] = [];
    const note: ScheduleParts['reconcile'] = ({ since }) => {
      asked.push(since);
      return Promise.reject(new Error('enough'));
    };
    await stroke(note, null);
    await stroke(note, 'from');
    expect([asked[0], asked.at(-1)]).toEqual([undefined, expect.any(Date)]);
  });

  test('is one run, however many workers strike at once, or one after the other', async () => {
    const strike = (): Promise<unknown> =>
      desk.reconcile({ dryRun: false, since: new Date(0), scheduledEveryMs: 3_600_000 });
    const ends = await Promise.allSettled([strike(), strike(), strike()]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(strike()).rejects.toBeInstanceOf(ReconciliationNotDueError);
    expect(await desk.database.query('SELECT complete FROM reconciliation_runs')).toEqual([
      { complete: true },
    ]);
    expect(
      await desk.database.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory'
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      ),
    ).toEqual([]);
    await desk.database.query(`UPDATE reconciliation_runs SET finished_at = now() - interval '59 minutes'`);
    const { dueInMs } = (await strike().catch((error: unknown) => error)) as ReconciliationNotDueError;
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThanOrEqual(60_000);
    await desk.database.query(`UPDATE reconciliation_runs SET finished_at = now() - interval '61 minutes'`);
    expect(await strike()).toMatchObject({ complete: true });
  });

  test('tells of runs that are skipped only when none has ended for long', async () => {
    const busy: ScheduleParts['reconcile'] = () => Promise.reject(new ReconciliationRunningError());
    await run();
    expect(await stroke(busy, null)).toEqual([]);
    await desk.database.query(`UPDATE reconciliation_runs SET finished_at = now() - interval '61 minutes'`);
    expect((await stroke(busy, null))[0]).toMatchObject({ event: 'reconciliation-skipped', mode: 'test' });
  });
});
