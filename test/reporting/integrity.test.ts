import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWorkerWatch, beat } from '../../src/platform/heartbeat.sql.ts';
import { checkIntegrity, checkIntegrityWeekly } from '../../src/reporting/integrity.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Alert, Over } from '../../src/alerts/alert.ts';
import { keepLines } from '../support/lines.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { WORKER: 'off' } });
});
afterAll(() => shop.close());
const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

test('F5: all orders are checked, and a row that was changed is named, once a week and by one process', async () => {
  const orders = [];
  for (let at = 0; at < 3; at += 1) orders.push(await shop.checkout());
  const { database } = shop.program;
  expect(await checkIntegrity(database, { onFound: () => undefined })).toEqual({
    orders: 3,
    contradictions: 0,
  });
  // Of the last part, which is not full.
  const changed =
    orders
      .map(({ orderId }) => orderId)
      .sort()
      .at(-1) ?? '';
  await sql(`UPDATE orders SET email = 'eve@example.com' WHERE id = $1`, changed);
  const found: unknown[] = [];
  await checkIntegrity(database, { onFound: (one) => found.push(one), atOnce: 2 });
  expect(found).toEqual([{ orderId: changed, what: "the order's e-mail address was changed" }]);

  const alerts: Alert[] = [];
  const { logger, lines } = keepLines();
  const parts = {
    database,
    mode: 'test' as const,
    logger,
    signal: new AbortController().signal,
    alarm: (alert: Alert | Over) => {
      if (!('over' in alert)) alerts.push(alert);
      return Promise.resolve();
    },
  };
  const both = await Promise.all([checkIntegrityWeekly(parts), checkIntegrityWeekly(parts)]);
  expect(both.filter((one) => one !== null)).toEqual([{ orders: 3, contradictions: 1 }]);
  expect(await checkIntegrityWeekly(parts)).toBeNull();
  expect(alerts).toMatchObject([{ event: 'journal-broken', reason: expect.stringContaining(changed) }]);
  expect(lines.join('')).toContain('integrity of all orders checked');
  // What contradicts is looked at again after a day, and what is whole after a week.
  await sql(`UPDATE integrity_checks SET finished_at = now() - interval '25 hours', contradictions = 0`);
  expect(await checkIntegrityWeekly(parts)).toBeNull();
  await sql(`UPDATE integrity_checks SET contradictions = 1`);
  // The lock of the check before ends with its session, when PostgreSQL hears of that.
  await eventually(async () => (await checkIntegrityWeekly(parts)) !== null);
  const page = await (await fetch(`${shop.origin}/metrics`)).text();
  expect(page).toMatch(/integrator_journal_contradictions 1\n/);
});

test('G14: a server without a worker says so, and stops saying so when one lives', async () => {
  const { database } = shop.program;
  const { logger, lines } = keepLines();
  let nowMs = 0;
  let missed = 0;
  const onSeen = ({ isMissing }: { isMissing: boolean }): void => void (missed += isMissing ? 1 : 0);
  const clock = { ...systemClock, elapsedMs: () => nowMs };
  const watch = createWorkerWatch({ db: database, mode: 'test', isExpected: true, clock, onSeen, logger });
  await watch.look();
  expect(lines).toEqual([]);
  nowMs = 61_000;
  await watch.look();
  await watch.look();
  expect(missed).toBe(2);
  await beat(database, 'test', 'host-1, process 7');
  await watch.look();
  expect(lines.filter((line) => line.includes('a worker is running again'))).toHaveLength(1);

  const ready = async (): Promise<unknown> => (await fetch(`${shop.origin}/readyz`)).json();
  expect(await ready()).toEqual({ status: 'ready', mode: 'test', worker: 'running' });
  await sql(`UPDATE worker_heartbeats SET beaten_at = now() - interval '2 minutes'`);
  expect(await ready()).toEqual({
    ...{ status: 'ready', mode: 'test', worker: 'missing' },
    workerLastSeen: expect.stringMatching(/^20.*Z \(host-1, process 7\)$/),
  });
  expect(await (await fetch(`${shop.origin}/admin`)).text()).toContain('No worker is running');
  expect(await (await fetch(`${shop.origin}/metrics`)).text()).toMatch(/integrator_worker_missing 1\n/);
});

test('G14: an address is not erased while a payment is held or a finding is open', async () => {
  const order = await shop.checkout({
    email: 'held@example.com',
    items: [{ sku: 'ankara-tote', quantity: 1 }],
  });
  const erase = (): Promise<unknown> => sql(`SELECT erase_email('held@example.com', 'Ngozi', 'asked')`);
  await sql(`UPDATE payments SET status = 'held' WHERE reference = $1`, order.reference);
  await expect(erase()).rejects.toThrow('is still open');
  // Only an answer moves a held payment.
  await sql(
    `WITH answer AS (
       INSERT INTO verifications (reference, order_id, mode, outcome, http_status, body_sha256, cause)
       SELECT reference, order_id, mode, 'failed', 200, sha256(''), 'schedule' FROM payments WHERE reference = $1)
     UPDATE payments SET status = 'failed' WHERE reference = $1`,
    order.reference,
  );
  await sql(`INSERT INTO reconciliation_runs (id, mode) VALUES ('run_g14', 'test')`);
  await sql(
    `INSERT INTO findings (mode, class, reference, order_id, first_run_id, last_run_id)
     VALUES ('test', 'absent_from_history', $1, $2, 'run_g14', 'run_g14')`,
    order.reference,
    order.orderId,
  );
  await expect(erase()).rejects.toThrow('is still open');
  await sql(`UPDATE findings SET closed_at = now(), closed_by = 'reconciliation'`);
  await erase();
  expect(await sql('SELECT email FROM orders WHERE id = $1', order.orderId)).toEqual([{ email: 'erased' }]);
});
