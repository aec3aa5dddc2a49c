import type { Database } from '../platform/database/database.ts';
import { createPoller, type Poller, type LoopWatch } from '../platform/poller.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Alarm } from '../alerts/alert.ts';
import { keepMessage, markDelivered, markUndelivered, type Deliveries, type Due } from './delivery.sql.ts';
import { ReleaseRefused, type ReceiverContext } from './release.ts';

/** After a 429 this process sends nothing for as long as the receiver asked, up to this limit. */
const QUIET_AT_MOST_SEC = 60;
const CONCURRENCY = 8;
/**
 * How many of these may be deliveries that failed before. What the receiver hangs on comes back again and
 * again; it then waits for other repeats, while what was never tried still has places of its own.
 */
const REPEATS = 4;
const POLL_MS = 1_000;
/** Shorter than the lease, or a second delivery would begin beside the first. */
const DEADLINE_MS = 10_000;

export type DeliveryParts = {
  database: Database;
  mode: Mode;
  /** Raised for what is given up, and while deliveries fail. */
  alarm: Alarm;
  logger: Logger;
  /** Milliseconds that one delivery may take; ten seconds unless given, and never as long as the lease. */
  deadlineMs?: number;
  /** Gives numbers from 0 up to 1; `Math.random` unless given. */
  random?: () => number;
  watch?: LoopWatch | undefined;
};

type DueRow = Due & { orderId: OrderId | null; reference: Reference | null };

/** What is delivered: releases or events. */
type Source<Row extends DueRow> = {
  deliveries: Deliveries;
  /** Leases up to `limit` rows, at most `repeats` of them tried before. */
  lease: (limit: number, repeats: number) => Promise<Row[]>;
  /** What a receiver is sent of a row. */
  messageOf: (row: Row) => string;
  receive: (row: Omit<Row, 'message'> & { message: string }, context: ReceiverContext) => Promise<void>;
};

/** Delivers what is due until each row is received: at least once, always under the same id. */
export function createDeliveries<Row extends DueRow>(parts: DeliveryParts, source: Source<Row>): Poller {
  const { mode, logger } = parts;
  const { word, table } = source.deliveries;
  const watch = createDeliveryWatch({ mode, alarm: parts.alarm, clock: systemClock });
  let repeating = 0;
  let quietUntilMs = 0;

  async function lease(limit: number): Promise<Row[]> {
    if (systemClock.elapsedMs() < quietUntilMs) return [];
    const rows = await source.lease(limit, REPEATS - repeating);
    repeating += rows.filter(isRepeated).length;
    return rows;
  }

  async function work(row: Row): Promise<void> {
    const refusal = await deliver(parts, source, row, watch).finally(() => {
      if (isRepeated(row)) repeating -= 1;
    });
    if (refusal instanceof ReleaseRefused && refusal.isOverloaded) {
      const quietSec = Math.min(refusal.retryAfterSec ?? 0, QUIET_AT_MOST_SEC);
      quietUntilMs = Math.max(quietUntilMs, systemClock.elapsedMs() + quietSec * 1_000);
    }
  }

  return createPoller({
    name: table,
    lease,
    work,
    label: (row) => labelOf(word, row),
    concurrency: CONCURRENCY,
    pollMs: POLL_MS,
    logger,
    watch: parts.watch,
  });
}

function labelOf(word: string, { id, reference, orderId }: DueRow): Record<string, string> {
  return { ...(reference !== null && { reference }), ...(orderId !== null && { orderId }), [word]: id };
}

/** `attempts` includes the one in hand. */
function isRepeated({ attempts }: Due): boolean {
  return attempts > 1;
}

/** @returns what the receiver threw, undefined when it took the row */
async function deliver<Row extends DueRow>(
  { database, mode, alarm, logger, deadlineMs = DEADLINE_MS, random = Math.random }: DeliveryParts,
  { deliveries, messageOf, receive }: Source<Row>,
  row: Row,
  watch: DeliveryWatch,
): Promise<unknown> {
  const { id, reference, orderId, attempts } = row;
  const { word } = deliveries;
  const log = logger.child(labelOf(word, row));
  const message = row.message ?? (await keepMessage(database, deliveries, id, messageOf(row)));
  try {
    const deadline = AbortSignal.timeout(deadlineMs);
    await Promise.race([receive({ ...row, message }, { database, signal: deadline }), lapse(deadline)]);
  } catch (error) {
    const pauseSec = pauseAfter(row, error, random);
    const reason = reasonOf(error);
    const event = 'release-given-up';
    await database.transaction(async (tx) => {
      const isNoted = await markUndelivered(tx, deliveries, row, reason, pauseSec);
      if (isNoted && pauseSec === null)
        await alarm({ event, mode, orderId, reference, release: id, reason, attempts }, tx);
    });
    if (pauseSec !== null) {
      log.warn(
        { reason, attempts, pauseSec },
        word === 'release' ? 'release not delivered' : 'event not delivered',
      );
      watch.failed(error, reason);
    }
    return error;
  }
  await markDelivered(database, deliveries, id);
  watch.delivered();
  log.info({ attempts }, `${word} delivered`);
  return undefined;
}

/** A receiver that ignores its deadline must not hold its place for ever. */
function lapse(deadline: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    deadline.addEventListener('abort', () => {
      reject(deadline.reason as Error);
    });
  });
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses in seconds after each failed delivery; the last one repeats. A receiver may ask for longer ones. */
const PAUSES_SEC = [5, 30, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR];
/** Pauses grow by up to this share, at random: what failed together must not be tried again together. */
const JITTER = 0.2;
/** A weekend and a bit: after a longer outage an operator can tell the receiver what it missed. */
const GIVE_UP_AFTER_SEC = 72 * HOUR;

/** For the row, the journal and the log: one short line, whatever the receiver threw. */
export function reasonOf(thrown: unknown): string {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown };
  if (name === 'TimeoutError') return 'the receiver took too long';
  return typeof message === 'string' ? message.replace(/\p{Cc}/gu, ' ').slice(0, 200) : 'unknown';
}

/** Seconds until the next attempt; null: there is none. */
export function pauseAfter(
  { attempts, tryingForSec }: Due,
  thrown: unknown,
  random: () => number,
): number | null {
  const refusal = thrown instanceof ReleaseRefused ? thrown : null;
  if (refusal?.isGone === true || tryingForSec > GIVE_UP_AFTER_SEC) return null;
  const ownSec = PAUSES_SEC[Math.min(attempts, PAUSES_SEC.length) - 1] ?? HOUR;
  return Math.max(ownSec, refusal?.retryAfterSec ?? 0) * (1 + JITTER * random());
}

/** A receiver that is restarted fails for seconds; one that is down, for longer. */
const MIN_FAILURES = 3;
const MIN_MS = 60_000;

type DeliveryWatch = {
  delivered(): void;
  failed(thrown: unknown, reason: string): void;
};

/**
 * Tells that deliveries fail: at once when the receiver throws something of its own, because waiting mends
 * no EACCES, no refused signature and no TypeError; else when for a minute, and three times at least, this
 * process had failures only, whatever the orders. A {@link ReleaseRefused}, the deadline and what `fetch`
 * throws when the network fails speak of the other side.
 */
export function createDeliveryWatch(parts: { mode: Mode; alarm: Alarm; clock: Clock }): DeliveryWatch {
  const { mode, alarm, clock } = parts;
  let failures = 0;
  let firstMs = 0;

  return {
    delivered: () => {
      failures = 0;
    },
    failed: (thrown, reason) => {
      if (failures === 0) firstMs = clock.elapsedMs();
      failures += 1;
      const isLasting = failures >= MIN_FAILURES && clock.elapsedMs() - firstMs >= MIN_MS;
      if (isOwnFault(thrown) || isLasting) void alarm({ event: 'release-failing', mode, reason });
    },
  };
}

function isOwnFault(thrown: unknown): boolean {
  const { name, message, cause } = Object(thrown) as Partial<Error>;
  // The code is that of the socket: a wrong address or a forbidden port has none.
  const { code } = Object(cause) as { code?: unknown };
  const isOfTheNetwork = (message === 'fetch failed' || message === 'terminated') && code !== undefined;
  return !(thrown instanceof ReleaseRefused) && name !== 'TimeoutError' && !isOfTheNetwork;
}
