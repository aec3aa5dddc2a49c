import { systemClock } from '../clock.ts';
import { createPlaces, type Reserve } from './slots.ts';
import type { Logger } from '../logger.ts';

/**
 * Due rows are the queue. A loop claims rows whose time has come and works on them; the claim writes a lease
 * into the row, so no transaction is open meanwhile and a killed worker's rows come back by themselves.
 */
export type DueLoop<Row = unknown> = {
  /** Works until nothing is due, then says how many rows it worked on. What tests and one-shot commands call. */
  pass(): Promise<number>;
  /** Passes for ever, sleeping in between until woken or `pollMs` later. */
  start(): void;
  /** Something became due: look now. */
  wake(): void;
  /** Places for rows that somebody else claims, `limit` at most: as many as the loop has, and its own stay free. None unless it was started. */
  reserve: Reserve<Row>;
  /** Takes no more rows and waits for those in hand. */
  stop(): Promise<void>;
};

export type DueLoopOptions<Row> = {
  name: string;
  /** Leases up to `limit` due rows and gives them. */
  claim: (limit: number) => Promise<Row[]>;
  /** Works on one row and ends its lease. An error is logged; the lease then runs out and the row comes back. */
  work: (row: Row) => Promise<void>;
  /** The same for rows that somebody else claimed; {@link work} by default. */
  workOnLent?: (row: Row) => Promise<void>;
  /** What of a row names it in the log. */
  label?: (row: Row) => Record<string, string>;
  concurrency: number;
  pollMs: number;
  logger: Logger;
  /** Stands around claims and work, where somebody watches them. */
  watch?: LoopWatch | undefined;
};

export type LoopWatch = <Row>(
  options: Omit<DueLoopOptions<Row>, 'watch'>,
) => Pick<DueLoopOptions<Row>, 'claim' | 'work' | 'workOnLent'>;

/** Under load a claim waits this long for places to become free: one statement for many rows, not one for each. */
const GATHER_MS = 20;

export function createDueLoop<Row>(options: DueLoopOptions<Row>): DueLoop<Row> {
  const { concurrency, pollMs } = options;
  const { claim, work, workOnLent = work } = options.watch?.(options) ?? options;
  const logger = options.logger.child({ loop: options.name });
  const bell = createBell();
  const onError = (err: unknown, row: Row): void => {
    logger.error({ err, ...options.label?.(row) }, 'work on a due row failed');
  };
  const places = createPlaces({ count: concurrency, work, onFree: bell.ring, onError });
  const lent = createPlaces({ count: concurrency, work: workOnLent, onFree: () => undefined, onError });
  let isStopping = false;
  let running: Promise<void> | undefined;

  async function pass(): Promise<number> {
    let count = 0;
    for (;;) {
      const free = isStopping ? 0 : places.free();
      // From here on a ring is news, except for the ring of stop(), which must end the next wait, too.
      if (!isStopping) bell.hush();
      const rows = free > 0 ? await claim(free) : [];
      rows.forEach(places.take);
      count += rows.length;
      if (places.inHand() === 0) return count;
      if (isStopping) {
        await places.emptied();
        return count;
      }
      // A slow row must not keep new ones waiting: go round again when one ends, or when somebody rings.
      if (rows.length === 0 || places.inHand() === concurrency) await bell.wait(pollMs);
      if (rows.length > 0 && rows.length === free)
        await gather(bell, () => isStopping || places.inHand() <= concurrency / 2);
    }
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      await pass().catch((error: unknown) => {
        logger.error({ err: error }, 'claiming due rows failed');
      });
      await bell.wait(pollMs);
    }
  }

  return {
    pass,
    start: () => {
      running ??= run();
    },
    wake: bell.ring,
    reserve: (limit) => lent.reserve(running === undefined || isStopping ? 0 : limit),
    stop: async () => {
      isStopping = true;
      bell.ring();
      await running;
      await Promise.all([places.emptied(), lent.emptied()]);
    },
  };
}

/** After a claim that left rows behind: waits until half of the places are free, or until the time is up. */
async function gather(bell: Bell, isRoomy: () => boolean): Promise<void> {
  const untilMs = systemClock.elapsedMs() + GATHER_MS;
  for (;;) {
    const leftMs = untilMs - systemClock.elapsedMs();
    if (leftMs <= 0 || isRoomy()) return;
    bell.hush();
    await bell.wait(leftMs);
  }
}

type Bell = { ring(): void; hush(): void; wait(ms: number): Promise<void> };

/** A wait that somebody can cut short. A ring while nobody waits cuts the next wait, unless it is hushed before. */
function createBell(): Bell {
  let hasRung = false;
  const waiters = new Set<() => void>();
  return {
    ring: () => {
      hasRung = true;
      for (const wake of waiters) wake();
    },
    hush: () => {
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
