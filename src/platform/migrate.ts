import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { UserFacingError } from './user-facing-error.ts';

type Migration = { name: string; sql: string };
/** A row of Prisma's migrations table. */
type Applied = { name: string; checksum: string; isFinished: boolean };

/** Two levels up, both from `src/platform` and from `dist/platform`. */
const FOLDER = new URL('../../prisma/migrations', import.meta.url);
/** The advisory lock that Prisma uses. */
const LOCK = 72_707_369;
const LOCK_WAIT_MS = 60_000;
const NO_SUCH_TABLE = '42P01';
const NOT_IN_A_TRANSACTION = '25001';
const NOT_ALLOWED = '42501';

/**
 * Brings the database to the schema of this version, as `prisma migrate deploy` does, but without
 * its engine, which would have to be downloaded. Folders, table, checksums and lock are the same,
 * so either tool can continue after the other. If several processes start at once, one applies the
 * migrations and the others wait for it, at most a minute. A database with newer migrations is left
 * unchanged: during an upgrade, the next version has migrated it while this one still serves.
 * @param folder the folder that contains the migration folders
 * @returns the names of the applied migrations, in order
 * @throws {UserFacingError} if a migration fails, failed earlier, or was edited after it was
 * applied, or if the role may not migrate
 * @throws the database's error if the database cannot be reached
 */
export async function applyMigrations(databaseUrl: string, folder: URL | string = FOLDER): Promise<string[]> {
  const migrations = await readMigrations(folder instanceof URL ? fileURLToPath(folder) : folder);
  const session = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, keepAlive: true });
  // If the connection breaks, the running query fails, too.
  session.on('error', () => undefined);
  await session.connect();
  try {
    // The usual start runs one query and takes no lock, because the next version may hold the lock
    // for an hour.
    const before = (await readApplied(session)) ?? [];
    const isWhole = migrations.every(({ name }) => before.some((row) => row.name === name && row.isFinished));
    if (isWhole && pendingOf(migrations, before).length === 0) return [];
    await takeLock(session);
    const pending = pendingOf(migrations, (await readApplied(session)) ?? (await openTable(session)));
    for (const migration of pending) await apply(session, migration);
    return pending.map(({ name }) => name);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === NOT_ALLOWED)) throw error;
    const advice = 'Set DATABASE_DIRECT_URL to the address of the owner of the tables, and run migrate';
    throw new UserFacingError(`This role may not migrate the database: ${error.message}. ${advice}.`);
  } finally {
    // This also releases the lock.
    await session.end();
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const read = async (name: string) => ({ name, sql: await readFile(join(folder, name, 'migration.sql'), 'utf8') });
  return Promise.all(names.sort().map(read));
}

/** Migrations that were started and not rolled back. Null if the table does not exist. */
async function readApplied(session: pg.Client): Promise<Applied[] | null> {
  try {
    const { rows } = await session.query<Applied>(
      `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
         FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
    );
    return rows;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return null;
    throw error;
  }
}

function pendingOf(migrations: Migration[], applied: Applied[]): Migration[] {
  for (const { name, sql } of migrations) {
    const row = applied.find((one) => one.name === name);
    if (row?.isFinished === false)
      throw new UserFacingError(`Migration ${name} was started but did not finish. ${repair(name)}`);
    if (row !== undefined && !isTextOf(sql, row.checksum))
      throw new UserFacingError(
        `Migration ${name} was edited after it was applied. Restore it, and put the change into a new migration.`,
      );
  }
  const pending = migrations.filter(({ name }) => !applied.some((row) => row.name === name));
  // Migrations that this version does not know were added by a later version, unless its own
  // migrations were never applied here.
  if (applied.length > 0 && pending.length > 0 && pending[0] === migrations[0])
    throw new UserFacingError(
      'This database was made by other migrations, as before version 1. Set DATABASE_URL to an empty database.',
    );
  return pending;
}

// Poll instead of waiting in one query. A waiting query would hold a snapshot, and CREATE INDEX
// CONCURRENTLY in the other process waits for all snapshots.
async function takeLock(session: pg.Client): Promise<void> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (Date.now() < deadline) {
    const { rows } = await session.query<{ isOurs: boolean }>('SELECT pg_try_advisory_lock($1) AS "isOurs"', [LOCK]);
    if (rows[0]?.isOurs === true) return;
    await sleep(100);
  }
  throw new UserFacingError(
    'Another process has been migrating the database for a minute. Start again when it has finished.',
  );
}

async function openTable(session: pg.Client): Promise<Applied[]> {
  const tables = await session.query('SELECT FROM pg_tables WHERE schemaname = current_schema() LIMIT 1');
  if (tables.rowCount !== 0)
    throw new UserFacingError(
      'The database contains tables of another program. Set DATABASE_URL to an empty database.',
    );
  await session.query(
    `CREATE TABLE _prisma_migrations (
       id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz,
       migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
       started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`,
  );
  return [];
}

// The script and its row are sent as one text, which is one transaction. If the process dies or the
// script fails, neither remains. A row that remains means that the script ended its transaction
// itself, or had to be sent alone.
async function apply(session: pg.Client, { name, sql }: Migration): Promise<void> {
  const id = randomUUID();
  const values = [id, sha256(sql), name].map((value) => pg.escapeLiteral(value)).join(', ');
  const begun = `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES (${values})`;
  const ended = `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = '${id}'`;
  try {
    await session.query(`${begun};${sql}\n;${ended}`).catch(async (error: unknown) => {
      if (!(error instanceof pg.DatabaseError && error.code === NOT_IN_A_TRANSACTION)) throw error;
      for (const statement of [begun, sql, ended]) await session.query(statement);
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    await session.query('ROLLBACK');
    const half = await session.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, error.message]);
    const advice = half.rowCount === 0 ? 'It was rolled back, and the next start tries it again.' : repair(name);
    throw new UserFacingError(`Migration ${name} failed: ${error.message}. ${advice}`);
  }
}

/** Whether a script has this checksum. Git may check the script out with other line endings. */
function isTextOf(sql: string, checksum: string): boolean {
  const unix = sql.replaceAll('\r\n', '\n');
  return [sql, unix, unix.replaceAll('\n', '\r\n')].some((text) => sha256(text) === checksum);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function repair(name: string): string {
  const done = `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL`;
  return `Find out what it changed in the database, undo that, then run: ${done}`;
}
