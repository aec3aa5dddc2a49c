import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Report } from '../../src/reconciliation/report.ts';
import { MAKERS, type Made } from './makers.ts';
import { look, startDesk, type Desk } from './support.ts';

// Only the run verifies payments. No webhook comes, and no schedule runs.

let desk: Desk;
/**
 * The first run verifies, the second one applies the history to what was new then, and the third
 * one finds nothing more.
 */
const runs: { exit: number | string; report: Report }[] = [];
const made = new Map<string, string>();
let listed: { reference: string }[];
beforeAll(async () => {
  desk = await startDesk({ worker: false });
  await Promise.all(Object.entries(MAKERS).map(async ([name, make]) => made.set(name, await make(desk))));
  while (runs.length < 3) runs.push(await desk.reconcile());
  listed = JSON.parse((await desk.run('cases', 'list', '--json')).out) as typeof listed;
});
afterAll(() => desk.stop());

const itemOf = (run: number, name: string) =>
  runs[run]?.report.items.find(({ reference }) => reference === made.get(name));

// From the report: expected, actual, held. From the work list: missing. The first run finds all.
test.each<[Made, string, string, string, string]>([
  ['unknown_reference', '0.00', '8500.00', '8500.00', '0.00'],
  ['currency_mismatch', '0.00', '8500.00', '8500.00', '0.00'],
  ['paid_after_decision', '8500.00', '9500.00', '8500.00', '0.00'],
  ['charged_again', '8500.00', '17000.00', '8500.00', '0.00'],
  ['duplicate_payment', '8500.00', '8500.00', '8500.00', '0.00'],
  ['paid_after_end', '8500.00', '8500.00', '8500.00', '0.00'],
  ['unit_error', '8500.00', '85.00', '85.00', '0.00'],
  ['underpaid', '8500.00', '1000.00', '1000.00', '0.00'],
  ['overpaid', '8500.00', '10000.00', '10000.00', '0.00'],
  ['reversed', '8500.00', '0.00', '0.00', '8500.00'],
  ['absent_from_history', '8500.00', '0.00', '0.00', '8500.00'],
  ['refund_not_shown', '8000.00', '8500.00', '0.00', '500.00'],
  ['contradicted', '8500.00', '0.00', '0.00', '8500.00'],
  ['contradicted, held', '8500.00', '8500.00', '8500.00', '0.00'],
  ['unproven, held', '8500.00', '8500.00', '8500.00', '0.00'],
  ['unproven', '0.00', '0.00', '0.00', '0.00'],
  ['unknown_status', '0.00', '0.00', '0.00', '0.00'],
  ['unreadable', '0.00', '0.00', '0.00', '0.00'],
])('%s: expected %s, actual %s, held %s, missing %s', (name, expected, actual, held, missing) => {
  const [one] = name.split(',');
  expect(itemOf(0, name)).toMatchObject({ class: one, expected, actual, held });
  const about = listed.filter(({ reference }) => reference === made.get(name));
  expect(about).toEqual([expect.objectContaining({ class: one, held, missing, reference: made.get(name) })]);
});

test('later runs find the same cases and no others', async () => {
  expect(runs.map(({ exit }) => exit)).toEqual([1, 1, 1]);
  expect(runs[2]?.report.items).toEqual(runs[1]?.report.items);
  const counted = runs[2]?.report.findings ?? {};
  expect(Object.values(counted).reduce((sum, count) => sum + count, 0)).toBe(made.size);
  expect(await desk.database.query('SELECT 1 FROM cases WHERE closed_at IS NOT NULL AND decision IS NULL')).toEqual([]);
  for (const { report } of runs) expect(report.identity.map(({ difference }) => difference)).toEqual(['0.00', '0.00']);
});

test('order.paid is sent only if no source reports missing money', async () => {
  const held = ['reversed', 'absent_from_history', 'contradicted'];
  for (const [name, reference] of made) {
    const message = (await look(desk, reference))?.message ?? null;
    const goes = ['charged_again', 'duplicate_payment', 'refund_not_shown'];
    expect([name, message]).toEqual([name, held.includes(name) ? 'held' : goes.includes(name) ? 'goes' : null]);
  }
});

test('a dry run verifies nothing and writes nothing', async () => {
  const { reference } = await desk.checkout();
  const count = async () =>
    desk.database.query('SELECT (SELECT count(*) FROM journal) j, (SELECT count(*) FROM runs) r');
  await desk.sandboxPost(`/transactions/${reference}/pay`, { webhook: 'lost' });
  const before = await count();
  const { exit, report } = await desk.reconcile('--dry-run');
  expect([exit, report.verified, report.items]).toEqual([1, 0, []]);
  expect(await count()).toEqual(before);
});
