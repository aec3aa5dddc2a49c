import { afterEach, beforeEach, describe, expect, test as testOfBoth } from '@jest/globals';
import { composeReport, type ReconciliationReport } from '../../src/reconciliation/report/report.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { asRunId } from '../support/ids.ts';
import { openDesk, type Desk } from './desk.ts';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const run = (): Promise<ReconciliationReport> => desk.reconcile({ dryRun: false });

describe('a list that is shorter than the last complete run saw it', () => {
  beforeEach(async () => {
    for (let count = 0; count < 40; count += 1) await desk.put({ isConfirmed: true }, {});
    expect(await run()).toMatchObject({ verdict: 'agreed', complete: true });
  });

  const shortened: [string, () => void][] = [
    ['has lost its end', () => desk.service.history.splice(30)],
    ['has lost its beginning', () => desk.service.history.splice(0, 10)],
    ['has lost a stretch in the middle', () => desk.service.history.splice(10, 10)],
    ['has lost one row', () => desk.service.history.splice(20, 1)],
    ['is empty', () => desk.service.history.splice(0)],
  ];

  const some = someOf(shortened, 1);
  testOfBoth.each(some)('withholds every verdict on what is missing when it %s', async (_name, shorten) => {
    shorten();
    const report = await run();
    expect(report).toMatchObject({ complete: false, verdict: 'incomplete' });
    expect(report.incompleteReason).toMatch(/last complete run saw/);
    expect(report.findings).toEqual({ history_truncated: 40 - desk.service.history.length });
    // It stays so, and a run that was incomplete is none to compare with.
    expect(await run()).toMatchObject({ verdict: 'incomplete' });
  });

  test('withholds them when as many others came, too', async () => {
    desk.service.history.splice(20);
    for (let count = 0; count < 30; count += 1)
      desk.service.history.push({ reference: `other${count}`, status: 'FAILED' });
    expect(await run()).toMatchObject({ verdict: 'incomplete' });
  });

  test('is the list there is after three days: what is missing is then a finding', async () => {
    desk.service.history.splice(30);
    await desk.database.query(`UPDATE history_sentinels SET seen_at = now() - interval '73 hours'`);
    expect(await run()).toMatchObject({ verdict: 'findings', findings: { absent_from_history: 10 } });
  });

  test('is no sign where a window was asked for, or rows moved and were added', async () => {
    desk.service.history.reverse();
    desk.service.history.push({ reference: 'new', status: 'FAILED' });
    expect(await run()).toMatchObject({
      complete: true,
      verdict: 'findings',
      findings: { unknown_reference: 1 },
    });
    desk.service.history.splice(5);
    const since = new Date(Date.now() - 60_000);
    expect(await desk.reconcile({ dryRun: false, since })).toMatchObject({ complete: true });
    // And a window leaves no sentinels: the next whole run is measured by the last whole one.
    expect(await run()).toMatchObject({ verdict: 'incomplete' });
  });
});

describe('a window', () => {
  test('asks the service for as much after it as a payment may live, and calls only what lies in it absent', async () => {
    const reconcile = desk.speaking({
      history: { paging: { style: 'none', sinceParam: 'from', untilParam: 'to' } },
    });
    await desk.put({ isConfirmed: true, age: '20 days' }, null);
    const inside = await desk.put({ isConfirmed: true, age: '5 days' }, null);
    await desk.put({ isConfirmed: true, age: '1 day' }, null);
    const since = new Date(Date.now() - 10 * 86_400_000);
    const until = new Date(Date.now() - 3 * 86_400_000);
    const report = await reconcile({ dryRun: false, since, until });
    expect(report.items.map(({ reference, class: name }) => [reference, name])).toEqual([
      [inside.reference, 'absent_from_history'],
    ]);
    const query = new URLSearchParams(
      desk.service.calls.find((call) => call.startsWith('history'))?.split('?')[1],
    );
    // One day for clocks and time zones, and eight of life.
    expect(Date.parse(query.get('from') ?? '')).toBe(since.getTime() - 86_400_000);
    expect(Date.parse(query.get('to') ?? '')).toBe(until.getTime() + 9 * 86_400_000);
  });

  test('leaves what lies before and behind it out of the books, unless it is listed', async () => {
    await desk.put({ isConfirmed: true, age: '20 days', amount: 900n }, null);
    await desk.put({ isConfirmed: true, age: '20 days', amount: 70n, currency: 'GHS' }, null);
    await desk.put({ isConfirmed: true, age: '15 days', amount: 300n }, { amount: '3.00' });
    await desk.put({ isConfirmed: true, age: '5 days', amount: 2_000n }, { amount: '20.00' });
    await desk.put({ age: '1 day' }, null);
    const since = new Date(Date.now() - 10 * 86_400_000);
    const until = new Date(Date.now() - 3 * 86_400_000);
    expect(await desk.reconcile({ dryRun: true, since, until })).toMatchObject({
      verdict: 'agreed',
      payments: 2,
      matched: 2,
      unclassified: 0,
      identity: [{ currency: 'NGN', serviceTotal: '23.00', confirmed: '23.00', difference: '0.00' }],
    });
  });
});

test('what was written since the run began is left out of the books, unless it is listed', async () => {
  const age = '-1 hour';
  await desk.put({ isConfirmed: true, age, amount: 900n }, null);
  await desk.put({ isConfirmed: true, age, amount: 70n, currency: 'GHS' }, null);
  await desk.put({ isConfirmed: true, age, amount: 300n }, { amount: '3.00' });
  await desk.put({ isConfirmed: true, amount: 2_000n }, { amount: '20.00' });
  await desk.put({ age }, null);
  expect(await desk.reconcile({ dryRun: true })).toMatchObject({
    verdict: 'agreed',
    payments: 2,
    matched: 2,
    unclassified: 0,
    identity: [{ currency: 'NGN', serviceTotal: '23.00', confirmed: '23.00', difference: '0.00' }],
  });
});

describe('the verdict is not `agreed`', () => {
  type ControlTotals = Parameters<typeof composeReport>[0]['books'];
  const reportOf = (books: Partial<ControlTotals>): ReconciliationReport =>
    composeReport({
      runId: asRunId('run_x'),
      mode: 'test',
      startedAt: '2026-01-31T00:00:00.000Z',
      finishedAt: '2026-01-31T00:00:01.000Z',
      asOf: '2026-01-31T00:00:01.000Z',
      balances: null,
      inputs: { history: '', ours: '', dialect: '' },
      history: { records: 2, pages: 1, unreadable: 0 },
      problem: null,
      verified: 0,
      findings: [],
      items: [],
      books: { sides: sides(), classes: [], ...books },
    });
  const sides = (
    change: Partial<Record<'history' | 'payments' | 'releases', object>> = {},
  ): ControlTotals['sides'] =>
    (['history', 'payments', 'releases'] as const).map((side) => ({
      side,
      currency: side === 'payments' ? null : 'NGN',
      rows: 2n,
      named: side === 'history' ? 2n : 0n,
      differing: 0n,
      sum: side === 'payments' ? '0' : '5000',
      ...change[side],
    }));

  test('unless all three sides are left with the same rows and the same money', () => {
    expect(reportOf({})).toMatchObject({ verdict: 'agreed', matched: 2, unclassified: 0 });
  });

  test.each([
    ['a row of the history in no class', sides({ history: { rows: 3n } }), 1],
    ['a payment in no class', sides({ payments: { rows: 3n } }), 1],
    ['a release that belongs to nothing', sides({ releases: { rows: 3n } }), 1],
    ['a row counted twice', sides({ payments: { differing: 1n } }), 1],
    ['one minor unit more there', sides({ history: { sum: '5001' } }), 0],
    ['one minor unit more here', sides({ releases: { sum: '5001' } }), 0],
  ])('with %s', (_name, planted, unclassified) => {
    expect(reportOf({ sides: planted })).toMatchObject({ verdict: 'findings', unclassified });
  });

  test('with one minor unit that a class holds and nobody paid', () => {
    const report = reportOf({ classes: [{ class: 'open', currency: 'NGN', rows: 0n, sum: '1' }] });
    expect(report).toMatchObject({ verdict: 'findings', identity: [{ difference: '-0.01' }] });
  });

  test('with a match whose sums differ although each row agrees', () => {
    const report = reportOf({
      classes: [{ class: 'matched_late', currency: 'NGN', rows: 0n, sum: '1' }],
      sides: sides({ history: { sum: '5001' } }),
    });
    expect(report).toMatchObject({ verdict: 'findings', identity: [{ classes: {}, difference: '0.01' }] });
  });
});
