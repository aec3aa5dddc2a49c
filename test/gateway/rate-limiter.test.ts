/** @jest-environment node */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRateLimiter, type Budget, type Urgency } from '../../src/gateway/traffic/rate-limiter.ts';
import { systemClock } from '../../src/platform/clock.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const UNLIMITED = 1_000_000;
const budgetOf = (callsPerSecond: number, concurrency: number): Budget =>
  createRateLimiter({ callsPerSecond, concurrency, clock: systemClock });

/** Takes a turn and writes down when it came, or that it did not. */
function watch(budget: Budget, log: string[], urgency: Urgency, maxWaitMs = 60_000, name: string = urgency) {
  return budget.take(urgency, maxWaitMs).then((leave) => {
    log.push(leave === null ? `${name} gave up` : name);
    return leave;
  });
}

test('a second of calls may go out at once, the rest evenly, and no second has more than its worth', async () => {
  const budget = budgetOf(10, UNLIMITED);
  const log: string[] = [];
  for (let call = 0; call < 40; call += 1) void watch(budget, log, 'checkout');
  await jest.advanceTimersByTimeAsync(0);
  expect(log).toHaveLength(10);
  await jest.advanceTimersByTimeAsync(99);
  expect(log).toHaveLength(10);
  await jest.advanceTimersByTimeAsync(11);
  expect(log).toHaveLength(11);
  await jest.advanceTimersByTimeAsync(900);
  expect(log.length).toBeGreaterThanOrEqual(19);
  expect(log.length).toBeLessThanOrEqual(20);
  await jest.advanceTimersByTimeAsync(2_100);
  expect(log).toHaveLength(40);
});

test('a quiet hour saves up a second, not an hour', async () => {
  const budget = budgetOf(5, UNLIMITED);
  await jest.advanceTimersByTimeAsync(3_600_000);
  const log: string[] = [];
  for (let call = 0; call < 20; call += 1) void watch(budget, log, 'checkout');
  await jest.advanceTimersByTimeAsync(0);
  expect(log).toHaveLength(5);
});

test('0 calls a second is no limit', async () => {
  const log: string[] = [];
  const budget = budgetOf(0, UNLIMITED);
  for (let call = 0; call < 5_000; call += 1) void watch(budget, log, 'background');
  await jest.advanceTimersByTimeAsync(0);
  expect(log).toHaveLength(5_000);
  // A timer left behind would hold a process that has nothing more to do.
  expect(jest.getTimerCount()).toBe(0);
});

test('who waits is served by urgency, and among equals by arrival', async () => {
  const budget = budgetOf(0, 1);
  const log: string[] = [];
  const first = await budget.take('checkout', 1_000);
  const order: [Urgency, string][] = [
    ['background', 'a check'],
    ['checkout', 'a purchase'],
    ['webhook', 'a webhook'],
    ['checkout', 'another purchase'],
    ['person-waits', 'a shopper'],
  ];
  for (const [urgency, name] of order) {
    void watch(budget, log, urgency, 60_000, name).then((leave) => leave?.());
  }
  await jest.advanceTimersByTimeAsync(10);
  // The schedule does not wait for people where there is one slot: it has none of theirs.
  expect(log).toEqual(['a check']);
  first?.();
  await jest.advanceTimersByTimeAsync(10);
  expect(log.slice(1)).toEqual(['a purchase', 'another purchase', 'a shopper', 'a webhook']);
});

test('urgency also decides who gets the next token', async () => {
  const budget = budgetOf(1, UNLIMITED);
  const log: string[] = [];
  void watch(budget, log, 'background');
  void watch(budget, log, 'background');
  await jest.advanceTimersByTimeAsync(500);
  void watch(budget, log, 'person-waits');
  // One for each who waits, and one for the next token.
  expect(jest.getTimerCount()).toBe(3);
  await jest.advanceTimersByTimeAsync(600);
  expect(log).toEqual(['background', 'person-waits']);
});

test('B1 a crowd of scheduled checks takes its share, and what is left goes to hints', async () => {
  const budget = budgetOf(20, UNLIMITED);
  const log: string[] = [];
  for (let call = 0; call < 400; call += 1) {
    void watch(budget, log, 'background');
    void watch(budget, log, 'webhook');
  }
  await jest.advanceTimersByTimeAsync(10_000);
  const ofSchedule = log.filter((name) => name === 'background').length;
  // An eighth of 20 a second, and what it took before the first hint came.
  expect(ofSchedule).toBeGreaterThanOrEqual(25);
  expect(ofSchedule).toBeLessThanOrEqual(35);
  expect(log.length - ofSchedule).toBeGreaterThan(150);
});

test('so many in flight and no more; giving a slot back twice gives it back once', async () => {
  const budget = budgetOf(0, 2);
  const log: string[] = [];
  const leave = await budget.take('checkout', 1_000);
  await budget.take('checkout', 1_000);
  void watch(budget, log, 'checkout');
  void watch(budget, log, 'checkout');
  await jest.advanceTimersByTimeAsync(10);
  expect(log).toEqual([]);
  leave?.();
  leave?.();
  await jest.advanceTimersByTimeAsync(10);
  expect(log).toEqual(['checkout']);
});

test('nobody waits longer than agreed, and who gave up takes no turn and no token', async () => {
  const budget = budgetOf(1, 1);
  const log: string[] = [];
  const leave = await budget.take('checkout', 1_000);
  void watch(budget, log, 'person-waits', 2_000);
  void watch(budget, log, 'checkout', 10_000);
  await jest.advanceTimersByTimeAsync(1_999);
  expect(log).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(log).toEqual(['person-waits gave up']);
  leave?.();
  await jest.advanceTimersByTimeAsync(0);
  expect(log).toEqual(['person-waits gave up', 'checkout']);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(log).toHaveLength(2);
  expect(jest.getTimerCount()).toBe(0);
});

describe('slots for people', () => {
  test.each([
    [2, 1, 1],
    [4, 3, 1],
    [32, 23, 4],
  ])('of %i the schedule has %i, and checkouts have %i', async (concurrency, forSchedule, forCheckouts) => {
    const budget = budgetOf(0, concurrency);
    const log: string[] = [];
    for (let call = 0; call < concurrency * 2; call += 1) void watch(budget, log, 'background');
    await jest.advanceTimersByTimeAsync(10);
    expect(log).toHaveLength(forSchedule);
    for (let call = 0; call < concurrency; call += 1) void watch(budget, log, 'checkout');
    await jest.advanceTimersByTimeAsync(10);
    expect(log.filter((name) => name === 'checkout')).toHaveLength(forCheckouts);
  });

  test('of a few, people may have all, and webhooks all but that of a checkout', async () => {
    const budget = budgetOf(0, 4);
    const log: string[] = [];
    for (let call = 0; call < 8; call += 1) void watch(budget, log, 'webhook');
    void watch(budget, log, 'background');
    await jest.advanceTimersByTimeAsync(10);
    expect(log).toEqual(Array<string>(3).fill('webhook'));
    void watch(budget, log, 'checkout');
    await jest.advanceTimersByTimeAsync(10);
    expect(log.at(-1)).toBe('checkout');
  });

  test.each([1, 2, 4])('with %i, one history streams beside them and no second one', async (concurrency) => {
    const budget = budgetOf(0, concurrency);
    const log: string[] = [];
    for (let call = 0; call < concurrency; call += 1) void watch(budget, log, 'checkout');
    const leave = await watch(budget, log, 'history');
    void watch(budget, log, 'history', 60_000, 'a second history');
    await jest.advanceTimersByTimeAsync(10);
    expect(log).toHaveLength(concurrency + 1);
    leave?.();
    await jest.advanceTimersByTimeAsync(10);
    expect(log.at(-1)).toBe('a second history');
  });

  test('where there is only one, the schedule takes turns with history and leaves it alone', async () => {
    const budget = budgetOf(0, 1);
    const log: string[] = [];
    const leave = await watch(budget, log, 'history');
    void watch(budget, log, 'background');
    void watch(budget, log, 'checkout');
    await jest.advanceTimersByTimeAsync(10);
    expect(log).toEqual(['history', 'checkout']);
    leave?.();
    await jest.advanceTimersByTimeAsync(10);
    expect(log).toEqual(['history', 'checkout', 'background']);
  });
});

describe('a wait ends', () => {
  test('when its caller gives up, and what it waited for goes to the next', async () => {
    const budget = budgetOf(0, 1);
    const log: string[] = [];
    const leave = await budget.take('checkout', 1_000);
    const giveUp = new AbortController();
    void budget
      .take('checkout', 60_000, giveUp.signal)
      .then((turn) => log.push(turn === null ? 'none' : 'turn'));
    void watch(budget, log, 'checkout', 60_000, 'next');
    giveUp.abort();
    await jest.advanceTimersByTimeAsync(0);
    expect(log).toEqual(['none']);
    leave?.();
    await jest.advanceTimersByTimeAsync(0);
    expect(log).toEqual(['none', 'next']);
    expect(jest.getTimerCount()).toBe(0);
    expect(await budget.take('checkout', 60_000, giveUp.signal)).toBeNull();
  });

  test('when the budget closes, for everybody, and nobody gets a turn after that', async () => {
    const budget = budgetOf(1, 8);
    const log: string[] = [];
    await budget.take('checkout', 1_000);
    void watch(budget, log, 'person-waits');
    void watch(budget, log, 'history');
    budget.close();
    await jest.advanceTimersByTimeAsync(0);
    expect(log).toEqual(['person-waits gave up', 'history gave up']);
    expect(await budget.take('person-waits', 60_000)).toBeNull();
    expect(jest.getTimerCount()).toBe(0);
  });
});
