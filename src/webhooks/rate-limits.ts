import type { Clock } from '../platform/clock.ts';

/** So many a while, counted in this process: to refuse a flood must cost less than to take it. */
export type Limit = {
  hasRoom(name: string): boolean;
  /** @returns false when the while's share of that name is used up */
  take(name: string): boolean;
  /** Whole seconds until counting begins anew, at least 1. */
  resetsInSec(): number;
};

/** More than a busy service calls from one machine of its own, and less than makes PostgreSQL sweat. */
const FROM_ADDRESS_PER_SEC = 200;
/**
 * Of those, so many have the service asked as they come in; the clock follows the others a moment later, those of
 * payments about which hints have taught us least last. The queue of calls thus holds a few hints of each address, and
 * one from elsewhere does not wait behind a flood.
 */
const ASKED_AT_ONCE_PER_SEC = 4;
/** Those that name no payment of ours show a person what is wrong with the dialect. A sample does. */
const UNKNOWN_PER_MIN = 60;

/** What nobody signed may come from anybody, so it gets a share of the disk and of our time, and no more. */
export function createUnsignedLimits(clock: Clock): {
  ofAddress: Limit;
  atOnce: Limit;
  unknown: Limit;
} {
  return {
    ofAddress: createLimit(FROM_ADDRESS_PER_SEC, 1_000, clock),
    atOnce: createLimit(ASKED_AT_ONCE_PER_SEC, 1_000, clock),
    unknown: createLimit(UNKNOWN_PER_MIN, 60_000, clock),
  };
}

function createLimit(max: number, windowMs: number, clock: Clock): Limit {
  let counts = new Map<string, number>();
  let endsAtMs = -Infinity;

  function countOf(name: string): number {
    const nowMs = clock.elapsedMs();
    // All names begin anew together, so that nothing is remembered of those that do not come again.
    if (nowMs >= endsAtMs) [counts, endsAtMs] = [new Map<string, number>(), nowMs + windowMs];
    return counts.get(name) ?? 0;
  }

  return {
    hasRoom: (name) => countOf(name) < max,
    take: (name) => {
      const count = countOf(name);
      counts.set(name, count + 1);
      return count < max;
    },
    resetsInSec: () => Math.max(1, Math.ceil((endsAtMs - clock.elapsedMs()) / 1_000)),
  };
}
