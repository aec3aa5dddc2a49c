import type { Clock } from '../clock.ts';
import type { Secret } from '../secret.ts';
import type { Logger } from '../logger.ts';
import { explainConnectionError } from './address.ts';
import { openDatabase, type Database, type Queryable } from './database.ts';

/**
 * How old what is read from the standby may be: further behind, the primary is asked. So after this time
 * all operators see what they did.
 */
export const MAX_BEHIND_SEC = 60;
/** Up to this, a delay is not said. */
export const UNSEEN_SEC = 5;
/** For how long a standby that cannot be read is not asked again. */
const REST_MS = 15_000;
/** A machine that has gone does not answer at all; one that is there ends a statement after five seconds. */
const READ_WITHIN_MS = 6_000;

/** Where to read from, and how far that is behind, in seconds. */
export type Picked = { database: Database; behindSec: number };

/**
 * A standby: Infinity seconds behind when it cannot be read, and why nothing is read from it; null: it is
 * read.
 */
type Seen = { behindSec: number; unfit: string | null };

/** For pages and commands that only show. Code that decides about money reads from the primary itself. */
export type Reads = {
  /**
   * The standby, when it is at most so many seconds behind; else the primary. What fails at the standby is
   * asked of the primary, once: all but `prisma()` does that.
   * @param atMostSec 0: everything that was written before this call must be there
   */
  pick(atMostSec?: number): Promise<Picked>;
  /** What the standby is like now; null: there is none. */
  look: (() => Promise<Seen>) | null;
  close(): Promise<void>;
};

type ReadsParts = { clock: Clock; logger: Logger; watch?: (database: Database) => Database };

/** @param url of the standby; undefined: everything is read from `primary`, the same object */
export function openReads(primary: Database, url: Secret | undefined, parts: ReadsParts): Reads {
  if (url === undefined) return onlyPrimary(primary);
  const { clock, logger, watch } = parts;
  const unwatched = openDatabase(url, logger, { query_timeout: READ_WITHIN_MS });
  const standby = watch?.(unwatched) ?? unwatched;
  const database = withFallback(standby, primary);
  let last: Seen = { behindSec: 0, unfit: null };
  let restsUntilMs = 0;

  const look = async (): Promise<Seen> => {
    if (clock.elapsedMs() < restsUntilMs) return last;
    const seen = await lookAt(standby, url, await positionOf(primary));
    if (seen.behindSec === Infinity) restsUntilMs = clock.elapsedMs() + REST_MS;
    if (seen.unfit !== null && last.unfit === null)
      logger.warn({ reason: seen.unfit }, 'the standby is not used: pages and metrics read from the primary');
    if (seen.unfit === null && last.unfit !== null)
      logger.info('pages and metrics read from the standby again');
    last = seen;
    return seen;
  };

  return {
    pick: async (atMostSec = MAX_BEHIND_SEC) => {
      const { behindSec } = await look();
      return behindSec <= atMostSec ? { database, behindSec } : { database: primary, behindSec: 0 };
    },
    look,
    close: () => standby.close(),
  };
}

function onlyPrimary(primary: Database): Reads {
  const picked = Promise.resolve({ database: primary, behindSec: 0 });
  return { pick: () => picked, look: null, close: () => Promise.resolve() };
}

/**
 * A recovery conflict cancels statements of a standby, and one that is behind lacks the newest columns. What
 * writes is at the wrong door: it fails.
 */
function withFallback(standby: Database, primary: Database): Database {
  const unlessWriting = (error: unknown): void => {
    if ((error as { code?: unknown }).code === READ_ONLY) throw error;
  };
  return {
    ...standby,
    query: <Row extends object>(...asked: Parameters<Queryable['query']>) =>
      standby.query<Row>(...asked).catch((error: unknown) => {
        unlessWriting(error);
        return primary.query<Row>(...asked);
      }),
    transaction: (work) =>
      standby.transaction(work).catch((error: unknown) => {
        unlessWriting(error);
        return primary.transaction(work);
      }),
  };
}

/** PostgreSQL's code for a write where only reading is possible. */
const READ_ONLY = '25006';

/** Which installation it is, and how far its log is on disk. */
type Position = { salt: string; at: string };

async function positionOf(primary: Queryable): Promise<Position> {
  const [row] = await primary.query<Position>(
    `SELECT release_salt AS salt, pg_current_wal_flush_lsn()::text AS at FROM installation`,
  );
  if (row === undefined) throw new Error('Bug: the installation has no name');
  return row;
}

type StandbyState = { salt: string; isStandby: boolean; hasAll: boolean | null; sec: number | null };

async function lookAt(standby: Queryable, url: Secret, { salt, at }: Position): Promise<Seen> {
  try {
    const [row] = await standby.query<StandbyState>(
      `SELECT release_salt AS salt, pg_is_in_recovery() AS "isStandby",
         CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= $1::pg_lsn END AS "hasAll",
         extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 AS sec
       FROM installation`,
      [at],
    );
    if (row?.isStandby !== true) return unfitFor('it is no standby');
    if (row.salt !== salt) return unfitFor('it is the standby of another installation');
    return judge(row);
  } catch (error) {
    return unfitFor(explainConnectionError(error, url.reveal()).message);
  }
}

/** The age of its newest transaction counts only when it lacks something: an idle primary is no delay. */
function judge({ hasAll, sec }: StandbyState): Seen {
  const behindSec = hasAll === true ? 0 : Math.max(sec ?? Infinity, 0);
  if (behindSec <= MAX_BEHIND_SEC) return { behindSec, unfit: null };
  return {
    behindSec,
    unfit: `it is ${sec === null ? 'not known how far' : `${Math.round(sec)} seconds`} behind`,
  };
}

function unfitFor(unfit: string): Seen {
  return { behindSec: Infinity, unfit };
}
