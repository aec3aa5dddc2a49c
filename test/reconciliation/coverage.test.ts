import { afterEach, beforeEach, describe, expect, test as testOfBoth } from '@jest/globals';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { openDesk, type Desk, type Planted } from './desk.ts';
import { send, type FakeTransaction } from './fake-service.ts';

// What a list that is not wrong may lack: what came just now, what is older than it reaches, and what a cap cuts off.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const verifies = (): string[] => desk.service.calls.filter((call) => call.startsWith('verify'));

/** A confirmed payment that verify confirms; listed or not. */
async function confirmed(age: string, isListed: boolean, confirmedAgo = age): Promise<Planted> {
  const planted = await desk.put({ isConfirmed: true, age, confirmed: confirmedAgo }, isListed ? {} : null);
  desk.service.verify.set(planted.reference, { reference: planted.reference });
  return planted;
}

/** Answers every question with these rows, and says nothing about an end. */
function listOnly(pick: (rows: string[]) => string[]): void {
  desk.service.answerHistory = (_query, res, rows) => {
    send(res, `[${pick(rows).join(',')}]`);
  };
}

describe('F2: a list that lags behind verify', () => {
  test('lacks what was confirmed a moment ago, or still calls it pending: no finding, no question, no alert', async () => {
    await confirmed('1 hour', true);
    await confirmed('2 minutes', false, '30 seconds');
    const { reference } = await confirmed('2 minutes', false, '5 minutes');
    desk.service.history.push({ reference, status: 'PENDING' });
    expect(await run()).toMatchObject({ verdict: 'agreed', complete: true, verified: 0, unclassified: 0 });
    expect(desk.alerts).toEqual([]);
  });

  test('is waited for as long as the dialect says', async () => {
    await confirmed('3 hours', true);
    await confirmed('2 hours', false, '100 minutes');
    const lagging = (lagSec: number | null) => desk.speaking({ history: { lagSec } })({ dryRun: true });
    expect(await lagging(7_200)).toMatchObject({ verdict: 'agreed' });
    expect(await lagging(3_600)).toMatchObject({ findings: { absent_from_history: 1 } });
    expect(await lagging(null)).toMatchObject({ findings: { absent_from_history: 1 } });
    await confirmed('1 hour', false, '1 minute');
    expect(await lagging(0)).toMatchObject({ findings: { absent_from_history: 2 } });
  });

  test('hides nothing that verify says against the payment', async () => {
    const { reference } = await confirmed('2 minutes', false, '30 seconds');
    await desk.database.query(
      `INSERT INTO verifications (reference, order_id, mode, outcome, http_status, body_sha256, cause)
       SELECT reference, order_id, mode, 'failed', 200, '\\x00', 'webhook' FROM payments WHERE reference = $1`,
      [reference],
    );
    desk.service.verify.set(reference, { reference, status: 'FAILED' });
    expect(await run()).toMatchObject({ findings: { paid_unconfirmed: 1 } });
  });
});

describe('C3: a list that reaches back only so far', () => {
  const DAYS = 12;
  const REACH = 5;
  async function aPaymentADay(): Promise<void> {
    for (let days = 0; days < DAYS; days += 1) await confirmed(`${days} days 3 hours`, days < REACH);
  }

  test.each([
    ['noticed', {}],
    ['named', { reachesBackDays: REACH }],
  ])('is told once, finds nothing, and asks nothing again: %s', async (_name, history) => {
    await aPaymentADay();
    const reconcile = desk.speaking({ history });
    const first = await reconcile({ dryRun: false });
    expect(first).toMatchObject({
      verdict: 'agreed',
      complete: true,
      matched: REACH,
      findings: {},
      history: { olderPayments: DAYS - REACH },
      identity: [{ classes: { older_than_list: '-175.00' }, difference: '0.00' }],
    });
    expect(formatReport(first)).toMatch(/reaches back \d days. 7 confirmed payments are older/);
    const asked = verifies().length;
    for (let again = 0; again < 3; again += 1)
      expect(await reconcile({ dryRun: false })).toMatchObject({ verdict: 'agreed', verified: 0 });
    expect(verifies()).toHaveLength(asked);
    expect(desk.alerts).toEqual([]);
  });

  test('that loses its oldest rows every day stays complete', async () => {
    for (let days = 0; days < 8; days += 1) await confirmed(`${days} days 3 hours`, true);
    desk.service.history.push({ reference: 'of another shop', status: 'FAILED' });
    const findings = { unknown_reference: 1 };
    expect(await run()).toMatchObject({ complete: true, matched: 8, findings });
    for (let lost = 1; lost < 4; lost += 1) {
      desk.service.history.splice(8 - lost, 1);
      expect(await run()).toMatchObject({ complete: true, matched: 8 - lost, findings });
    }
  });

  test('lacks a payment inside of its days: that one is a finding, the older ones are not', async () => {
    await aPaymentADay();
    const gone = await confirmed('2 days', false);
    const report = await run();
    expect(report).toMatchObject({ complete: true, findings: { absent_from_history: 1 } });
    expect(report.items[0]).toMatchObject({ reference: gone.reference });
    // It is asked about once a day, not at each run.
    expect(verifies()).toContain(`verify/${gone.reference}`);
    const asked = verifies().length;
    expect(await run()).toMatchObject({ findings: { absent_from_history: 1 } });
    expect(verifies()).toHaveLength(asked);
  });

  test('an older payment of which verify says otherwise is a finding', async () => {
    await aPaymentADay();
    const { reference } = await confirmed('20 days', false);
    desk.service.verify.set(reference, { reference, status: 'REVERSED' });
    expect(await run()).toMatchObject({ findings: { reversed: 1 } });
  });

  test('is asked about other old payments on other days', async () => {
    for (let days = 0; days < 5; days += 1) await confirmed(`${days} days 3 hours`, true);
    for (let old = 0; old < 60; old += 1) await confirmed('20 days', false);
    for (let day = 0; day < 3; day += 1) {
      await run();
      await desk.database.query(`UPDATE confirmed_payments SET confirmed_at = now() - interval '2 days'`);
    }
    expect(new Set(verifies()).size).toBeGreaterThan(20);
  });

  test('proves nothing about the balance', async () => {
    await aPaymentADay();
    expect((await run()).balances).toBeNull();
  });
});

describe('F3: a list whose end nobody told', () => {
  const orders: [string, (rows: string[]) => string[]][] = [
    ['newest first', (rows) => rows.slice(2).reverse()],
    ['oldest first', (rows) => rows.slice(0, 7)],
    ['in no order', (rows) => [5, 1, 8, 3, 6, 2, 7].map((at) => rows[at] ?? '')],
  ];
  test.each(orders)(
    'and that was cut at seven rows calls nobody absent with a whole verdict: %s',
    async (_n, pick) => {
      for (let at = 9; at > 0; at -= 1) await confirmed(`${at} hours`, true);
      listOnly(pick);
      for (let again = 0; again < 2; again += 1) {
        const report = await run();
        expect(report).toMatchObject({ complete: false, verdict: 'incomplete' });
        expect(report.findings).toEqual({ history_truncated: 2 });
        expect(report.incompleteReason).toMatch(/nothing in the answer says/);
      }
    },
  );

  test('and that is capped oldest first lacks what came later: also when an earlier run saw it whole', async () => {
    for (let at = 9; at > 2; at -= 1) await confirmed(`${at} hours`, true);
    listOnly((rows) => rows.slice(0, 7));
    expect(await run()).toMatchObject({ verdict: 'agreed', matched: 7 });
    await confirmed('2 hours', true);
    await confirmed('1 hour', true);
    const report = await run();
    expect(report).toMatchObject({ verdict: 'incomplete', findings: { history_truncated: 2 } });
  });

  test.each([
    ['newest first', true],
    ['oldest first', false],
  ])('and that lacks a payment between those it lists was not cut there: %s', async (_name, isReversed) => {
    for (let at = 9; at > 0; at -= 1) await confirmed(`${at} hours`, at !== 5);
    listOnly((rows) => (isReversed ? [...rows].reverse() : rows));
    expect(await run()).toMatchObject({ complete: true, findings: { absent_from_history: 1 } });
  });

  test('an empty one calls nobody absent', async () => {
    await confirmed('2 hours', false);
    listOnly(() => []);
    expect(await run()).toMatchObject({ verdict: 'incomplete', findings: { history_truncated: 1 } });
  });
});

describe('G14: a list without pages', () => {
  const counts = someOf([100, 50, 10], 1);
  testOfBoth.each(counts)(
    'of exactly %d rows is whole when it lists all that is confirmed',
    async (count) => {
      for (let at = 0; at < count; at += 1) await confirmed('2 hours', true);
      listOnly((rows) => rows);
      expect(await run()).toMatchObject({ verdict: 'agreed', complete: true, matched: count });
      expect(await run()).toMatchObject({ verdict: 'agreed', complete: true, matched: count });
    },
  );

  test('that is capped at fifty is not', async () => {
    for (let at = 0; at < 52; at += 1) await confirmed('2 hours', true);
    listOnly((rows) => rows.slice(0, 50));
    expect(await run()).toMatchObject({ verdict: 'incomplete', findings: { history_truncated: 2 } });
  });
});

test('a list that ignores pages and grows between two questions is read once more, not without end', async () => {
  const references: string[] = [];
  for (let at = 0; at < 5; at += 1) references.push((await confirmed('2 hours', true)).reference);
  listOnly((rows) => rows);
  const report = await run();
  expect(report).toMatchObject({ verdict: 'agreed', history: { references: 5 } });
  expect(desk.service.history.map((row) => (row as FakeTransaction).reference)).toEqual(references);
});
