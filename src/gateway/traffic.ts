import PQueue from 'p-queue';
import { Unanswered } from './errors.ts';

/**
 * Somebody waits for the answer of an interactive call: at checkout, on return, or in the console.
 */
export type Priority = 'interactive' | 'background';
export type Endpoint = 'initialize' | 'verify' | 'history';
type Answer = { status: number; retryAfterSec: number | null };

/**
 * Decides when a call to the service is made. Each priority has its own share of the calls, so that
 * a flood of notifications cannot starve a shopper. Each endpoint has a circuit breaker. Pauses
 * that the service asks for are respected.
 */
export type Traffic = {
  /**
   * @param waitMs how long the call may wait for its turn
   * @throws {Unanswered} if the call was not made; otherwise whatever the call throws
   */
  run<A extends Answer>(endpoint: Endpoint, priority: Priority, waitMs: number, call: () => Promise<A>): Promise<A>;
};

/** The share of calls per second and of concurrent calls. */
const INTERACTIVE_SHARE = 0.6;
/** Calls are spread over the second in steps, so that they do not all leave at its start. */
const STEP_MS = 200;
/** A longer queue would only delay everybody. */
const MAX_WAITING = 100;

/** @param callsPerSecond for this process; 0 means no limit */
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

/** A turn goes to the caller that has waited longest. A caller that has given up uses no turn. */
function createLine(queue: PQueue): <Result>(waitMs: number, work: () => Promise<Result>) => Promise<Result> {
  const waiting = new Set<() => Promise<void>>();
  return (waitMs, work) =>
    new Promise((resolve, reject) => {
      if (waiting.size >= MAX_WAITING) throw notAsked('too many calls are waiting', 5);
      const job = (): Promise<void> => {
        clearTimeout(timer);
        return work().then(resolve, reject);
      };
      const timer = setTimeout(() => {
        waiting.delete(job);
        reject(notAsked('its turn did not come in time', 2));
      }, waitMs);
      waiting.add(job);
      if (queue.size >= waiting.size) return;
      void queue.add(async () => {
        const [first] = waiting;
        if (first !== undefined && waiting.delete(first)) await first();
      });
    });
}

/** After this many failures in a row, only one call per second is made until one succeeds. */
const FAILURES = 5;
const PROBE_EVERY_MS = 1_000;
/** While the service asks us to wait, one call per interval checks whether the pause has ended. */
const PROBE_PAUSE_MS = 10_000;
/**
 * Calls that began this soon after a failed one count as one failure, because they failed together.
 */
const ONE_MOMENT_MS = 1_000;

/**
 * A circuit breaker for one endpoint: if checkouts hang, verify must continue to work. Times are
 * those of this process.
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
