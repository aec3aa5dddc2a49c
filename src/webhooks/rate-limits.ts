import type { Clock } from '../platform/clock.ts';

/** A fixed-window rate limit per process. Rejecting a flood must cost less than serving it. */
export type Limit = {
  hasRoom(name: string): boolean;
  /** @returns false when that name has used up its share of the window */
  take(name: string): boolean;
  /** Whole seconds until the next window begins, at least 1. */
  resetsInSec(): number;
};

/** More than a busy service sends from one machine of its own, and less than overloads PostgreSQL. */
const FROM_ADDRESS_PER_SEC = 200;
/**
 * How many of those have the service asked as they come in; the poller follows the others a moment
 * later, and comes last to payments whose hints have taught us least. The queue of calls thus holds a
 * few hints of each address, and a hint from elsewhere does not wait behind a flood.
 */
const ASKED_AT_ONCE_PER_SEC = 4;
/** Webhooks that name no payment of ours show an operator what is wrong with the dialect. A sample does. */
const UNKNOWN_PER_MIN = 60;

/** Any client can send an unsigned webhook, so these get a limited share of the disk and of our time. */
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
    // All names begin a new window together, so that names which do not come again are forgotten.
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
