import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readArguments } from '../../src/commands/arguments.ts';
import { beginOf } from '../../src/commands/reconcile.ts';
import { newProbeReference, newReference } from '../../src/platform/ids.ts';
import { formatReport } from '../../src/reconciliation/report/format-report.ts';
import type { ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { explain } from '../../src/reporting/explain.ts';
import { rowCounts } from './books.ts';
import { openDesk, type Desk, type Planted } from './desk.ts';
import { send, type FakeTransaction } from './fake-service.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const ADA = { by: 'Ada', note: 'from the sandbox to the service' };
const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });
const begin = (dryRun = false): Promise<ReconciliationReport> => desk.reconcile({ dryRun, begin: ADA });
const differences = ({ identity }: ReconciliationReport): number[] =>
  identity.map(({ difference }) => Number(difference));

/** What a service lists that others than us have made there. */
const FOREIGN: FakeTransaction[] = [
  { reference: 'inv-1', amount: '7.50' },
  { reference: 'inv-2', amount: '12.00', currency: 'USD' },
  { reference: 'inv-6', amount: '1.00' },
  { reference: 'inv-3', status: 'PENDING' },
  { reference: 'inv-4', status: 'REVERSED' },
  { reference: 'inv-5', amount: '"1,2,3"' },
];
/** Only money in suspense waits for a decision: that of the underpaid order, unless said. */
const quietWith = (before: number, held = 1) => ({
  ...{ complete: true, verdict: 'findings', findings: {}, graced: {}, items: [], held },
  setAside: { before_begin: before },
});

async function openCases(table: 'findings' | 'suspense_items'): Promise<string[]> {
  const rows = await desk.database.query<{ reference: string }>(
    `SELECT reference FROM ${table} WHERE closed_at IS NULL ORDER BY reference`,
  );
  return rows.map(({ reference }) => reference);
}

async function beforeRows(): Promise<number> {
  const [row] = await desk.database.query<{ rows: number }>(
    `SELECT (SELECT count(*) FROM before_begin)::int + (SELECT count(*) FROM reconciliation_begins)::int AS rows`,
  );
  return row?.rows ?? -1;
}

describe('from the sandbox to the service on the same database', () => {
  let [paid, held, open]: Planted[] = [];
  /** Paid, underpaid and open orders at the sandbox, reconciled; then another service with a history of its own. */
  beforeEach(async () => {
    paid = await desk.put({ isConfirmed: true, confirmed: '2 days', age: '3 days' }, {});
    held = await desk.put({ age: '3 days' }, { amount: '20.00' });
    open = await desk.put({ age: '9 days' }, { status: 'PENDING' });
    expect(await run()).toMatchObject({ complete: true, findings: { underpaid: 1 } });
    desk.service.history = [...FOREIGN];
    desk.alerts.length = 0;
  });

  test('without a begin it is told what to do, and a begin closes what was raised meanwhile', async () => {
    const lost = await run();
    expect(lost).toMatchObject({ verdict: 'incomplete', findings: { unknown_reference: 5, unreadable: 1 } });
    expect(lost.incompleteReason).toContain('--begin');
    expect(await openCases('suspense_items')).toContain('inv-1');
    const counts = await rowCounts(desk.database);

    const dry = await begin(true);
    const taken = {
      ...{ transactions: 6, formOfOurs: 0, payments: 3 },
      money: [
        { currency: 'NGN', amount: '8.50' },
        { currency: 'USD', amount: '12.00' },
      ],
    };
    expect(dry).toMatchObject({ ...quietWith(9, 4), begun: { isDry: true, ...taken } });
    expect(formatReport(dry).replace(/\s+/g, ' ')).toContain(
      'A BEGIN WOULD TAKE as before: transactions that are not ours: 6 (8.50 NGN, 12.00 USD); ' +
        'payments of ours that the list lacks: 3. The paid ones it takes only if verify does not know them',
    );
    expect(dry.begun?.shown[0]).toMatchObject({ reference: paid?.reference, isReleased: true });
    expect([await rowCounts(desk.database), await beforeRows()]).toEqual([counts, 0]);

    const begun = await begin();
    expect(begun).toMatchObject({ ...quietWith(9), begun: { isDry: false, ...taken } });
    expect(begun.identity).toEqual([
      {
        ...{ currency: 'NGN', serviceTotal: '8.50', confirmed: '25.00', difference: '0.00' },
        classes: { before_begin: '-16.50' },
      },
      {
        ...{ currency: 'USD', serviceTotal: '12.00', confirmed: '0.00', difference: '0.00' },
        classes: { before_begin: '12.00' },
      },
    ]);
    expect(await openCases('findings')).toEqual([]);
    // Money of an order of ours is for a person to decide about, one by one.
    expect(await openCases('suspense_items')).toEqual([held?.reference]);
    const closed = await desk.database.query(
      `SELECT DISTINCT closed_by AS by, note FROM findings
       UNION SELECT closed_by, note FROM suspense_items WHERE decision = 'other'`,
    );
    expect(closed).toEqual([ADA]);
    const story = await explain(desk.database, held?.orderId ?? '');
    expect(story?.evidence).toContain('operator:Ada');
    expect(story?.evidence).not.toContain('closed, and the journal does not say so');

    desk.alerts.length = 0;
    const next = await run();
    expect(next).toMatchObject(quietWith(9));
    expect([next.begun, desk.alerts]).toEqual([undefined, []]);
  });

  test('what was before stays before, and whatever comes after it is treated as ever', async () => {
    await begin();
    // Theirs: money goes back. Ours: the service gets to know one, and one comes anew.
    desk.service.history[0] = { reference: 'inv-1', amount: '7.00' };
    desk.service.history[1] = { reference: 'inv-2', amount: '12.00', currency: 'USD', status: 'REVERSED' };
    expect(await run()).toMatchObject(quietWith(9));
    desk.service.history.push({ reference: open?.reference ?? '' }, { reference: 'stolen', amount: '3.00' });
    desk.service.history.push({ reference: newProbeReference(), amount: '4.00' });
    const after = await run();
    expect(after).toMatchObject({
      ...{ verdict: 'findings', repaired: 1, findings: { unknown_reference: 1 } },
      setAside: { before_begin: 8, probe: 1 },
    });
    expect(differences(after)).toEqual([0]);
    expect(after.identity[0]?.classes).toMatchObject({ probe: '4.00', unknown_reference: '3.00' });
    expect(await openCases('suspense_items')).toEqual([held?.reference, 'stolen'].sort());
    // Verify knows the other two after all: the excuse is over.
    desk.service.verify.set(paid?.reference ?? '', { reference: paid?.reference ?? '', status: 'REVERSED' });
    await desk.database.query(
      `INSERT INTO verifications (reference, order_id, mode, outcome, http_status, body_sha256, cause)
       VALUES ($1, $2, 'test', 'reversed', 200, '\\x00', 'webhook')`,
      [paid?.reference, paid?.orderId],
    );
    expect(await run()).toMatchObject({
      findings: { reversed: 1, unknown_reference: 1 },
      setAside: { before_begin: 7 },
    });
    // A later begin adds, by a person who has looked.
    expect(await begin()).toMatchObject({
      findings: { reversed: 1 },
      begun: { transactions: 1, payments: 0 },
    });
  });

  test('a transaction that shows more money than at the begin is raised, and held', async () => {
    await run();
    await begin();
    await run();
    // It grows, it is paid at last, it is charged again, and its currency changes.
    const { history } = desk.service;
    history[0] = { reference: 'inv-1', amount: '70.50' };
    history[1] = { reference: 'inv-2', amount: '12.00' };
    history[2] = { reference: 'inv-6', amount: '0.50', id: '1' };
    history[3] = { reference: 'inv-3', amount: '3.00' };
    history.push({ reference: 'inv-6', amount: '0.50', id: '2' });
    const after = await run();
    expect(after).toMatchObject({ findings: { unknown_reference: 4 }, setAside: { before_begin: 5 } });
    expect(differences(after).every((one) => one === 0)).toBe(true);
    // What the begin closed stays decided, so of inv-1 only the rest is held.
    const held = await desk.database.query(
      `SELECT reference, amount FROM suspense_items WHERE closed_at IS NULL AND order_id IS NULL ORDER BY 1`,
    );
    expect(held).toEqual([
      { reference: 'inv-1', amount: 6_300n },
      { reference: 'inv-2', amount: 1_200n },
      { reference: 'inv-3', amount: 300n },
    ]);
    // A later begin takes them as they are now, by a person who has looked.
    expect(await begin()).toMatchObject({ ...quietWith(9), begun: { transactions: 4 } });
    expect(await run()).toMatchObject(quietWith(9));
  });

  test('a reference of the form of ours is left, and with the flag its money is still undecided', async () => {
    const lost = newReference();
    desk.service.history.push({ reference: lost, amount: '5.00' });
    await run();
    const left = await begin();
    expect(left).toMatchObject({
      ...{ verdict: 'findings', findings: { unknown_reference: 1 }, setAside: { before_begin: 9 } },
      begun: { transactions: 6, formOfOurs: 1 },
    });
    expect(formatReport(left)).toMatch(/LEFT: 1 [^]*after-restore[^]*--even-of-our-form/);
    const taken = await desk.reconcile({ dryRun: false, begin: { ...ADA, evenOfOurForm: true } });
    expect(taken).toMatchObject({ ...quietWith(10, 2), begun: { transactions: 1, formOfOurs: 0 } });
    expect(await openCases('suspense_items')).toEqual([held?.reference, lost].sort());
    expect(await desk.database.query(`SELECT FROM decided_money WHERE reference = '${lost}'`)).toEqual([]);
  });

  test('a paid payment that verify knows is not taken, although nobody had asked before', async () => {
    const reference = paid?.reference ?? '';
    desk.service.verify.set(reference, { reference });
    expect(await begin(true)).toMatchObject(quietWith(9));
    expect(await begin()).toMatchObject({
      ...{ findings: { absent_from_history: 1 }, setAside: { before_begin: 8 }, begun: { payments: 2 } },
      items: [{ reference }],
    });
    expect(await run()).toMatchObject({ findings: { absent_from_history: 1 } });
  });

  test('a begin that verify leaves unanswered takes nothing', async () => {
    const stop = new AbortController();
    const onProgress = ({ step }: { step: string }): void => {
      if (step === 'compare') stop.abort();
    };
    const stopped = desk.reconcile({ dryRun: false, begin: ADA, signal: stop.signal, onProgress });
    await expect(stopped).rejects.toThrow(/did not begin, and nothing was taken.*the run was stopped/);
    expect(await beforeRows()).toBe(0);
    expect(await begin()).toMatchObject(quietWith(9));
  });

  test('a later begin ends the suspense that a worker of the version before has opened again', async () => {
    await begin();
    await desk.database.query(
      `INSERT INTO suspense_items (mode, class, reference, amount, currency)
       VALUES ('test', 'unknown_reference', 'inv-1', 750, 'NGN')`,
    );
    // Ours by now: a person has given it to an order.
    const adopted = await desk.put({}, { status: 'PENDING' });
    await desk.database.query(
      `INSERT INTO before_begin SELECT mode, $1, begun_at FROM reconciliation_begins`,
      [adopted.reference],
    );
    await desk.database.query(
      `INSERT INTO suspense_items (mode, class, reference, amount, currency)
       VALUES ('test', 'unknown_reference', $1, 750, 'NGN')`,
      [adopted.reference],
    );
    await begin();
    expect(await openCases('suspense_items')).toEqual([adopted.reference, held?.reference].sort());
  });

  test('a list whose end nothing marks is not taken for a cut one because it lacks what was paid at the sandbox', async () => {
    desk.service.answerHistory = (_query, res, rows) => {
      send(res, `{"status":true,"data":[${rows.join(',')}]}`);
    };
    expect(await begin()).toMatchObject(quietWith(9));
    expect(await run()).toMatchObject(quietWith(9));
  });

  test('at a list that lags it alarms nobody, and what comes to the list afterwards is taken once', async () => {
    const young = await desk.put({ isConfirmed: true, confirmed: '1 minute', age: '2 minutes' }, null);
    const opened = await desk.put({ age: '1 minute' }, null);
    desk.service.verify.set(young.reference, { reference: young.reference });
    desk.service.verify.set(opened.reference, { reference: opened.reference, status: 'PENDING' });
    const begun = await begin();
    expect(begun).toMatchObject({ complete: true, findings: {}, items: [], held: 1 });
    expect([differences(begun).every((one) => one === 0), desk.alerts]).toEqual([true, []]);
    // The list has caught up.
    desk.service.history.push({ reference: young.reference });
    desk.service.history.push({ reference: opened.reference, status: 'PENDING' });
    const next = await run();
    expect(next).toMatchObject({ ...quietWith(9), matched: 1 });
    expect(next.identity[0]).toMatchObject({ serviceTotal: '33.50', confirmed: '50.00', difference: '0.00' });
    const again = await begin();
    expect(again).toMatchObject({ ...quietWith(9), begun: { transactions: 0, payments: 0 } });
    expect([await openCases('findings'), desk.alerts]).toEqual([[], []]);
  });

  test('a list that is not whole begins nothing, and alarms nobody', async () => {
    const counts = await rowCounts(desk.database);
    desk.service.answerHistory = (_query, res) => {
      send(res, '{"status":true,"data":{"data":[{"reference":"inv-1","status":"SUCCESS"}],"total":5}}');
    };
    await expect(begin()).rejects.toThrow(/did not begin, and nothing was taken, because/);
    const { reconciliation_runs: runs = 0n, ...rest } = counts;
    expect(await rowCounts(desk.database)).toEqual({ ...rest, reconciliation_runs: runs + 1n });
    expect([await beforeRows(), desk.alerts]).toEqual([0, []]);
  });
});

test('in live mode a begin excuses nothing of ours that is paid, and nothing that may be ours', async () => {
  const live = { mode: 'live' } as const;
  const lost = await desk.put({ ...live, isConfirmed: true, confirmed: '2 days', age: '3 days' }, null);
  const held = await desk.put({ ...live, status: 'held', age: '9 days' }, null);
  await desk.put({ ...live, age: '9 days' }, null);
  await desk.put({ mode: 'test' }, {});
  desk.service.history.push(...FOREIGN, { reference: newProbeReference() }, '"no record"');
  const begun = await desk.live({ dryRun: false, begin: ADA });
  expect(begun).toMatchObject({
    ...{ verdict: 'findings', setAside: { before_begin: 8 }, begun: { transactions: 7, payments: 1 } },
    findings: { absent_from_history: 2, mode_mismatch: 1, unreadable: 1 },
  });
  expect(begun.items.map(({ reference }) => reference)).toEqual(
    expect.arrayContaining([lost.reference, held.reference]),
  );
  expect(differences(begun).every((one) => one === 0)).toBe(true);
  // Not even when its row was written by hand.
  await desk.database.query('INSERT INTO before_begin SELECT mode, $1, begun_at FROM reconciliation_begins', [
    lost.reference,
  ]);
  // The probe takes no live key, so a payment that looks like one of its own is somebody's.
  desk.service.history.push({ reference: newProbeReference() });
  expect(await desk.live({ dryRun: false })).toMatchObject({
    findings: { absent_from_history: 2, unknown_reference: 1 },
  });
});

test('a begin has a name and a reason, and no window', () => {
  const asked = (...argv: string[]) => beginOf(readArguments(['--begin', ...argv]));
  expect(asked('--by', ' Ada ', '--note', 'why')).toEqual({ by: 'Ada', note: 'why', evenOfOurForm: false });
  expect(asked('--dry-run', '--even-of-our-form')).toEqual({ by: '', note: '', evenOfOurForm: true });
  expect(() => beginOf(readArguments(['--even-of-our-form']))).toThrow('--begin');
  expect(beginOf(readArguments(['--by', 'Ada']))).toBeUndefined();
  for (const wrong of [
    ['--by', 'Ada'],
    ['--note', 'why', '--by', ' '],
    ['--by', 'reconciliation', '--note', 'why'],
    ['--by', 'Ada', '--note', 'why', '--since', '2026-01-01'],
  ])
    expect(() => asked(...wrong)).toThrow(/--by|--since/);
});
