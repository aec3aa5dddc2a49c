import { PrismaPg } from '@prisma/adapter-pg';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { Prisma, PrismaClient } from './prisma/client.ts';
import type { Secret } from './secret.ts';

/** A client inside a transaction: the first parameter of whatever writes in one. */
export type Tx = Prisma.TransactionClient;

export type Database = {
  prisma: PrismaClient;
  /** Beneath Prisma: the limits of requests count in it, and /readyz looks at it. */
  pool: pg.Pool;
  /**
   * Opens a connection past any pooler, for what needs a session of its own. The caller ends it.
   */
  openSession(): Promise<pg.Client>;
  close(): Promise<void>;
};

/**
 * Ends a wait for a row lock: Prisma's own `timeout` stops no waiting statement. Below
 * TRANSACTION_MS.
 */
const LOCK_MS = 2_000;
const TRANSACTION_MS = 8_000;
/** Ends a statement that runs wild, and a transaction whose process stands still. */
const STATEMENT_MS = 10_000;
const IDLE_MS = 15_000;

/**
 * After a switch-over the name may lead to the old database, now read-only, for some seconds more.
 * No connection outlives that for long.
 */
const CONNECTION_LIVES_SEC = 10;

type DatabaseOptions = {
  /** At most, of this process. */
  connections?: number;
  /** The same database past any pooler; left out: there is no pooler. */
  direct?: Secret;
};

/**
 * Opens a pool and Prisma's client on it. Connects at the first query. A pooler gives each
 * transaction another session, so behind one the limits are settings of the role, and no statement
 * has a name.
 */
export function openDatabase(url: Secret, { connections = 20, direct = url }: DatabaseOptions = {}): Database {
  const isPooled = serverOf(url) !== serverOf(direct);
  const pool = new pg.Pool({
    ...connectionTo(url, isPooled),
    max: connections,
    maxLifetimeSeconds: CONNECTION_LIVES_SEC,
  });
  // A connection that breaks: the query that is under way fails of it, and the pool opens another
  // one.
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  const prisma = new PrismaClient({
    // Named statements are planned once for each connection: measured, the largest read takes a
    // quarter of the time.
    adapter: new PrismaPg(pool, isPooled ? {} : { statementNameGenerator: nameOfStatement }),
    errorFormat: 'minimal',
    transactionOptions: { maxWait: 5_000, timeout: TRANSACTION_MS },
  });
  return {
    prisma,
    pool,
    openSession: async () => {
      const session = new pg.Client(connectionTo(direct, false));
      // A connection that breaks: the query that is under way fails of it.
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
    // A host that fails may send nothing any more, not even a reset.
    query_timeout: STATEMENT_MS + 2_000,
    options: isPooled ? '' : limits,
  };
}

/** Where an address leads to. A pooler listens at another host or port than its database. */
function serverOf(url: Secret): string {
  const { host, port } = new pg.Client({ connectionString: url.reveal() });
  return `${host}:${port}`;
}

function nameOfStatement({ sql }: { sql: string }): string {
  return createHash('sha1').update(sql).digest('base64');
}

/** PostgreSQL's code of an error, wherever Prisma has put it; null: it is not the database's. */
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
 * The name of the key or CHECK that refused a write, as the migration calls it; null: no such
 * refusal.
 */
export function constraintOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { constraint, meta, cause, originalMessage } = error as Record<string, unknown>;
  if (typeof constraint === 'string') return constraint;
  if (typeof constraint === 'object' && constraint !== null) {
    const { index, foreignKey } = constraint as { index?: string; foreignKey?: string };
    if (index !== undefined || foreignKey !== undefined) return index ?? foreignKey ?? null;
  }
  // Of a CHECK, the adapter gives the sentence alone. The name in it is the last one in quotes.
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
 * Whether the database is away, full, starting or read-only: nothing is known to be written, and it
 * may come back.
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

/** A serialization failure, a deadlock, and a row lock that was not had in time. */
const REPEATABLE = ['40001', '40P01', '55P03'];
const TRIES = 5;

/**
 * Runs a transaction, again where the database says that nothing of it has happened. Never after a
 * broken connection: it may have happened.
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
