import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { bucketIn } from '../../src/reconciliation/compare/bucket-checksums.sql.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { outcomeOfRun } from '../../src/reconciliation/report/runs.sql.ts';
import { openDesk, type Desk } from './desk.ts';

// Rows that are weighed and not joined: what could make two sides weigh the same although they are not.
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });

/** References of one bucket. */
async function neighbours(count: number): Promise<string[]> {
  const found = new Map<string, string[]>();
  for (;;) {
    const drawn = Array.from({ length: 2_000 }, () => newId());
    const rows = await desk.database.query<{ reference: string; bucket: bigint }>(
      `SELECT reference, ${bucketIn({ listed: count })} AS bucket FROM unnest($1::text[]) reference`,
      [drawn],
    );
    for (const { reference, bucket } of rows) {
      const together = [...(found.get(String(bucket)) ?? []), reference];
      if (together.length === count) return together;
      found.set(String(bucket), together);
    }
  }
}

const items = (report: ReconciliationReport) =>
  report.items.map((one) => ({ reference: one.reference, class: one.class }));

test('two payments of one bucket that were paid with the money of each other are both found', async () => {
  const [first = '', second = ''] = await neighbours(2);
  await desk.put({ reference: first, isConfirmed: true, amount: 2_500n }, { amount: '40.00' });
  await desk.put({ reference: second, isConfirmed: true, amount: 4_000n }, { amount: '25.00' });
  const report = await run();
  expect(items(report)).toHaveLength(2);
  expect(items(report)).toContainEqual({ reference: first, class: 'charged_again' });
  expect(items(report)).toContainEqual({ reference: second, class: 'underpaid' });
});

test('the same money under a reference of the same bucket that is not ours is found on both sides', async () => {
  const [ours = '', theirs = ''] = await neighbours(2);
  await desk.put({ reference: ours, isConfirmed: true }, null);
  desk.service.history.push({ reference: theirs, amount: '25.00' });
  const report = await run();
  expect(items(report)).toHaveLength(2);
  expect(items(report)).toContainEqual({ reference: ours, class: 'absent_from_history' });
  expect(items(report)).toContainEqual({ reference: theirs, class: 'unknown_reference' });
});

test('the same number in two currencies is two amounts', async () => {
  const [reference = ''] = await neighbours(1);
  await desk.put({ reference, isConfirmed: true, currency: 'NGN' }, { currency: 'GHS' });
  expect(items(await run())).toEqual([{ reference, class: 'currency_mismatch' }]);
});

test('a difference in a bucket is the only one there, whoever is beside it', async () => {
  const [differs = '', ...beside] = await neighbours(6);
  await desk.put({ reference: differs, isConfirmed: true }, { amount: '25.01' });
  for (const reference of beside) await desk.put({ reference, isConfirmed: true }, {});
  const report = await run();
  expect(items(report)).toEqual([{ reference: differs, class: 'charged_again' }]);
  expect(report.matched).toBe(5);
});

test('of payments in one bucket, the one that was confirmed after its horizon is late', async () => {
  const [late = '', ...beside] = await neighbours(3);
  await desk.put({ reference: late, isConfirmed: true, age: '9 days' }, {});
  for (const reference of beside) await desk.put({ reference, isConfirmed: true }, {});
  const report = await run();
  expect(report).toMatchObject({ verdict: 'agreed', matched: 3 });
  const kept = await outcomeOfRun(desk.database, 'test', report.runId);
  const { classes } = (kept?.outcome as { books: { classes: unknown[] } }).books;
  expect(classes).toEqual([expect.objectContaining({ class: 'matched_late', rows: '1' })]);
});

test('a payment that waits is joined without those of its bucket that agree', async () => {
  const [waits = '', listed = '', ...agreed] = await neighbours(4);
  await desk.put({ reference: waits, status: 'open' }, null);
  await desk.put({ reference: listed, status: 'open' }, { status: 'PENDING' });
  for (const reference of agreed) await desk.put({ reference, isConfirmed: true }, {});
  const report = await run();
  expect(report).toMatchObject({ verdict: 'agreed', matched: 2, payments: 4 });
  expect(report.history.references).toBe(3);
});
