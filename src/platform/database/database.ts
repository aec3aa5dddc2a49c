import pg from 'pg';
import { KEPT_ALIVE, readAddress } from './address.ts';
import type { Secret } from '../secret.ts';
import type { Logger } from '../logger.ts';
import type { PrismaClient } from '../prisma/client.ts';

/** A statement with a name is prepared once per connection; hot statements are few and all have one. */
export type Statement = { name: string; text: string };

/** What a repository needs of a connection; the same inside of a transaction and outside. */
export type Queryable = {
  /** Runs one statement and gives its rows. bigint columns arrive as `bigint`, timestamps as `Date`. */
  query<Row extends object>(statement: Statement | string, values?: readonly unknown[]): Promise<Row[]>;
};

export type Database = Queryable & {
  /** The typed client over the same pool, for reading that is not hot. Loaded on first use: it is large. */
  prisma(): Promise<PrismaClient>;
  pool: pg.Pool;
  /** For work that needs a session: the same pool, or PostgreSQL itself when there is a pooler in between. */
  sessions: pg.Pool;
  /** The same pool with node-postgres' own types, for libraries that know nothing of bigint. */
  plainPool: { query(config: pg.QueryConfig): Promise<pg.QueryResult> };
  /** Wraps the statements of code that has a session of its own, where tracing is on. */
  watch?: (query: Queryable['query']) => Queryable['query'];
  /** Runs `work` in one transaction. Never await the network inside: a slow service would hold the rows. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

// PostgreSQL's bigint (type 20) holds money; by default node-postgres returns it as text.
const parserOf = pg.types.getTypeParser as (oid: number, format?: string) => unknown;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) => (oid === 20 ? BigInt : parserOf(oid, format)),
};

const TIMEOUTS: pg.PoolConfig = {
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
};
/**
 * How long an unused connection stays open. Longer than the usual 10 s, since a new one plans all statements
 * anew; less than a minute, after which proxies between us and PostgreSQL often cut it.
 */
const IDLE_FOR_MS = 55_000;
/** Beside a pooler: one session for a reconciliation, and one to check whether another may be started. */
const MAX_SESSIONS = 2;

/** Opens a pool on PostgreSQL 14 or newer. Nothing connects until the first query. */
export function openDatabase(url: Secret, logger: Logger, more: pg.PoolConfig = {}): Database {
  const address = readAddress(url.reveal());
  const pool = openPool(address.pooled, { ...(address.isPooled ? {} : TIMEOUTS), ...more }, logger);
  const sessions = address.isPooled
    ? openPool(address.direct, { ...TIMEOUTS, max: MAX_SESSIONS }, logger)
    : pool;
  if (address.isPooled) warnWithoutTimeouts(pool, logger);
  // A prepared statement belongs to one connection, and the next transaction may get another.
  const unprepared: Preparing = (query) =>
    address.isPooled ? { text: query.text, values: query.values, types: query.types } : query;
  let prisma: Promise<PrismaClient> | undefined;
  return {
    ...queryable(pool, unprepared),
    pool,
    sessions,
    plainPool: { query: (config) => pool.query(unprepared({ ...config, types: pg.types })) },
    prisma: () => (prisma ??= openPrisma(pool)),
    transaction: (work) => inTransaction(pool, unprepared, work),
    close: async () => {
      await (await prisma)?.$disconnect();
      await pool.end();
      if (sessions !== pool) await sessions.end();
    },
  };
}

type Preparing = (query: pg.QueryConfig) => pg.QueryConfig;

function openPool(connectionString: string, more: pg.PoolConfig, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 20,
    types,
    // By default node-postgres waits without end for a connection; here a request answers 503 after 2 s.
    connectionTimeoutMillis: 2_000,
    // A connection that ends takes its plans along, and a long statement costs milliseconds to plan.
    idleTimeoutMillis: IDLE_FOR_MS,
    ...more,
    ...KEPT_ALIVE,
  });
  // The pool replaces broken idle connections (restart, failover); unhandled, the error ends the process.
  pool.on('error', (error) => {
    if (!pool.ending) logger.warn({ err: error }, 'a database connection was lost');
  });
  // The pool stops listening when it hands a connection out, and a last error of PostgreSQL may come in
  // the same packet as the one before. An error event without a listener ends the process. The query in
  // hand fails by itself.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A pooler does not pass time-outs on: they must be settings of the role, and the operator must know. */
function warnWithoutTimeouts(pool: pg.Pool, logger: Logger): void {
  pool.once('connect', (client: pg.PoolClient) => {
    client
      .query<{ timeout: string }>(`SELECT current_setting('statement_timeout') AS timeout`)
      .then(({ rows }) => {
        if (rows[0]?.timeout === '0')
          logger.warn(
            'behind the pooler nothing ends a hanging statement: ALTER ROLE … SET statement_timeout',
          );
      })
      .catch(() => undefined);
  });
}

async function openPrisma(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../prisma/client.ts'),
  ]);
  return new PrismaClient({
    adapter: new PrismaPg(pool, { disposeExternalPool: false }),
    errorFormat: 'minimal',
  });
}

function queryable(runner: pg.Pool | pg.PoolClient, unprepared: Preparing): Queryable {
  return {
    query: async <Row extends object>(statement: Statement | string, values: readonly unknown[] = []) => {
      const config = typeof statement === 'string' ? { text: statement } : statement;
      const result = await runner.query<Row>(unprepared({ ...config, values: [...values] }));
      return result.rows;
    },
  };
}

async function inTransaction<T>(
  pool: pg.Pool,
  unprepared: Preparing,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens on idle connections only, and an error event without a listener ends the process.
  // The query in hand fails by itself.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query('BEGIN');
    const result = await work(queryable(client, unprepared));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: unknown) => {
      broken = rollbackError as Error;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** @throws when the database does not answer */
export async function pingDatabase(db: Queryable): Promise<void> {
  await db.query({ name: 'ping', text: 'SELECT 1 AS ok' });
}

const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Waited too long for a lock, a statement or a transaction, or lost against another one: try again.
  '55P03',
  '57014',
  '25P03',
  '40P01',
  '40001',
  'P2024',
  'P2028',
  // PostgreSQL: shutting down, crashed, starting, out of connections or disk, read-only (a demoted primary).
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '53100',
  '25006',
  '08000',
  '08001',
  '08003',
  '08006',
  // Prisma's codes for: cannot be reached, does not answer, closed the connection, has too many connections.
  'P1001',
  'P1008',
  'P1017',
  'P2037',
]);
// Errors to which node-postgres gives no code.
const AWAY_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/;

/** Whether an error means that the database is away: the caller answers 503 and its client tries again. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codesOf(error).some((code) => AWAY_CODES.has(code)) || AWAY_MESSAGES.test(error.message);
}

/** Whether PostgreSQL refused a statement and went on: nothing is written. Else the outcome is unknown. */
export function isRefusedByDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '');
}

/** The driver's code; Prisma wraps an error for which it has no code. */
function codesOf(error: Error): string[] {
  const { code, meta } = error as { code?: unknown; meta?: { driverAdapterError?: { cause?: unknown } } };
  const wrapped = meta?.driverAdapterError?.cause as { originalCode?: unknown } | undefined;
  return [code, wrapped?.originalCode].filter((each) => typeof each === 'string');
}
