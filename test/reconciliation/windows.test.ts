import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import type { ProfileName } from '../../local/sandbox/profiles/all.ts';
import { PROFILE_DIALECTS } from '../local/sandbox/profile-dialects.ts';
import { startProgram } from '../support/program.ts';
import { openDesk, type Desk } from './desk.ts';
import { send, type FakeTransaction } from './fake-service.ts';

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
    const at = created.get((JSON.parse(row) as FakeTransaction).reference) ?? NaN;
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
