import pg from 'pg';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * The connection of one run: it holds the lock and the temporary tables, and it is thrown away afterwards, so that
 * nothing of either can be left behind. No transaction is open on it while the service is asked.
 */
export type Session = Queryable & {
  client: pg.PoolClient;
  /** Runs `work` in one short transaction that sees one moment of the database. */
  snapshot<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` in one short transaction that writes. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Any number that nobody else locks; the second key is the mode. */
const LOCK_KEY = 1_379_615_048;
const MODE_KEYS: Record<Mode, number> = { test: 1, live: 2 };

/** @returns null when another run of this mode is at work */
export async function openSession(database: Database, mode: Mode): Promise<Session | null> {
  const client = await database.sessions.connect();
  // Without a listener a connection that breaks between two queries would end the process.
  client.on('error', () => undefined);
  const ask: Queryable['query'] = async <Row extends object>(
    statement: Parameters<Queryable['query']>[0],
    values: readonly unknown[] = [],
  ) => {
    const config = typeof statement === 'string' ? { text: statement } : statement;
    return (await client.query<Row>({ ...config, values: [...values] })).rows;
  };
  const query = database.watch?.(ask) ?? ask;
  try {
    // Comparing a million rows takes longer than any request may.
    // Few rows differ, and the planner cannot know. A backend whose process was killed must not keep the lock. Compiling
    // statements that run once each takes longer than it saves. To know that a table is large, a small sample is enough.
    await client.query(`SET statement_timeout = 0; SET lock_timeout = 0; SET work_mem = '64MB';
      SET parallel_tuple_cost = 0; SET jit = off; SET default_statistics_target = 10; SET client_connection_check_interval = '1s'`);
    const [lock] = await query<{ isOurs: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS "isOurs"', [
      LOCK_KEY,
      MODE_KEYS[mode],
    ]);
    if (lock?.isOurs === true) return sessionOf(client, query);
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release(true);
  return null;
}

function sessionOf(client: pg.PoolClient, query: Queryable['query']): Session {
  async function within<T>(begin: string, work: () => Promise<T>): Promise<T> {
    await client.query(begin);
    try {
      const result = await work();
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
  return {
    client,
    query,
    snapshot: (work) => within('BEGIN ISOLATION LEVEL REPEATABLE READ', work),
    transaction: (work) => within('BEGIN', work),
    close: async () => {
      // The server notices a closed connection a moment later; the next run need not wait for that.
      await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
      client.release(true);
    },
  };
}

/** The time of the transaction in hand: the one that everything it writes has. */
export async function transactionTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>('SELECT now()');
  if (row === undefined) throw new Error('Bug: the database does not know the time');
  return row.now;
}

/** The database's time: the one by which payments were written. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  if (row === undefined) throw new Error('Bug: the database does not know the time');
  return row.now;
}

/** The currency of all payments, or null when there are several or none. */
export async function onlyCurrency(db: Queryable, mode: Mode): Promise<string | null> {
  const rows = await db.query<{ currency: string }>(
    'SELECT DISTINCT currency FROM payments WHERE mode = $1 LIMIT 2',
    [mode],
  );
  return rows.length === 1 ? (rows[0]?.currency ?? null) : null;
}

/** When the first payment of a mode was written; undefined before there is one. */
export async function firstPaymentTime(db: Queryable, mode: Mode): Promise<Date | undefined> {
  const [row] = await db.query<{ first: Date | null }>(
    'SELECT min(created_at) AS first FROM payments WHERE mode = $1',
    [mode],
  );
  return row?.first ?? undefined;
}
