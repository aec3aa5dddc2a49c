import {
  type AppliedMigration,
  type History,
  isTextOf,
  type Migration,
  MigrationError,
} from './migration-history.ts';
import { mayLeaveHalf } from './run-script.ts';

function scriptOf(migrations: readonly Migration[], name: string): string {
  return migrations.find((migration) => migration.name === name)?.sql ?? '';
}

export function namesOf(rows: readonly AppliedMigration[]): string[] {
  return rows.map((row) => row.migration_name);
}

/**
 * A script of one transaction that did not end was either committed, which is recorded, or has left
 * nothing. If the text has changed since, it is unknown which kind it was.
 * @throws {MigrationError} something may be left that only a person can judge; the message says what to type
 */
export function refuseHalves(
  migrations: readonly Migration[],
  unfinished: readonly AppliedMigration[],
): void {
  const halves = unfinished.filter((row) => {
    const sql = scriptOf(migrations, row.migration_name);
    return mayLeaveHalf(sql) || !isTextOf(sql, row);
  });
  if (halves.length > 0) {
    const words = namesOf(halves).map(
      (name) => `migration ${name} began earlier and did not end; ${repair(name)}`,
    );
    throw new MigrationError(words.join('\n'));
  }
}

/** @throws {MigrationError} what was applied is not what the files say */
export function refuseEdited(edited: readonly string[]): void {
  if (edited.length > 0) {
    throw new MigrationError(
      `these migrations were edited after they had been applied: ${edited.join(', ')}; restore ` +
        'their files and write a new migration for the change',
    );
  }
}

/**
 * A migration is added after ours and never before: a history that lacks our first one is not ours.
 * @throws {MigrationError} the tables were made by other migrations than the files
 */
export function refuseForeign(first: string, { pending, unknown }: History): void {
  if (pending.includes(first) && unknown.length > 0) {
    throw new MigrationError(
      `this database was made by other migrations (${unknown[0] ?? ''}, …), as versions before ` +
        'the first release had; use an empty one, or remove the folder .data if it is the embedded ' +
        'one',
    );
  }
}

/** What an operator does about a migration that left half of its work. */
export function repair(name: string): string {
  const table = '_prisma_migrations';
  const where = `WHERE migration_name = '${name}' AND finished_at IS NULL`;
  return (
    `see what it left in the database and undo that, then run: UPDATE ${table} SET rolled_back_at ` +
    `= now() ${where}`
  );
}
