import { beforeEach, describe, expect, test } from '@jest/globals';
import { createBreaker, type Breaker, type CallOutcome } from '../../src/gateway/traffic/circuit-breaker.ts';
import { createLogger } from '../../src/platform/logger.ts';

let nowMs = 0;
let breaker: Breaker;
beforeEach(() => {
  nowMs = 1_000_000;
  const clock = { now: () => new Date(0), elapsedMs: () => nowMs };
  breaker = createBreaker({ clock, logger: createLogger('silent') });
});

/** Lets `count` calls pass and end so. */
function calls(count: number, outcome: CallOutcome): void {
  for (let call = 0; call < count; call += 1) {
    const note = breaker.admit();
    if (note === null) throw new Error(`call ${call + 1} was not let through`);
    note(outcome);
  }
}
const isOpen = (): boolean => breaker.blockedMs() > 0;

describe('opens', () => {
  test('when half of twenty calls fail', () => {
    calls(10, 'answered');
    calls(9, 'failed');
    expect(isOpen()).toBe(false);
    calls(1, 'failed');
    expect(breaker.blockedMs()).toBe(20_000);
    expect(breaker.admit()).toBeNull();
  });

  test('at five time-outs in a row, however few the calls', () => {
    calls(4, 'timed-out');
    expect(isOpen()).toBe(false);
    calls(1, 'timed-out');
    expect(isOpen()).toBe(true);
  });

  test('when the failures of one outage lie seconds apart', () => {
    for (let second = 0; second < 20; second += 1) {
      calls(1, 'failed');
      nowMs += 1_000;
    }
    expect(isOpen()).toBe(true);
  });
});

describe('stays closed', () => {
  test('for nineteen failures: an outage of a few calls heals at once', () => {
    calls(19, 'failed');
    expect(isOpen()).toBe(false);
  });

  test('when fewer than half fail', () => {
    for (let round = 0; round < 50; round += 1) {
      calls(3, 'answered');
      calls(2, 'failed');
    }
    expect(isOpen()).toBe(false);
  });

  test.each<CallOutcome>(['answered', 'failed'])('when "%s" comes between the time-outs', (between) => {
    calls(4, 'timed-out');
    calls(1, between);
    calls(4, 'timed-out');
    expect(isOpen()).toBe(false);
  });

  test('when the failures are older than the window', () => {
    calls(19, 'failed');
    nowMs += 30_000;
    calls(19, 'failed');
    expect(isOpen()).toBe(false);
  });

  test('for calls that we broke off ourselves', () => {
    calls(4, 'timed-out');
    calls(100, 'unknown');
    expect(isOpen()).toBe(false);
    calls(1, 'timed-out');
    expect(isOpen()).toBe(true);
  });
});

describe('once open', () => {
  beforeEach(() => {
    calls(5, 'timed-out');
  });

  test('lets one probe through after 20 s, and nobody else until it is back', () => {
    nowMs += 19_999;
    expect(breaker.admit()).toBeNull();
    nowMs += 1;
    expect(isOpen()).toBe(false);
    expect(breaker.admit()).not.toBeNull();
    expect(breaker.admit()).toBeNull();
    expect(isOpen()).toBe(true);
  });

  test('closes when the probe is answered, and forgets what was', () => {
    nowMs += 20_000;
    calls(1, 'answered');
    calls(4, 'timed-out');
    calls(14, 'failed');
    expect(isOpen()).toBe(false);
  });

  test.each<CallOutcome>(['failed', 'timed-out'])('stays open as long again when the probe %s', (outcome) => {
    nowMs += 20_000;
    calls(1, outcome);
    expect(breaker.blockedMs()).toBe(20_000);
    nowMs += 20_000;
    calls(1, 'answered');
    expect(isOpen()).toBe(false);
  });

  test('sends another probe when the first was broken off', () => {
    nowMs += 20_000;
    calls(1, 'unknown');
    expect(breaker.admit()).not.toBeNull();
  });
});

test('calls that went out before it opened move it no more', () => {
  const early = Array.from({ length: 12 }, () => breaker.admit());
  early.slice(0, 5).forEach((note) => note?.('timed-out'));
  nowMs += 10_000;
  early.slice(5, 11).forEach((note) => note?.('timed-out'));
  expect(breaker.blockedMs()).toBe(10_000);
  nowMs += 10_000;
  calls(1, 'answered');
  early.at(-1)?.('timed-out');
  expect(isOpen()).toBe(false);
});
