import pg from 'pg';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * The connection of one run. It holds the lock and the temporary tables, and is cleared of both afterwards,
 * or closed. No transaction is open on it while the service is asked.
 */
export type Session = Queryable & {
  client: pg.PoolClient;
  /** Runs `work` in one short transaction on one snapshot of the database. */
  snapshot<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` in one short transaction that writes; it, and what is written after it, outlasts a crash. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

const ignore = (): void => undefined;

/** An arbitrary advisory lock number that no other code uses; the second key is the mode. */
const LOCK_KEY = 1_379_615_048;
const MODE_KEYS: Record<Mode, number> = { test: 1, live: 2 };

/** @returns null when another run of this mode is active */
export async function openSession(database: Database, mode: Mode): Promise<Session | null> {
  const client = await database.sessions.connect();
  // Without a listener a connection that breaks between two queries would end the process.
  client.on('error', ignore);
  const ask: Queryable['query'] = async <Row extends object>(
    statement: Parameters<Queryable['query']>[0],
    values: readonly unknown[] = [],
  ) => {
    const config = typeof statement === 'string' ? { text: statement } : statement;
    return (await client.query<Row>({ ...config, values: [...values] })).rows;
  };
  const query = database.watch?.(ask) ?? ask;
  try {
    // Timeouts: comparing a million rows takes longer than any request may. Parallel cost: few rows
    // differ, and the planner cannot know that. JIT: compiling statements that run once each takes
    // longer than it saves. Statistics: a small sample shows well enough that a table is large.
    // Connection check: a backend whose process was killed must not keep the lock. Commits: what is staged
    // and compared may be lost with the database, so nothing waits for the disk before `transaction`.
    await client.query(`SET statement_timeout = 0; SET lock_timeout = 0; SET work_mem = '64MB';
      SET parallel_tuple_cost = 0; SET jit = off; SET default_statistics_target = 10;
      SET client_connection_check_interval = '1s'; SET synchronous_commit = off`);
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
    transaction: (work) => within('SET synchronous_commit TO DEFAULT; BEGIN', work),
    close: async () => {
      // A new connection and what it must learn of the tables cost more than a small run. One that cannot be
      // cleared is closed.
      const clear = client.query('SELECT pg_advisory_unlock_all(); DISCARD TEMP; RESET ALL');
      const isClear = await clear.then(
        () => true,
        () => false,
      );
      client.off('error', ignore).release(!isClear);
    },
  };
}

/** The currency of all payments, or null when there are several or none. */
export async function onlyCurrency(db: Queryable, mode: Mode): Promise<string | null> {
  const rows = await db.query<{ currency: string }>(
    'SELECT DISTINCT currency FROM payments WHERE mode = $1 LIMIT 2',
    [mode],
  );
  return rows.length === 1 ? (rows[0]?.currency ?? null) : null;
}

/** When the first payment of a mode was written; before there is one, the database's time. */
export async function firstPaymentTime(db: Queryable, mode: Mode): Promise<Date | undefined> {
  const [row] = await db.query<{ first: Date }>(
    'SELECT coalesce(min(created_at), clock_timestamp()) AS first FROM payments WHERE mode = $1',
    [mode],
  );
  return row?.first;
}
