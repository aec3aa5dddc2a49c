import type { Clock } from '../../platform/clock.ts';
import { createTokens } from './token-bucket.ts';

/**
 * Why a call is made, most urgent first: a shopper wants to pay; a person waits for a page (a shopper who
 * came back, an operator who asks); a webhook hints at money; the poller follows a hint that could not be
 * followed at once; the schedule, reconciliation; history.
 *
 * Strangers can cause returns and hints at will, so urgency alone would let them use up all calls. Each
 * kind has a share of the calls per second and of the slots that no other kind can use up. What a kind
 * leaves unused goes to the others in order of urgency. Two rules ensure that: a call within its kind's
 * share goes before any other, and a call beyond it must leave the unused shares of the others untouched.
 */
const URGENCIES = ['checkout', 'person-waits', 'webhook', 'hint', 'background', 'history'] as const;
export type Urgency = (typeof URGENCIES)[number];

const SHARES: Readonly<Record<Urgency, number>> = {
  checkout: 1 / 4,
  'person-waits': 1 / 8,
  webhook: 1 / 8,
  hint: 1 / 16,
  background: 1 / 8,
  history: 1 / 16,
};

/** The limits of one process's calls to the service: calls per second, and calls at a time. */
export type Budget = {
  /**
   * Waits for a call's turn, `maxWaitMs` milliseconds at most, and no longer than `signal`
   * and the budget last.
   * @returns what to call when the call is over (repeating is harmless), or null when its turn did not come
   */
  take(urgency: Urgency, maxWaitMs: number, signal?: AbortSignal): Promise<(() => void) | null>;
  /** The service answered that there were too many calls: fewer go out for a while. */
  slowDown(): void;
  /** Gives no more turns, and ends all waits now. */
  close(): void;
  isClosed(): boolean;
};

type BudgetOptions = {
  /** Calls a second; 0: no limit. A second's worth of checkouts may go out at once: they come in bursts. */
  callsPerSecond: number;
  /** Maximum calls in flight, beside the one of {@link EXTRA_SLOTS}. */
  concurrency: number;
  clock: Clock;
};

/**
 * History has a slot of its own beyond the others, and only that one: a list may stream for a quarter of
 * an hour, and with few slots no shopper would get through meanwhile.
 */
export const EXTRA_SLOTS = 1;
/** The part of its share of the slots that a kind reserves. Only half: reserved slots may stand idle. */
const KEPT_SLOTS = 1 / 2;

/** Starts one call that waits. */
type Turn = () => void;
/** Calls of one kind: those that wait, those in flight, and the number of slots reserved for them. */
type Lane = { urgency: Urgency; turns: Set<Turn>; inFlight: number; kept: number; slots: Slots };
type Slots = { count: number; lanes: Lane[] };

export function createRateLimiter({ callsPerSecond, concurrency, clock }: BudgetOptions): Budget {
  const lanes = createLanes(concurrency);
  const tokens = createTokens(callsPerSecond, SHARES, 'checkout', clock);
  const waiting = new Set<() => void>();
  let isClosed = false;
  let alarm: NodeJS.Timeout | undefined;

  /** Gives turns while it can. If the next turn needs only time, runs again then. */
  function serve(): void {
    clearTimeout(alarm);
    for (;;) {
      // A map keeps the order of urgency, a set the order of arrival.
      const ready = [...lanes.values()].filter((lane) => lane.turns.size > 0 && hasSlot(lane));
      if (ready.length === 0) return;
      const taken = tokens.take(ready.map(({ urgency }) => urgency));
      if (typeof taken === 'number') {
        // Unref'd: it only wakes calls that wait, and their own timers keep the process alive.
        alarm = setTimeout(serve, taken).unref();
        return;
      }
      const lane = lanes.get(taken);
      const [turn] = lane?.turns ?? [];
      if (lane === undefined || turn === undefined) return;
      lane.inFlight += 1;
      turn();
    }
  }

  return {
    take: (urgency, maxWaitMs, signal) => {
      const lane = lanes.get(urgency);
      if (lane === undefined || isClosed || signal?.aborted === true) return Promise.resolve(null);
      const leave = once(() => {
        lane.inFlight -= 1;
        serve();
      });
      const hasTurn = queueUp(lane, waiting, maxWaitMs, signal);
      serve();
      return hasTurn.then((has) => (has ? leave : null));
    },
    slowDown: tokens.slowDown,
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
      clearTimeout(alarm);
      for (const giveUp of [...waiting]) giveUp();
    },
  };
}

/** Joins a lane's queue. @returns whether its turn came before the wait, the caller or the budget ended */
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
  const shared: Slots = { count: concurrency, lanes: [] };
  const extra: Slots = { count: EXTRA_SLOTS, lanes: [] };
  // A single slot is for people: the schedule then shares the extra slot with history.
  const isExtra = (urgency: Urgency): boolean =>
    urgency === 'history' || (urgency === 'background' && concurrency === 1);
  for (const urgency of URGENCIES) {
    const slots = isExtra(urgency) ? extra : shared;
    const kept = slots === extra ? 0 : Math.floor(concurrency * SHARES[urgency] * KEPT_SLOTS);
    // With few slots, only checkouts can have one reserved.
    const atLeast = urgency === 'checkout' && concurrency > 1 ? 1 : 0;
    slots.lanes.push({ urgency, turns: new Set(), inFlight: 0, kept: Math.max(kept, atLeast), slots });
  }
  return new Map([...shared.lanes, ...extra.lanes].map((lane) => [lane.urgency, lane]));
}

/** Whether a call of that kind may be in flight without taking a slot reserved for another kind. */
function hasSlot(lane: Lane): boolean {
  const { count, lanes } = lane.slots;
  const taken = lanes.reduce(
    (sum, each) => sum + (each === lane ? each.inFlight : Math.max(each.inFlight, each.kept)),
    0,
  );
  return taken < count;
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
