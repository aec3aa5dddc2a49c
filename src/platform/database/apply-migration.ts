import pg from 'pg';
import {
  type AppliedMigration,
  type Migration,
  MigrationError,
  sha256,
  repair,
} from './migration-history.ts';
import { mayLeaveHalf, runScript } from './run-script.ts';

/**
 * Creates `_prisma_migrations` as `prisma migrate` does, which can go on from here.
 * @throws {MigrationError} when the database holds tables of another program
 */
export async function openHistory(session: pg.Client): Promise<void> {
  try {
    const { rows } = await session.query<{ isOurs: boolean; isEmpty: boolean }>(
      `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS "isOurs",
         NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema()) AS "isEmpty"`,
    );
    if (rows[0]?.isOurs) return;
    if (!rows[0]?.isEmpty)
      throw new Error('the database holds tables of another program; name an empty one in DATABASE_URL');
    await session.query(`CREATE TABLE _prisma_migrations (
      id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0
    )`);
  } catch (cause) {
    throw new MigrationError(`cannot migrate: ${firstLineOf(cause)}`, { cause });
  }
}

/** What was applied so far, in the order in which it began; nothing where no process has migrated yet. */
export async function readApplied(session: pg.Client | pg.Pool): Promise<AppliedMigration[]> {
  const table = await session.query<{ name: string | null }>(
    `SELECT to_regclass('_prisma_migrations')::text AS name`,
  );
  if (!table.rows[0]?.name) return [];
  const { rows } = await session.query<AppliedMigration>(
    'SELECT migration_name, checksum, finished_at, rolled_back_at FROM _prisma_migrations ORDER BY started_at',
  );
  return rows;
}

/**
 * Applies a migration and records it in the same transaction, unless its script ends its transaction itself.
 * @throws {MigrationError} with the database's error, and with what to do where half of it may be left
 */
export async function applyOne(session: pg.Client, { name, sql }: Migration): Promise<void> {
  const { rows } = await session.query<{ id: string }>(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES (gen_random_uuid()::text, $1, $2)
     RETURNING id`,
    [sha256(sql), name],
  );
  const isApplied = `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
    WHERE id = '${rows[0]?.id ?? ''}'`;
  try {
    await runScript(session, sql, isApplied);
  } catch (cause) {
    const words = firstLineOf(cause);
    // The connection broke: whether the script was committed is in the table, for the next start.
    if (!(cause instanceof pg.DatabaseError)) throw new MigrationError(`cannot migrate: ${words}`, { cause });
    if (mayLeaveHalf(sql)) {
      throw new MigrationError(`migration ${name} failed: ${words}; ${repair(name)}`, { cause });
    }
    // Nothing of it was kept, so the next start may try again: after a lock time-out that is enough.
    await markRolledBack(session, [name]);
    throw new MigrationError(`migration ${name} failed and left nothing behind: ${words}`, { cause });
  }
}

/** Records that begun migrations have left nothing, so that they may be tried again. */
export async function markRolledBack(session: pg.Client, names: readonly string[]): Promise<void> {
  await session.query(
    `UPDATE _prisma_migrations SET rolled_back_at = now()
     WHERE migration_name = ANY($1) AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [names],
  );
}

function firstLineOf(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
}
