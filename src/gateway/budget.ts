import type { Clock } from '../platform/clock.ts';

/**
 * Why a call is made, most urgent first: a shopper came back from the checkout, a webhook hints at money, a shopper
 * wants to pay, and everything that nobody waits for (the clock's schedule, history).
 */
export const URGENCIES = ['return', 'hint', 'checkout', 'background'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** How much one process asks of the service: so many calls a second, and so many at a time. */
export type Budget = {
  /**
   * Waits for a call's turn, `maxWaitMs` milliseconds at most.
   * @returns what to call when the call is over (again does no harm), or null when its turn did not come
   */
  take(urgency: Urgency, maxWaitMs: number): Promise<(() => void) | null>;
};

export type BudgetOptions = {
  /** Calls a second; 0: no limit. A second's worth may go out at once: checkouts come in bursts. */
  callsPerSecond: number;
  /** Calls in flight at most. */
  concurrency: number;
  clock: Clock;
};

/** Starts one call that waits. */
type Turn = () => void;

export function createBudget({ callsPerSecond, concurrency, clock }: BudgetOptions): Budget {
  const waiting = new Map(URGENCIES.map((urgency) => [urgency, new Set<Turn>()]));
  const tokens = createTokens(callsPerSecond, clock);
  let inFlight = 0;
  let alarm: NodeJS.Timeout | undefined;

  /** Gives turns while there are any to give. If time alone brings the next one, looks again then. */
  function serve(): void {
    clearTimeout(alarm);
    while (inFlight < concurrency) {
      // A map keeps the order of urgency, a set the order of arrival.
      const queue = [...waiting.values()].find((turns) => turns.size > 0);
      const [turn] = queue ?? [];
      if (queue === undefined || turn === undefined) return;
      const pauseMs = tokens.takeOne();
      if (pauseMs > 0) {
        // Wakes nobody but a call that waits, and that call has a timer of its own to hold the process.
        alarm = setTimeout(serve, pauseMs).unref();
        return;
      }
      queue.delete(turn);
      inFlight += 1;
      turn();
    }
  }

  function release(): void {
    inFlight -= 1;
    serve();
  }

  return {
    take: (urgency, maxWaitMs) =>
      new Promise((resolve) => {
        const giveUp = setTimeout(() => {
          waiting.get(urgency)?.delete(turn);
          resolve(null);
        }, maxWaitMs);
        const turn = (): void => {
          clearTimeout(giveUp);
          resolve(once(release));
        };
        waiting.get(urgency)?.add(turn);
        serve();
      }),
  };
}

/** A token bucket that holds a second's worth and fills evenly. */
function createTokens(perSecond: number, clock: Clock): { takeOne(): number } {
  let count = perSecond;
  let filledAtMs = clock.elapsedMs();
  return {
    /** @returns 0 when one was taken, else the milliseconds until there is one */
    takeOne: () => {
      if (perSecond === 0) return 0;
      const nowMs = clock.elapsedMs();
      count = Math.min(perSecond, count + ((nowMs - filledAtMs) * perSecond) / 1_000);
      filledAtMs = nowMs;
      if (count < 1) return Math.ceil(((1 - count) * 1_000) / perSecond);
      count -= 1;
      return 0;
    },
  };
}

/** A slot given back twice would let one call too many out. */
function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
