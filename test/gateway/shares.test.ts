/** @jest-environment node */
import { afterEach, beforeEach, describe, expect, jest, test as testOfBoth } from '@jest/globals';
import { createRateLimiter, type Budget, type Urgency } from '../../src/gateway/traffic/rate-limiter.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';

// Strangers may cause as many returns and hints as they like. Nothing here waits for real time.
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

type Waits = { waitedMs: number[]; gaveUp: number };
/** So many calls of one kind a second, each of which takes `callMs`; what waits at the end is not counted. */
function stream(budget: Budget, urgency: Urgency, perSecond: number, callMs: number, maxWaitMs = 2_000) {
  const waits: Waits = { waitedMs: [], gaveUp: 0 };
  const timer = setInterval(() => {
    const startMs = systemClock.elapsedMs();
    void budget.take(urgency, maxWaitMs).then((leave) => {
      if (leave === null) waits.gaveUp += 1;
      else {
        waits.waitedMs.push(systemClock.elapsedMs() - startMs);
        setTimeout(leave, callMs);
      }
    });
  }, 1_000 / perSecond);
  return {
    waits,
    stop: () => {
      clearInterval(timer);
    },
  };
}
const budgetOf = (callsPerSecond: number, concurrency = 32): Budget =>
  createRateLimiter({ callsPerSecond, concurrency, clock: systemClock });
const FLOODS: Urgency[] = ['person-waits', 'webhook', 'hint', 'background', 'history'];

describe('B1: what a flood cannot take', () => {
  const paces = FLOODS.flatMap((flood) => [50, 20, 5].map((perSecond) => [flood, perSecond] as const));
  testOfBoth.each(someOf(paces, 3))(
    'a flood of %s on a budget of %i calls a second: no checkout waits',
    async (flood, perSecond) => {
      const budget = budgetOf(perSecond);
      const { stop } = stream(budget, flood, 100, 5);
      await jest.advanceTimersByTimeAsync(10_000);
      const honest = stream(budget, 'checkout', 1, 5);
      await jest.advanceTimersByTimeAsync(10_500);
      expect(honest.waits.gaveUp).toBe(0);
      expect(honest.waits.waitedMs).toHaveLength(10);
      expect(Math.max(...honest.waits.waitedMs)).toBe(0);
      stop();
      honest.stop();
    },
  );

  const slots = FLOODS.flatMap((flood) => [4, 8, 32].map((concurrency) => [flood, concurrency] as const));
  testOfBoth.each(someOf(slots, 3))(
    'a flood of %s at a service that takes two seconds, %i calls in flight: a checkout has a slot',
    async (flood, concurrency) => {
      const budget = budgetOf(0, concurrency);
      const { stop } = stream(budget, flood, 100, 2_000);
      await jest.advanceTimersByTimeAsync(5_000);
      const honest = stream(budget, 'checkout', 0.4, 2_000);
      await jest.advanceTimersByTimeAsync(25_500);
      expect(honest.waits).toEqual({ waitedMs: Array(10).fill(0), gaveUp: 0 });
      stop();
      honest.stop();
    },
  );

  test('when everybody floods, everybody still has a part of the calls', async () => {
    const budget = budgetOf(50);
    const all = (['checkout', ...FLOODS] as Urgency[]).map((each) => stream(budget, each, 100, 5));
    await jest.advanceTimersByTimeAsync(20_000);
    // Two calls a second and kind are a tenth below the smallest part.
    expect(Math.min(...all.map(({ waits }) => waits.waitedMs.length))).toBeGreaterThan(20 * 2);
    for (const { stop } of all) stop();
  });

  test('on one call a second everybody still has a turn', async () => {
    const budget = budgetOf(1);
    const all = new Map(
      (['checkout', ...FLOODS] as Urgency[]).map((each) => [each, stream(budget, each, 2, 5, 60_000)]),
    );
    await jest.advanceTimersByTimeAsync(120_000);
    for (const { waits, stop } of all.values()) {
      expect(waits.waitedMs.length).toBeGreaterThan(3);
      stop();
    }
  });

  test('the schedule has its part of the slots of a slow service', async () => {
    const budget = budgetOf(0, 32);
    const floods = (['checkout', 'person-waits', 'webhook', 'hint'] as const).map((each) =>
      stream(budget, each, 100, 2_000),
    );
    await jest.advanceTimersByTimeAsync(5_000);
    const { waits, stop } = stream(budget, 'background', 0.4, 2_000);
    await jest.advanceTimersByTimeAsync(25_500);
    expect(waits).toEqual({ waitedMs: Array(10).fill(0), gaveUp: 0 });
    for (const each of [...floods, { stop }]) each.stop();
  });

  testOfBoth.each(someOf(FLOODS, 2))('what nobody else wants, %s may have', async (urgency) => {
    const budget = budgetOf(50);
    const { waits, stop } = stream(budget, urgency, 100, 5);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(waits.waitedMs.length).toBeGreaterThan(10 * 50 * 0.9);
    stop();
  });

  test('no second has more calls than the budget and what was saved', async () => {
    const budget = budgetOf(50);
    await jest.advanceTimersByTimeAsync(60_000);
    const all = (['checkout', ...FLOODS] as Urgency[]).map((each) => stream(budget, each, 100, 5));
    await jest.advanceTimersByTimeAsync(10_000);
    const calls = all.reduce((sum, { waits }) => sum + waits.waitedMs.length, 0);
    expect(calls).toBeLessThanOrEqual(50 + 10 * 50);
    for (const { stop } of all) stop();
  });
});

describe('a service that answers 429', () => {
  test('B1: is asked at half the pace at once, and slowly faster again', async () => {
    const budget = budgetOf(40);
    const { waits, stop } = stream(budget, 'webhook', 100, 5);
    const within = async (seconds: number): Promise<number> => {
      const before = waits.waitedMs.length;
      await jest.advanceTimersByTimeAsync(seconds * 1_000);
      return (waits.waitedMs.length - before) / seconds;
    };
    await within(5);
    budget.slowDown();
    // Those that were on their way are answered the same: that is one lesson and not two.
    budget.slowDown();
    const slow = await within(2);
    expect(slow).toBeGreaterThan(15);
    expect(slow).toBeLessThan(25);
    await within(120);
    expect(await within(5)).toBeGreaterThan(38);
    stop();
  });
});
