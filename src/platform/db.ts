import { PrismaPg } from '@prisma/adapter-pg';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { Prisma, PrismaClient } from './prisma/client.ts';
import type { Secret } from './secret.ts';

/**
 * A client inside a transaction. It is the first parameter of every function that writes in one.
 */
export type Tx = Prisma.TransactionClient;

export type Database = {
  prisma: PrismaClient;
  /** The pool below Prisma. The rate limits use it, and /readyz checks it. */
  pool: pg.Pool;
  /**
   * Opens a connection that bypasses any pooler, for work that needs its own session. The caller
   * ends it.
   */
  openSession(): Promise<pg.Client>;
  close(): Promise<void>;
};

/**
 * Limit for waiting on a row lock, because Prisma's own `timeout` does not stop a waiting
 * statement. Shorter than TRANSACTION_MS.
 */
const LOCK_MS = 2_000;
const TRANSACTION_MS = 8_000;
/** End a runaway statement, and a transaction whose process hangs. */
const STATEMENT_MS = 10_000;
const IDLE_MS = 15_000;

/**
 * For some seconds after a switch-over, the host name may still resolve to the old database, which
 * is now read-only. A connection therefore lives only this long.
 */
const CONNECTION_LIVES_SEC = 10;

type DatabaseOptions = {
  /** The maximum for this process. */
  connections?: number;
  /** The same database without the pooler. Omitted if there is no pooler. */
  direct?: Secret;
};

/**
 * Opens a pool and Prisma's client on it. It connects at the first query. A pooler may run each
 * transaction in another session, so behind a pooler the limits are settings of the role, and
 * statements have no names.
 */
export function openDatabase(url: Secret, { connections = 20, direct = url }: DatabaseOptions = {}): Database {
  const isPooled = serverOf(url) !== serverOf(direct);
  const pool = new pg.Pool({
    ...connectionTo(url, isPooled),
    max: connections,
    maxLifetimeSeconds: CONNECTION_LIVES_SEC,
  });
  // If a connection breaks, the running query fails, and the pool opens another connection.
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  const prisma = new PrismaClient({
    // Named statements are planned once per connection. In our measurement, the largest read then
    // takes a quarter of the time.
    adapter: new PrismaPg(pool, isPooled ? {} : { statementNameGenerator: nameOfStatement }),
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5_000, timeout: TRANSACTION_MS },
  });
  return {
    prisma,
    pool,
    openSession: async () => {
      const session = new pg.Client(connectionTo(direct, false));
      // If the connection breaks, the running query fails.
      session.on('error', () => undefined);
      await session.connect();
      return session;
    },
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

function connectionTo(url: Secret, isPooled: boolean): pg.ClientConfig {
  const limits = `-c lock_timeout=${LOCK_MS} -c statement_timeout=${STATEMENT_MS} -c idle_in_transaction_session_timeout=${IDLE_MS}`;
  return {
    connectionString: url.reveal(),
    connectionTimeoutMillis: 5_000,
    // A host that fails may send nothing at all, not even a reset.
    query_timeout: STATEMENT_MS + 2_000,
    options: isPooled ? '' : limits,
  };
}

/**
 * The server that a connection string refers to. A pooler listens on another host or port than its
 * database.
 */
function serverOf(url: Secret): string {
  const { host, port } = new pg.Client({ connectionString: url.reveal() });
  return `${host}:${port}`;
}

function nameOfStatement({ sql }: { sql: string }): string {
  return createHash('sha1').update(sql).digest('base64');
}

/**
 * PostgreSQL's error code, wherever Prisma has put it. Null if the error does not come from the
 * database.
 */
export function sqlStateOf(error: unknown): string | null {
  const { code, originalCode, meta, cause } = error as Record<string, unknown>;
  if (typeof originalCode === 'string') return originalCode;
  for (const inner of [meta, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError, cause]) {
    if (typeof inner === 'object' && inner !== null) {
      const found = sqlStateOf(inner);
      if (found !== null) return found;
    }
  }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^P\d{4}$/.test(code) ? code : null;
}

/**
 * The name of the key or CHECK that rejected a write, as in the migration. Null for any other
 * error.
 */
export function constraintOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { constraint, meta, cause, originalMessage } = error as Record<string, unknown>;
  if (typeof constraint === 'string') return constraint;
  if (typeof constraint === 'object' && constraint !== null) {
    const { index, foreignKey } = constraint as { index?: string; foreignKey?: string };
    if (index !== undefined || foreignKey !== undefined) return index ?? foreignKey ?? null;
  }
  // For a CHECK, the adapter passes only the message. The last quoted name in it is the constraint.
  if (typeof originalMessage === 'string') {
    const named = /violates (?:check|unique|foreign key) constraint "([^"]+)"/.exec(originalMessage)?.[1];
    if (named !== undefined) return named;
  }
  const driver = (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError;
  return constraintOf(driver) ?? constraintOf(cause);
}

const AWAY = /^(08|53|57P|58|25006)/;
const BROKEN =
  /read timeout|ECONN|ETIMEDOUT|EPIPE|EHOST|ENOTFOUND|EAI_|terminat|closed|queryable|timeout exceeded|Can't reach/i;

/**
 * Whether the database is unreachable, full, starting or read-only. The write is not known to have
 * happened, and the database may recover.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== null) return AWAY.test(state);
  const { code } = error as { code?: unknown };
  return (
    code === 'P1001' ||
    code === 'P1017' ||
    code === 'P2024' ||
    code === 'P2028' ||
    BROKEN.test(`${String(code)} ${error.message}`)
  );
}

/** A serialization failure, a deadlock, and a row lock that was not acquired in time. */
const REPEATABLE = ['40001', '40P01', '55P03'];
const TRIES = 5;

/**
 * Runs a transaction and retries it if the database reports that it was rolled back. It does not
 * retry after a broken connection, because the transaction may have been committed.
 */
export async function transact<Result>(prisma: PrismaClient, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await prisma.$transaction(work);
    } catch (error) {
      if (attempt === TRIES || !REPEATABLE.includes(sqlStateOf(error) ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** attempt * (0.5 + Math.random())));
    }
  }
}
