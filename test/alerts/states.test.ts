import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAlerts, type Alarms } from '../../src/alerts/send-alerts.ts';
import type { Alert, AlertHook } from '../../src/alerts/alert.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { newRunId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// A person is told of a state and not of each look at it: over all processes, restarts and faults of the hook.

let world: TestDatabase;
let alerts: Parameters<AlertHook>[0][] = [];
let isHookAway = false;
let nowMs = 0;
let calls = 0;
let holding: string[] = [];
let processes: Alarms[];

beforeAll(async () => {
  world = await createTestDatabase();
});
beforeEach(async () => {
  processes = [startProcess(), startProcess()];
  await world.database.query('DELETE FROM alert_states');
});
afterEach(() => {
  alerts = [];
  isHookAway = false;
  calls = 0;
  holding = [];
});
afterAll(() => world.close());

/** One process, which remembers nothing of those before it. */
function startProcess(db: Parameters<typeof createAlerts>[0]['db'] = world.database): Alarms {
  const onAlert: AlertHook = (alert) => {
    calls += 1;
    if (isHookAway) throw new Error('the pager is away');
    alerts.push(alert);
  };
  const clock = { ...systemClock, elapsedMs: () => nowMs };
  const holds = (_mode: string, key: string): Promise<boolean> => Promise.resolve(holding.includes(key));
  return createAlerts({
    ...{ db, logger: createLogger('silent'), clock, onAlert },
    holds: {
      'findings-raised': holds,
      'worker-missing': holds,
      'release-failing': holds,
      'currency-stopped': holds,
      'checkouts-stopped': holds,
      'own-check': holds,
    },
  });
}

/** Lets so many minutes pass, for the processes and for the table. */
async function pass(minutes: number): Promise<void> {
  nowMs += minutes * 60_000;
  await world.database.query(
    `UPDATE alert_states SET since = since - make_interval(mins => $1),
       seen_at = seen_at - make_interval(mins => $1), news_at = news_at - make_interval(mins => $1),
       told_at = told_at - make_interval(mins => $1), tell_at = tell_at - make_interval(mins => $1)`,
    [minutes],
  );
}

/** All processes say so at the same moment. */
const say = (alert: Parameters<Alarms['alarm']>[0]): Promise<unknown> =>
  Promise.all(processes.map(({ alarm }) => alarm(alert)));
const incomplete = (reason: string): Alert => ({
  event: 'reconciliation-incomplete',
  mode: 'test',
  runId: newRunId(),
  covers: 'everything',
  reason,
});
const told = (): [string, boolean][] => alerts.map(({ cause, over }) => [cause, over]);

test('a state is told when it begins, when its cause changes, after a day, and when it is over', async () => {
  for (let runs = 0; runs < 20; runs += 1) {
    await say(incomplete(`the service is away, try ${runs}`));
    await pass(15);
  }
  expect(told()).toEqual([['the service is away, try 0', false]]);
  await say(incomplete('the list was cut'));
  await pass(24 * 60);
  await Promise.all(processes.map(({ sendDue }) => sendDue('test')));
  for (let runs = 0; runs < 2; runs += 1) {
    await say({ event: 'reconciliation-incomplete', mode: 'test', covers: 'everything', over: true });
    await pass(15);
  }
  expect(told().slice(1)).toEqual([
    ['the list was cut', false],
    ['the list was cut', false],
    ['the list was cut', true],
  ]);
  const [first, changed, , over] = alerts;
  const lastedMs = Date.parse(over?.at ?? '') - Date.parse(over?.since ?? '');
  expect(lastedMs).toBeGreaterThanOrEqual((20 * 15 + 24 * 60) * 60_000);
  expect(Date.parse(changed?.since ?? '')).toBeLessThan(Date.parse(first?.since ?? ''));
  await say(incomplete('the list was cut'));
  expect(told().slice(4)).toEqual([['the list was cut', false]]);
});

test('causes that alternate are told once an hour, and new findings each time', async () => {
  for (let minutes = 0; minutes < 3 * 60; minutes += 5) {
    await say(incomplete(minutes % 10 === 0 ? 'the list was cut' : 'the service is away'));
    await pass(5);
  }
  expect(told().map(([cause]) => cause)).toEqual([
    'the list was cut',
    'the service is away',
    'the list was cut',
  ]);
  for (let runs = 0; runs < 2; runs += 1)
    await say({
      ...{ event: 'findings-raised', mode: 'test', runId: newRunId() },
      findings: { counts: { underpaid: 1 }, first: [] },
    });
  expect(told()).toHaveLength(5);
});

test('what is noted in a transaction is told after the commit, by whoever looks, and else never', async () => {
  const [dying, other] = processes;
  const inTransaction = (reason: string, end: () => Promise<void>): Promise<void> =>
    world.database.transaction(async (tx) => {
      await dying?.alarm(incomplete(reason), tx);
      await end();
    });
  const broken = inTransaction('never', () => Promise.reject(new Error('rolled back')));
  await expect(broken).rejects.toThrow('rolled back');
  await other?.sendDue('test');
  await inTransaction('the list was cut', () => Promise.resolve());
  expect(told()).toEqual([]);
  await other?.sendDue('test');
  await other?.sendDue('test');
  expect(told()).toEqual([['the list was cut', false]]);
});

test('a run over a window does not end what a run over everything began', async () => {
  const event = 'reconciliation-incomplete';
  await say(incomplete('the list was cut'));
  await say({ event, mode: 'test', covers: 'window', over: true });
  expect(told()).toHaveLength(1);
  await say({ event, mode: 'test', covers: 'everything', over: true });
  expect(told().map(([, over]) => over)).toEqual([false, true]);
});

test('a hook that never takes it is asked after pauses that double, and once a day at last', async () => {
  isHookAway = true;
  await processes[0]?.alarm(incomplete('the service is away'));
  const perDay: number[] = [];
  for (let day = 0; day < 3; day += 1) {
    const before = calls;
    for (let hours = 0; hours < 24; hours += 0.5) {
      await pass(30);
      await processes[0]?.sendDue('test');
    }
    perDay.push(calls - before);
  }
  expect(perDay[0]).toBeGreaterThan(3);
  expect(perDay[0]).toBeLessThan(8);
  expect(perDay[2]).toBe(1);
});

test('a restart is no news, and a state of another currency is', async () => {
  const stop = { event: 'currency-stopped', mode: 'test', orderId: 'o', reference: 'r' };
  await say({ ...stop, currency: 'NGN' } as Alert);
  await startProcess().alarm({ ...stop, currency: 'NGN' } as Alert);
  await say({ ...stop, currency: 'KWD' } as Alert);
  await pass(1);
  holding = ['KWD'];
  for (const { sendDue } of processes) await sendDue('test');
  expect(alerts.map((one) => ['currency' in one && one.currency, one.over])).toEqual([
    ['NGN', false],
    ['KWD', false],
    ['NGN', true],
  ]);
});

test('a key that one process may use and another may not is refused until nobody sees that any more', async () => {
  const [refused, accepted] = processes;
  for (let minutes = 0; minutes < 120; minutes += 30) {
    await refused?.alarm({ event: 'key-refused', mode: 'test' });
    await pass(30);
    await accepted?.alarm({ event: 'key-refused', mode: 'test', over: true });
  }
  expect(told()).toHaveLength(1);
  for (let times = 0; times < 2; times += 1) {
    await pass(30);
    await accepted?.alarm({ event: 'key-refused', mode: 'test', over: true });
  }
  expect(told().map(([, over]) => over)).toEqual([false, true]);
});

test('what the hook does not take is told again until it does: beginnings, ends and single events', async () => {
  isHookAway = true;
  await say(incomplete('the service is away'));
  const givenUp = { event: 'release-given-up', mode: 'test', release: 'rel_1', reason: 'gone' } as Alert;
  await processes[0]?.alarm(givenUp);
  const worker = startProcess();
  await pass(7);
  await worker.sendDue('test');
  expect(alerts).toEqual([]);
  isHookAway = false;
  await worker.sendDue('test');
  expect(alerts).toEqual([]);
  await pass(15);
  await Promise.all([worker.sendDue('test'), startProcess().sendDue('test')]);
  expect(told().sort()).toEqual([
    ['gone', false],
    ['the service is away', false],
  ]);
  isHookAway = true;
  await say({ event: 'reconciliation-incomplete', mode: 'test', covers: 'everything', over: true });
  isHookAway = false;
  await pass(25 * 60);
  await worker.sendDue('test');
  await pass(25 * 60);
  await worker.sendDue('test');
  // An event has no second day, and a state that is over neither.
  expect(told().slice(2)).toEqual([['the service is away', true]]);
});

test('a state that nobody looks at is told again after a day', async () => {
  await say(incomplete('the service is away'));
  await pass(24 * 60);
  await processes[0]?.sendDue('test');
  await processes[1]?.sendDue('test');
  expect(told()).toHaveLength(2);
});

test('while the database is away each process tells by what it remembers', async () => {
  const away = startProcess({ query: () => Promise.reject(new Error('the database is away')) });
  for (let runs = 0; runs < 5; runs += 1) {
    await away.alarm(incomplete('the database is away'));
    nowMs += 15 * 60_000;
  }
  await away.alarm({ event: 'reconciliation-incomplete', mode: 'test', covers: 'everything', over: true });
  await away.alarm({ event: 'reconciliation-failed', mode: 'test', covers: 'everything', over: true });
  expect(told()).toEqual([
    ['the database is away', false],
    ['reconciliation was not completed', true],
  ]);
});
