import PQueue from 'p-queue';
import { Unanswered } from './errors.ts';

/**
 * Interactive calls have somebody who waits for the answer: at checkout, on return, in the console.
 */
export type Priority = 'interactive' | 'background';
export type Endpoint = 'initialize' | 'verify' | 'history';
type Answer = { status: number; retryAfterSec: number | null };

/**
 * Decides when a call to the service is made. Two bulkheads, each with its own share of the calls,
 * so that no flood of notifications starves a shopper; a breaker for each endpoint; and the pauses
 * that the service asks for.
 */
export type Traffic = {
  /**
   * @param waitMs how long the call may wait for its turn
   * @throws {Unanswered} when it was not made; else what the call throws
   */
  run<A extends Answer>(endpoint: Endpoint, priority: Priority, waitMs: number, call: () => Promise<A>): Promise<A>;
};

/** Of calls a second and of calls in flight. */
const INTERACTIVE_SHARE = 0.6;
/** Turns are given in steps, so that a second's calls do not all leave at its start. */
const STEP_MS = 200;
/** A longer queue would only make everybody late. */
const MAX_WAITING = 100;

/** @param callsPerSecond of this process; 0: no limit */
export function createTraffic(limits: { callsPerSecond: number; concurrency: number }): Traffic {
  const queueOf = (part: number): PQueue => {
    const intervalCap = Math.max(1, Math.round((limits.callsPerSecond * part * STEP_MS) / 1_000));
    return new PQueue({
      concurrency: Math.max(1, Math.round(limits.concurrency * part)),
      ...(limits.callsPerSecond > 0 && { interval: STEP_MS, intervalCap }),
    });
  };
  const lines = {
    interactive: createLine(queueOf(INTERACTIVE_SHARE)),
    background: createLine(queueOf(1 - INTERACTIVE_SHARE)),
  };
  const gates = { initialize: createGate(), verify: createGate(), history: createGate() };

  return {
    run: async (endpoint, priority, waitMs, call) => {
      const gate = gates[endpoint];
      gate.check();
      return lines[priority](waitMs, () => gate.watch(call));
    },
  };
}

/** A turn belongs to whoever waits first: one who has given up takes none with him. */
function createLine(queue: PQueue): <Result>(waitMs: number, work: () => Promise<Result>) => Promise<Result> {
  const waiting = new Set<() => Promise<void>>();
  return (waitMs, work) =>
    new Promise((resolve, reject) => {
      if (waiting.size >= MAX_WAITING) throw notAsked('too many calls wait', 5);
      const job = (): Promise<void> => {
        clearTimeout(timer);
        return work().then(resolve, reject);
      };
      const timer = setTimeout(() => {
        waiting.delete(job);
        reject(notAsked('there was no turn in time', 2));
      }, waitMs);
      waiting.add(job);
      if (queue.size >= waiting.size) return;
      void queue.add(async () => {
        const [first] = waiting;
        if (first !== undefined && waiting.delete(first)) await first();
      });
    });
}

/** Failures in a row, after which only one call a second is let through until one succeeds. */
const FAILURES = 5;
const PROBE_EVERY_MS = 1_000;
/**
 * While the service asked us to wait, a single call this often finds out whether it still means it.
 */
const PROBE_PAUSE_MS = 10_000;
/** Calls that began this close to a failed one failed with it: they count once. */
const ONE_MOMENT_MS = 1_000;

/**
 * Of one endpoint: a service that hangs over some checkouts must not stop verify. Time is this
 * process's own.
 */
function createGate(): { check(): void; watch<A extends Answer>(call: () => Promise<A>): Promise<A> } {
  let failures = 0;
  let countedMs = -Infinity;
  let probeMs = 0;
  let pausedUntilMs = 0;

  const settle = (beganMs: number, hasFailed: boolean): void => {
    if (!hasFailed) failures = 0;
    else if (beganMs - countedMs > ONE_MOMENT_MS) [failures, countedMs] = [failures + 1, beganMs];
  };
  return {
    check: () => {
      const now = performance.now();
      const isPaused = now < pausedUntilMs;
      if (!isPaused && failures < FAILURES) return;
      if (now < probeMs && isPaused) {
        const leftMs = Math.min(pausedUntilMs, probeMs) - now;
        throw notAsked('the service asked us to wait', Math.ceil(leftMs / 1_000));
      }
      if (now < probeMs) throw notAsked('the service is failing', 2);
      probeMs = now + (isPaused ? PROBE_PAUSE_MS : PROBE_EVERY_MS);
    },
    watch: async (call) => {
      const beganMs = performance.now();
      try {
        const answer = await call();
        settle(beganMs, answer.status >= 500);
        const asksToWait = answer.status === 429 || answer.status === 503;
        const now = performance.now();
        if (asksToWait && answer.retryAfterSec !== null) {
          pausedUntilMs = now + answer.retryAfterSec * 1_000;
          probeMs = now + PROBE_PAUSE_MS;
        } else if (!asksToWait) pausedUntilMs = now;
        return answer;
      } catch (error) {
        settle(beganMs, true);
        throw error;
      }
    },
  };
}

function notAsked(why: string, retryAfterSec: number): Unanswered {
  return new Unanswered(`the service was not asked: ${why}`, { sent: false, retryAfterSec });
}
