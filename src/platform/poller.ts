import { systemClock } from './clock.ts';
import type { Logger } from './logger.ts';

/**
 * Due rows are the queue. A loop leases rows whose time has come and works on them. Leasing writes a time
 * into the row, so no transaction is open meanwhile, and the rows of a killed worker come back by themselves.
 */
export type Poller<Row = unknown> = {
  /** Works until nothing is due, and returns the number of rows. For tests and one-shot commands. */
  runOnce(): Promise<number>;
  /** Runs for ever, and sleeps in between until it is woken or `pollMs` have passed. */
  start(): void;
  /** Something became due: look now. */
  wake(): void;
  /**
   * Reserves slots for rows leased elsewhere, `limit` at most. There are as many as the loop's own,
   * which stay free; none unless the loop was started.
   */
  reserve: Reserve<Row>;
  /** Milliseconds since the started loop last went round: `pollMs` and one statement at most, or it hangs. */
  stuckMs(): number;
  /** Takes no more rows and waits for those in hand. */
  stop(): Promise<void>;
};

type PollerOptions<Row> = {
  name: string;
  /** Leases up to `limit` due rows and returns them. */
  lease: (limit: number) => Promise<Row[]>;
  /** Works on one row and ends its lease. An error is logged; the row comes back when its lease runs out. */
  work: (row: Row) => Promise<void>;
  /** The same for rows leased elsewhere; {@link work} by default. */
  workOnLent?: (row: Row) => Promise<void>;
  /** The fields that name a row in the log. */
  label?: (row: Row) => Record<string, string>;
  concurrency: number;
  pollMs: number;
  logger: Logger;
  /** Wraps leases and work, for tracing. */
  watch?: LoopWatch | undefined;
};

export type LoopWatch = <Row>(
  options: Omit<PollerOptions<Row>, 'watch'>,
) => Pick<PollerOptions<Row>, 'lease' | 'work' | 'workOnLent'>;

/** Under load a lease waits this long for free slots: one statement for many rows, not one for each. */
const ROOM_MS = 20;

export function createPoller<Row>(options: PollerOptions<Row>): Poller<Row> {
  const { concurrency, pollMs } = options;
  const { lease, work, workOnLent = work } = options.watch?.(options) ?? options;
  const logger = options.logger.child({ loop: options.name });
  const wakeSignal = createWakeSignal();
  const onError = (err: unknown, row: Row): void => {
    logger.error({ err, ...options.label?.(row) }, 'work on a due row failed');
  };
  const slots = createSlots({ count: concurrency, work, onFree: wakeSignal.ring, onError });
  const lent = createSlots({ count: concurrency, work: workOnLent, onFree: () => undefined, onError });
  let isStopping = false;
  let running: Promise<void> | undefined;
  let roundMs = 0;

  async function runOnce(): Promise<number> {
    let count = 0;
    for (;;) {
      roundMs = systemClock.elapsedMs();
      const free = isStopping ? 0 : slots.free();
      // Earlier rings are forgotten, as this lease covers them. Only the ring of stop() must end
      // the next wait, too.
      if (!isStopping) wakeSignal.clear();
      const rows = free > 0 ? await lease(free) : [];
      rows.forEach(slots.take);
      count += rows.length;
      if (slots.inHand() === 0) return count;
      if (isStopping) {
        await slots.emptied();
        return count;
      }
      // A slow row must not keep new ones waiting: go on when a row ends, or when the loop is woken.
      if (rows.length === 0 || slots.inHand() === concurrency) await wakeSignal.wait(pollMs);
      if (rows.length > 0 && rows.length === free)
        await waitForRoom(wakeSignal, () => isStopping || slots.inHand() <= concurrency / 2);
    }
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      await runOnce().catch((error: unknown) => {
        logger.error({ err: error }, 'leasing due rows failed');
      });
      await wakeSignal.wait(pollMs);
    }
  }

  return {
    runOnce,
    start: () => {
      running ??= run();
    },
    wake: wakeSignal.ring,
    stuckMs: () => (running === undefined || isStopping ? 0 : systemClock.elapsedMs() - roundMs),
    reserve: (limit) => lent.reserve(running === undefined || isStopping ? 0 : limit),
    stop: async () => {
      isStopping = true;
      wakeSignal.ring();
      await running;
      await Promise.all([slots.emptied(), lent.emptied()]);
    },
  };
}

/** After a lease that left rows behind: waits until half of the slots are free, or until the time is up. */
async function waitForRoom(wakeSignal: WakeSignal, isRoomy: () => boolean): Promise<void> {
  const untilMs = systemClock.elapsedMs() + ROOM_MS;
  for (;;) {
    const leftMs = untilMs - systemClock.elapsedMs();
    if (leftMs <= 0 || isRoomy()) return;
    wakeSignal.clear();
    await wakeSignal.wait(leftMs);
  }
}

type WakeSignal = { ring(): void; clear(): void; wait(ms: number): Promise<void> };

/** A wait that a ring ends early. A ring outside of a wait ends the next one, unless it is cleared before. */
function createWakeSignal(): WakeSignal {
  let hasRung = false;
  const waiters = new Set<() => void>();
  return {
    ring: () => {
      hasRung = true;
      for (const wake of waiters) wake();
    },
    clear: () => {
      hasRung = false;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiters.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, hasRung ? 0 : ms);
        waiters.add(wake);
      }),
  };
}

/** Slots kept free until `take` is called. It must be called, with the leased rows or with none. */
type Reservation<Row> = { slots: number; take(rows: readonly Row[]): void };
export type Reserve<Row> = (limit: number) => Reservation<Row>;

/** The slots of a loop: taken by rows that are worked on, and by rows that are being leased. */
type Slots<Row> = {
  free(): number;
  inHand(): number;
  take(row: Row): void;
  /** Keeps up to `limit` of the free slots. */
  reserve: Reserve<Row>;
  /** Resolves when every reservation was taken up and every row is done. */
  emptied(): Promise<void>;
};

type SlotsOptions<Row> = {
  count: number;
  work: (row: Row) => Promise<void>;
  /** Called when a row is done. */
  onFree: () => void;
  onError: (error: unknown, row: Row) => void;
};

function createSlots<Row>({ count, work, onFree, onError }: SlotsOptions<Row>): Slots<Row> {
  const inHand = new Set<Promise<void>>();
  const reservations = new Set<Promise<void>>();
  let reserved = 0;

  const free = (): number => count - inHand.size - reserved;

  function take(row: Row): void {
    const task = work(row)
      .catch((error: unknown) => {
        onError(error, row);
      })
      .finally(() => {
        inHand.delete(task);
        onFree();
      });
    inHand.add(task);
  }

  function reserve(limit: number): Reservation<Row> {
    const slots = Math.max(0, Math.min(limit, free()));
    if (slots === 0) return { slots, take: () => undefined };
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    reserved += slots;
    reservations.add(ended);
    return {
      slots,
      take: (rows) => {
        reserved -= slots;
        reservations.delete(ended);
        rows.forEach(take);
        end();
      },
    };
  }

  return {
    free,
    inHand: () => inHand.size,
    take,
    reserve,
    emptied: async () => {
      await Promise.all(reservations);
      await Promise.all(inHand);
    },
  };
}
