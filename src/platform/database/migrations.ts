/**
 * Brings the database to the schema of the code: the folders of `prisma/migrations`, applied in order and
 * recorded in `_prisma_migrations`, as `prisma migrate deploy` does it. Called by every process before it
 * serves. It never goes back: a database that is ahead of the code is left as it is.
 */
import pg from 'pg';
import { sleep, systemClock } from '../clock.ts';
import { KEPT_ALIVE, readAddress, explainConnectionError, SETTING_LOST } from './address.ts';
import type { Logger } from '../logger.ts';
import {
  type AppliedMigration,
  compareHistory,
  type Migration,
  MigrationError,
  readMigrations,
  readShopMigrations,
  namesOf,
  refuseEdited,
  refuseForeign,
  refuseHalves,
} from './migration-history.ts';
import { applyOne, markRolledBack, openHistory, readApplied } from './apply-migration.ts';
import { TABLE_LOCK_TIMEOUT_MS } from './run-script.ts';

export { DatabaseUnreachableError } from './address.ts';
export { MigrationError } from './migration-history.ts';

type MigrationOptions = {
  /** Connection string. Opens its own connection: a migration may run longer than the pool's time-outs. */
  url: string;
  /** Folder of migration folders. */
  dir: string;
  /** The same for the shop's own migrations, applied after ours; the folder may be absent. */
  shopDir?: string | null;
  logger: Logger;
};

/** Any number that the application uses for no other lock. */
const LOCK_KEY = 1_836_281_964;
const LOCK_POLL_MS = 100;
/** Longer than a migration should take; then the waiting process gives up rather than hang for ever. */
const LOCK_WAIT_MS = 600_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Applies what is missing and returns the names. When several processes call it at once, one applies,
 * and the others wait for it and apply nothing.
 * @throws {DatabaseUnreachableError} when the database cannot be connected to
 * @throws {MigrationError} when a migration fails, failed earlier, or was edited after it had been applied
 */
export async function applyMigrations(options: MigrationOptions): Promise<string[]> {
  const { url, dir, shopDir = null, logger } = options;
  const migrations = [...(await readMigrations(dir)), ...(await readShopMigrations(shopDir))];
  const session = await openSession(url);
  try {
    // The usual start has nothing to do and costs two queries and no lock.
    if (isCurrent(migrations, await readApplied(session), logger)) return [];
    await waitForLock(session, logger);
    const applied = await readApplied(session);
    if (isCurrent(migrations, applied, logger)) return [];
    const history = compareHistory(migrations, applied);
    const { edited, unfinished, pending } = history;
    refuseForeign(migrations[0]?.name ?? '', history);
    refuseHalves(migrations, unfinished);
    refuseEdited(edited);
    await openHistory(session);
    // They left nothing, or remove it themselves.
    await markRolledBack(session, namesOf(unfinished));
    const missing = new Set([...pending, ...namesOf(unfinished)]);
    const names = [];
    for (const migration of migrations.filter(({ name }) => missing.has(name))) {
      await applyOne(session, migration);
      names.push(migration.name);
    }
    logger.info({ migrations: names }, 'database schema is up to date');
    return names;
  } finally {
    // Ends the session, and with it the lock.
    await session.end();
  }
}

// One connection and no pool, which would open another one: once the session is lost, so is the lock, and
// nothing more may be applied.
async function openSession(url: string): Promise<pg.Client> {
  try {
    const session = new pg.Client({
      connectionString: readAddress(url).direct,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: TABLE_LOCK_TIMEOUT_MS,
      ...KEPT_ALIVE,
    });
    session.on('error', () => undefined);
    await session.connect();
    await refusePooler(session).catch(async (error: unknown) => {
      await session.end();
      throw error;
    });
    return session;
  } catch (error) {
    throw explainConnectionError(error, url);
  }
}

// What a pooler in transaction mode does not pass on would fail later, and less clearly than this check.
async function refusePooler(session: pg.Client): Promise<void> {
  const { rows } = await session.query<{ isOurs: boolean }>(
    `SELECT current_setting('lock_timeout')::interval = make_interval(secs => $1) AS "isOurs"`,
    [TABLE_LOCK_TIMEOUT_MS / 1_000],
  );
  if (rows[0]?.isOurs !== true) throw new Error(SETTING_LOST);
}

function isCurrent(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  logger: Logger,
): boolean {
  const { pending, unfinished, edited, unknown } = compareHistory(migrations, applied);
  if (pending.length + unfinished.length + edited.length > 0) return false;
  // A rolling deploy: the next version has migrated, and this one goes on serving.
  if (unknown.length > 0) logger.warn({ migrations: unknown }, 'the database is newer than this code');
  return true;
}

// Polls rather than wait inside one query: a waiting query holds a snapshot, and CREATE INDEX
// CONCURRENTLY in the other process would wait for that snapshot while we wait for its lock.
async function waitForLock(session: pg.Client, logger: Logger): Promise<void> {
  const deadline = systemClock.elapsedMs() + LOCK_WAIT_MS;
  for (let attempt = 0; ; attempt++) {
    const { rows } = await session.query<{ ok: boolean }>('SELECT pg_try_advisory_lock($1) AS ok', [
      LOCK_KEY,
    ]);
    if (rows[0]?.ok) return;
    if (attempt === 0) logger.info('waiting for another process that migrates the database');
    if (systemClock.elapsedMs() > deadline) {
      throw new MigrationError(
        `another process has been migrating the database for ${LOCK_WAIT_MS / 60_000} minutes`,
      );
    }
    await sleep(LOCK_POLL_MS);
  }
}
