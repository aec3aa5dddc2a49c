import type { Clock } from '../platform/clock.ts';

/**
 * Why a call is made, most urgent first: a shopper came back from the checkout, a webhook hints at money, a shopper
 * wants to pay, and what nobody waits for: the clock's schedule, and history.
 */
export const URGENCIES = ['return', 'hint', 'checkout', 'background', 'history'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** How much one process asks of the service: so many calls a second, and so many at a time. */
export type Budget = {
  /**
   * Waits for a call's turn, `maxWaitMs` milliseconds at most, and no longer than `signal` and the budget last.
   * @returns what to call when the call is over (again does no harm), or null when its turn did not come
   */
  take(urgency: Urgency, maxWaitMs: number, signal?: AbortSignal): Promise<(() => void) | null>;
  /** Nobody gets a turn any more, and whoever waits learns it now. */
  close(): void;
  isClosed(): boolean;
};

export type BudgetOptions = {
  /** Calls a second; 0: no limit. A second's worth may go out at once: checkouts come in bursts. */
  callsPerSecond: number;
  /** Calls in flight at most, beside the one of {@link EXTRA_SLOTS}. */
  concurrency: number;
  clock: Clock;
};

/**
 * History has a slot of its own beyond the others, and only that one: a list may stream for a quarter of an hour, and
 * with few slots no shopper would get through meanwhile.
 */
export const EXTRA_SLOTS = 1;
/** Of the other slots a quarter is kept from the schedule: a slow service would fill all of them with its checks. */
const KEPT_FOR_PEOPLE = 1 / 4;

/** Starts one call that waits. */
type Turn = () => void;
type Slots = { inFlight: number };
/** Where a call of some urgency is counted, and how many may be in flight there when it joins them. */
type Lane = { slots: Slots; limit: number; turns: Set<Turn> };

export function createBudget({ callsPerSecond, concurrency, clock }: BudgetOptions): Budget {
  const lanes = createLanes(concurrency);
  const tokens = createTokens(callsPerSecond, clock);
  const waiting = new Set<() => void>();
  let isClosed = false;
  let alarm: NodeJS.Timeout | undefined;

  /** Gives turns while there are any to give. If time alone brings the next one, looks again then. */
  function serve(): void {
    clearTimeout(alarm);
    for (;;) {
      // A map keeps the order of urgency, a set the order of arrival.
      const lane = [...lanes.values()].find(
        ({ turns, slots, limit }) => turns.size > 0 && slots.inFlight < limit,
      );
      const [turn] = lane?.turns ?? [];
      if (lane === undefined || turn === undefined) return;
      const pauseMs = tokens.takeOne();
      if (pauseMs > 0) {
        // Wakes nobody but a call that waits, and that call has a timer of its own to hold the process.
        alarm = setTimeout(serve, pauseMs).unref();
        return;
      }
      lane.slots.inFlight += 1;
      turn();
    }
  }

  return {
    take: (urgency, maxWaitMs, signal) => {
      const lane = lanes.get(urgency);
      if (lane === undefined || isClosed || signal?.aborted === true) return Promise.resolve(null);
      const leave = once(() => {
        lane.slots.inFlight -= 1;
        serve();
      });
      const hasTurn = queueUp(lane, waiting, maxWaitMs, signal);
      serve();
      return hasTurn.then((has) => (has ? leave : null));
    },
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
      clearTimeout(alarm);
      for (const giveUp of [...waiting]) giveUp();
    },
  };
}

/** Joins a lane's queue. @returns whether its turn came before patience, the caller or the budget ended */
function queueUp(
  { turns }: Lane,
  waiting: Set<() => void>,
  maxWaitMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    const leaveQueue = (hasTurn: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      turns.delete(turn);
      waiting.delete(giveUp);
      resolve(hasTurn);
    };
    const turn = (): void => {
      leaveQueue(true);
    };
    const giveUp = (): void => {
      leaveQueue(false);
    };
    const timer = setTimeout(giveUp, maxWaitMs);
    signal?.addEventListener('abort', giveUp);
    turns.add(turn);
    waiting.add(giveUp);
  });
}

function createLanes(concurrency: number): Map<Urgency, Lane> {
  const shared: Slots = { inFlight: 0 };
  const extra: Slots = { inFlight: 0 };
  const forSchedule = concurrency - Math.ceil(concurrency * KEPT_FOR_PEOPLE);
  const laneOf = (urgency: Urgency): Omit<Lane, 'turns'> => {
    if (urgency === 'history') return { slots: extra, limit: EXTRA_SLOTS };
    if (urgency !== 'background') return { slots: shared, limit: concurrency };
    // The only slot is for people. The schedule then takes turns with history.
    return forSchedule === 0 ? { slots: extra, limit: EXTRA_SLOTS } : { slots: shared, limit: forSchedule };
  };
  return new Map(URGENCIES.map((urgency) => [urgency, { ...laneOf(urgency), turns: new Set() }]));
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
