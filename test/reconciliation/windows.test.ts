import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDialect } from '../../src/gateway/dialect/dialect.ts';
import { listFindings } from '../../src/cases/findings.ts';
import type { Reconcile } from '../../src/reconciliation/reconcile.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import { replayRun } from '../../src/reconciliation/report/replay.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { lastRuns } from '../../src/reconciliation/report/runs.sql.ts';
import { planRun } from '../../src/reconciliation/schedule.ts';
import type { ProfileName } from '../../local/sandbox/profiles/all.ts';
import { PROFILE_DIALECTS } from '../local/sandbox/profile-dialects.ts';
import { startProgram } from '../support/program.ts';
import { openDesk, type Desk } from './desk.ts';
import { send, sendPage, type FakeTransaction } from './fake-service.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'windows-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('payments older than the service lists at a time', () => {
  const paging = { sinceParam: 'from', untilParam: 'to', windowDays: 30 };
  let desk: Desk;
  let created: Map<string, number>;
  /** Answers a window instead of the usual way. */
  let onWindow: (call: number, res: ServerResponse) => boolean;
  let windows: number;
  beforeEach(async () => {
    desk = await openDesk();
    [created, windows, onWindow] = [new Map<string, number>(), 0, () => false];
    desk.service.answerHistory = (query, res, rows) => {
      windows += 1;
      if (onWindow(windows, res)) return;
      const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
      if (to === undefined || from === undefined || !(to - from <= 30 * DAY_MS)) send(res, '{}', 400);
      else send(res, `[${rows.filter((row) => isWithin(row, from, to)).join(',')}]`);
    };
  });
  afterEach(() => desk.close());

  /** Both ends belong to the window, so that a row at an edge stands in two of them. */
  function isWithin(row: string, from: number, to: number): boolean {
    const { id = '', reference } = JSON.parse(row) as FakeTransaction;
    const at = created.get(id) ?? created.get(reference) ?? NaN;
    return at >= from && at <= to;
  }

  /** A payment of every day, each of its own amount. @returns the sum, in major units */
  async function aPaymentADay(count: number, hasId: boolean): Promise<string> {
    let sum = 0;
    for (let days = 0; days < count; days += 1) {
      const amount = 1_000 + days;
      sum += amount;
      const transaction = { amount: `${amount / 100}`, ...(hasId && { id: `t${days}` }) };
      const age = `${days} days 1 hour`;
      const planted = await desk.put({ isConfirmed: true, amount: BigInt(amount), age }, transaction);
      created.set(planted.reference, Date.now() - days * DAY_MS - 3_600_000);
    }
    return (sum / 100).toFixed(2);
  }

  const run = (): Promise<ReconciliationReport> =>
    desk.speaking({ history: { paging: { ...paging, style: 'none' } } })({ dryRun: false });

  test.each([true, false])('are all found, and a row at an edge counts once (ids: %s)', async (hasId) => {
    const total = await aPaymentADay(100, hasId);
    const report = await run();
    expect(report).toMatchObject({
      complete: true,
      verdict: 'agreed',
      payments: 100,
      history: { references: 100 },
      identity: [{ serviceTotal: total, confirmed: total, difference: '0.00' }],
    });
    expect(windows).toBe(4);
    expect(report.history.records).toBeGreaterThan(100);
  });

  test('and went back after the end of a run: it leaves their finding open', async () => {
    const days = (ago: number): number => Date.now() - ago * DAY_MS;
    const age = { age: '40 days', confirmed: '40 days' };
    const { reference } = await desk.put({ isConfirmed: true, ...age }, { id: 'paid' });
    desk.service.history.push({ id: 'back', reference, status: 'REVERSED' });
    created.set(reference, days(40)).set('back', days(1));
    desk.service.verify.set(reference, { reference });
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
    const window = { since: new Date(days(50)), until: new Date(days(35)) };
    await desk.speaking({ history: { paging: { ...paging, style: 'none' } } })({ dryRun: false, ...window });
    expect(await listFindings(desk.database, 'test')).toMatchObject([{ class: 'reversed' }]);
  });

  test('are called absent where no window lists them', async () => {
    await aPaymentADay(70, true);
    const gone = desk.service.history.splice(65, 1).map((row) => (row as FakeTransaction).reference);
    const report = await run();
    expect(report).toMatchObject({ complete: true, findings: { absent_from_history: 1 } });
    expect(report.items.map(({ reference }) => reference)).toEqual(gone);
  });

  test('wait for the next run where a window does not come: it asks for that one and those behind it', async () => {
    await aPaymentADay(100, true);
    onWindow = (call, res) => {
      if (call < 3) return false;
      send(res, '{}', 503);
      return true;
    };
    expect(await run()).toMatchObject({ complete: false, verdict: 'incomplete' });
    expect(windows).toBe(5);
    [windows, onWindow] = [0, () => false];
    expect(await run()).toMatchObject({ verdict: 'agreed', payments: 100, history: { references: 100 } });
    expect(windows).toBe(2);
  });

  test('are not called absent where a window is refused', async () => {
    await aPaymentADay(100, true);
    onWindow = (call, res) => {
      if (call < 3) return false;
      send(res, '{}', 422);
      return true;
    };
    const report = await run();
    expect(report).toMatchObject({ complete: false, incompleteReason: expect.stringContaining('422') });
    expect(report.findings.absent_from_history).toBeUndefined();
    // Nobody answers for the list: the next run begins anew.
    expect(windows).toBe(3);
  });

  test('are not called absent where windowDays is more than the service takes', async () => {
    await aPaymentADay(100, true);
    const reconcile = desk.speaking({ history: { paging: { ...paging, windowDays: 300, style: 'none' } } });
    const report = await reconcile({ dryRun: false });
    expect(report).toMatchObject({ complete: false, incompleteReason: expect.stringContaining('400') });
    expect(report.findings.absent_from_history).toBeUndefined();
  });
});

describe('a list with the newest first, between runs over everything', () => {
  const DIALECT = { history: { paging: { style: 'page', size: 2, newestFirstBy: '/at' } } };
  const { history: rules } = parseDialect(JSON.stringify(DIALECT)).dialect;
  let desk: Desk;
  let reconcile: Reconcile;
  let rows: { text: string; ago: number }[];
  beforeEach(async () => {
    desk = await openDesk();
    reconcile = desk.speaking(DIALECT);
    rows = [];
    desk.service.answerHistory = (query, res) => {
      const newestFirst = [...rows].sort((one, other) => one.ago - other.ago);
      sendPage(
        query,
        res,
        newestFirst.map(({ text }) => text),
      );
    };
  });
  afterEach(() => desk.close());

  /** Lists a transaction so many minutes ago. `at`: the time that it shows. */
  function list(reference: string, ago: number, { status = 'SUCCESS', at = ago, id = `${ago}` } = {}): void {
    const time = new Date(Date.now() - at * 60_000).toISOString();
    const record = { id, reference, status, amount: 25, currency: 'NGN', at: time };
    rows.push({ ago, text: JSON.stringify(record) });
    desk.service.verify.set(reference, { reference });
  }

  /** A payment so many minutes ago, and its transaction. @returns its reference */
  async function paid(ago: number, { isConfirmed = true, isListed = true } = {}): Promise<string> {
    const confirmed = `${ago} minutes`;
    const { reference } = await desk.put({ isConfirmed, age: `${ago} minutes`, confirmed }, null);
    if (isListed) list(reference, ago);
    return reference;
  }

  /** The next run as the schedule plans it, a quarter of an hour after the last. The night has not come. */
  async function strike(): Promise<ReconciliationReport> {
    await desk.database.query(
      `UPDATE reconciliation_runs SET started_at = started_at - interval '15 min', since = since - interval '15 min'`,
    );
    const last = await lastRuns(desk.database, 'test');
    return reconcile({
      dryRun: false,
      ...planRun(rules, { ...last, now: last.fullCompletedAt ?? last.now }),
    });
  }
  const openClasses = async () => (await listFindings(desk.database, 'test')).map((one) => one.class);

  test('is read as far as the overlap, and what is older is neither missing nor asked about', async () => {
    for (const ago of [1_000, 900, 800, 700, 600, 100, 20]) await paid(ago);
    await paid(500, { isListed: false });
    await paid(950, { isConfirmed: false });
    const [whole, part] = [await strike(), await strike()];
    expect(whole).toMatchObject({ verdict: 'findings', payments: 9, repaired: 1, history: { pages: 4 } });
    expect(whole.window).toBeUndefined();
    expect(part).toMatchObject({
      ...{ complete: true, verdict: 'agreed', payments: 4, matched: 4, verified: 0 },
      ...{ history: { pages: 2, records: 4 }, window: { since: expect.any(String), until: null } },
    });
    expect(part).not.toHaveProperty('setAside');
    expect(formatReport(part)).toMatch(/^AGREED\..*\n.*\n?\nThis was over a window: payments made from/);
    const kept = await replayRun(desk.database, 'test', part.runId);
    expect(kept.isSame).toBe(true);
    expect(await openClasses()).toEqual(['absent_from_history']);
  });

  test('shows late what the overlap still sees, and what is later still the next whole run finds', async () => {
    await paid(1_000);
    await strike();
    await paid(100, { isConfirmed: false });
    list(await paid(300, { isConfirmed: false, isListed: false }), 300);
    await paid(290);
    expect(await strike()).toMatchObject({ verdict: 'agreed', repaired: 1 });
    expect(await strike()).toMatchObject({ verdict: 'agreed', repaired: 0 });
    expect(await reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', repaired: 1 });
  });

  test('shows in part what is wrong with an older payment: its finding stays open', async () => {
    const twice = await paid(600);
    list(twice, 30);
    for (const ago of [500, 400, 300]) await paid(ago);
    expect(await strike()).toMatchObject({ findings: { duplicate_payment: 1 } });
    expect(await strike()).toMatchObject({ complete: true, findings: {} });
    expect(await openClasses()).toEqual(['duplicate_payment']);
    rows = rows.filter(({ ago }) => ago !== 30);
    expect(await strike()).toMatchObject({ complete: true });
    expect(await openClasses()).toEqual(['duplicate_payment']);
    // The second charge is gone from the list, and its money in suspense still waits for a decision.
    expect(await reconcile({ dryRun: false })).toMatchObject({ verdict: 'findings', findings: {}, held: 1 });
    expect(await openClasses()).toEqual([]);
  });

  test('shows a second attempt at an older payment, which says nothing about the first, and its reversal', async () => {
    const [again, back] = [await paid(600), await paid(590)];
    for (const ago of [500, 400, 300]) await paid(ago);
    await strike();
    list(again, 30, { status: 'FAILED' });
    expect(await strike()).toMatchObject({ verdict: 'agreed', graced: {}, verified: 0 });
    list(back, 20, { status: 'REVERSED' });
    expect(await strike()).toMatchObject({ verdict: 'findings', findings: { reversed: 1 } });
  });

  test('closes what has come right within the overlap', async () => {
    const late = await paid(30, { isListed: false });
    for (const ago of [500, 400, 300]) await paid(ago);
    expect(await strike()).toMatchObject({ findings: { absent_from_history: 1 } });
    list(late, 30);
    expect(await strike()).toMatchObject({ verdict: 'agreed' });
    expect(await openClasses()).toEqual([]);
  });

  test('is read on from where the last complete run began, however many were not complete', async () => {
    for (const ago of [1_000, 900, 200]) await paid(ago);
    await strike();
    const { answerHistory } = desk.service;
    desk.service.answerHistory = (_query, res) => {
      send(res, '{}', 422);
    };
    for (let run = 0; run < 6; run += 1) expect(await strike()).toMatchObject({ complete: false });
    await paid(190, { isConfirmed: false });
    for (const ago of [160, 10]) await paid(ago);
    desk.service.answerHistory = answerHistory;
    expect(await strike()).toMatchObject({ verdict: 'agreed', payments: 6, repaired: 1 });
  });

  test('is read to its end where it has the oldest first', async () => {
    for (const ago of [1_000, 900, 800, 200, 100]) await paid(ago);
    await strike();
    desk.service.answerHistory = (query, res) => {
      sendPage(
        query,
        res,
        rows.map(({ text }) => text),
      );
    };
    expect(await strike()).toMatchObject({ verdict: 'agreed', history: { records: 5 } });
  });

  test('shows too little where its clock is behind: nothing is missing because of that', async () => {
    for (const ago of [1_000, 900, 110, 100, 90, 80])
      list(await paid(ago, { isListed: false }), ago, { at: ago + 1_000 });
    expect(await strike()).toMatchObject({ verdict: 'agreed', matched: 6 });
    expect(await strike()).toMatchObject({ verdict: 'agreed', payments: 4, matched: 2 });
  });
});

test.each<[ProfileName, number]>([
  ['date-window', 30],
  ['virtual-accounts', 31],
])(
  'at %s, which takes %i days at a time, a shop of two hundred days is read whole',
  async (profile, windowDays) => {
    const file = join(folder, `${profile}.json`);
    const known = PROFILE_DIALECTS[profile] as { history: { paging: object } };
    const history = {
      ...known.history,
      paging: { ...known.history.paging, sinceParam: 'from', untilParam: 'to', windowDays },
    };
    writeFileSync(file, JSON.stringify({ ...known, history }));
    const shop = await startProgram({
      profile,
      env: { GATEWAY_DIALECT: file, WEBHOOK_SECRETS: 'whsec_test' },
    });
    try {
      const { reference } = await shop.checkout();
      await shop.hand(`transactions/${reference}/pay`, { notify: false });
      const old = await shop.checkout();
      const { database } = shop.program;
      await database.query(
        `UPDATE payments SET created_at = now() - interval '200 days' WHERE reference = $1`,
        [old.reference],
      );
      const report = await shop.program.reconcile({ dryRun: false });
      expect(report).toMatchObject({ complete: true, verdict: 'agreed', payments: 2 });
      expect(report.history).toMatchObject({ references: 2, pages: expect.any(Number) });
      expect(report.history.pages).toBeGreaterThanOrEqual(7);
    } finally {
      await shop.close();
    }
  },
);
