import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';

/**
 * How a call ended. `answered`: any answer that is not the service's own failure, a refusal included.
 * `failed`: no answer, or a 5xx. `unknown`: we aborted the call, which says nothing about the service.
 */
export type CallOutcome = 'answered' | 'failed' | 'timed-out' | 'unknown';

/**
 * Stops calls to a failing service, so that it can recover and our callers get an error at once. It
 * opens when calls fail, stays open for a while, then lets one call through as a probe, whose outcome
 * closes it or opens it again.
 */
export type Breaker = {
  /** Milliseconds until a call is worth trying, above 0 also while a probe is in flight; 0: now. */
  blockedMs(): number;
  /** Admits one call, or none: null. The admitted caller reports once how the call ended. */
  admit(): ((outcome: CallOutcome) => void) | null;
  /**
   * Whether a probe is in flight: then the call just admitted is the probe, and others wait for its outcome.
   */
  isProbing(): boolean;
};

/** Long enough for twenty calls of a small shop, short enough that an old outage does not count. */
const WINDOW_SEC = 30;
/** Fewer calls prove nothing: an outage of a few of them heals at once. */
const MIN_CALLS = 20;
const MAX_FAILED_SHARE = 0.5;
/** A time-out costs seconds and a slot, so a few of them in a row are enough. */
const MAX_TIME_OUTS_IN_A_ROW = 5;
/** Time for a service to restart, and less than a shopper takes to try again. */
const OPEN_MS = 20_000;
/** The pause reported to other calls while the probe is in flight. */
const PROBE_PAUSE_MS = 1_000;

export function createBreaker({ clock, logger }: { clock: Clock; logger: Logger }): Breaker {
  let recent = createRecent(clock);
  let openUntilMs: number | null = null;
  let isProbing = false;

  function open(): void {
    openUntilMs = clock.elapsedMs() + OPEN_MS;
    // Calls still in flight report to the old counts: they show how the service was, not how it is.
    recent = createRecent(clock);
    logger.warn({ pauseSec: OPEN_MS / 1_000 }, 'the service is failing: it is not asked for a while');
  }

  function endProbe(outcome: CallOutcome): void {
    isProbing = false;
    if (outcome === 'unknown') return;
    if (outcome !== 'answered') {
      open();
      return;
    }
    openUntilMs = null;
    logger.info('the service answers again');
  }

  return {
    blockedMs: () => {
      if (openUntilMs === null) return 0;
      return isProbing ? PROBE_PAUSE_MS : Math.max(openUntilMs - clock.elapsedMs(), 0);
    },
    admit: () => {
      if (openUntilMs === null) {
        const counts = recent;
        return (outcome) => {
          counts.note(outcome);
          if (counts === recent && counts.areBad()) open();
        };
      }
      if (isProbing || clock.elapsedMs() < openUntilMs) return null;
      isProbing = true;
      return endProbe;
    },
    isProbing: () => isProbing,
  };
}

/** Counts per second, so that the memory of a window does not grow with the calls in it. */
function createRecent(clock: Clock): { note(outcome: CallOutcome): void; areBad(): boolean } {
  let seconds: { at: number; calls: number; failures: number }[] = [];
  let timeOuts = 0;
  return {
    note: (outcome) => {
      if (outcome === 'unknown') return;
      const at = Math.floor(clock.elapsedMs() / 1_000);
      if (seconds.at(-1)?.at !== at) {
        seconds = [...seconds.filter((second) => at - second.at < WINDOW_SEC), { at, calls: 0, failures: 0 }];
      }
      const current = seconds.at(-1);
      if (current === undefined) return;
      current.calls += 1;
      current.failures += outcome === 'answered' ? 0 : 1;
      timeOuts = outcome === 'timed-out' ? timeOuts + 1 : 0;
    },
    areBad: () => {
      if (timeOuts >= MAX_TIME_OUTS_IN_A_ROW) return true;
      const calls = seconds.reduce((sum, second) => sum + second.calls, 0);
      const failures = seconds.reduce((sum, second) => sum + second.failures, 0);
      return calls >= MIN_CALLS && failures >= calls * MAX_FAILED_SHARE;
    },
  };
}
