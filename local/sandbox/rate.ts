import type { Clock } from '../../src/platform/clock.ts';
import type { Limit } from './conditions.ts';

/** Counts calls against the limit, the refused ones too: who hammers on stays out. */
export type Turnstile = {
  /** @returns seconds until a call is taken again, or null: this one is */
  refusesFor(limit: Limit | null): number | null;
  reset(): void;
};

export function createTurnstile(clock: Clock): Turnstile {
  let second = 0;
  let calls = 0;
  let lockedUntilMs = -Infinity;
  return {
    refusesFor(limit) {
      if (limit === null) return null;
      const nowMs = clock.elapsedMs();
      if (nowMs < lockedUntilMs) return Math.ceil((lockedUntilMs - nowMs) / 1_000);
      const at = Math.floor(nowMs / 1_000);
      calls = at === second ? calls + 1 : 1;
      second = at;
      if (calls <= limit.callsPerSecond) return null;
      if (limit.lockOutSec === null) return 1;
      lockedUntilMs = nowMs + limit.lockOutSec * 1_000;
      return limit.lockOutSec;
    },
    reset() {
      calls = 0;
      lockedUntilMs = -Infinity;
    },
  };
}
