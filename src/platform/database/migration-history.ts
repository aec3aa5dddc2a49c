import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserFacingError } from '../terminal.ts';
import { mayLeaveHalf } from './run-script.ts';

/** A migration cannot be applied. The message names it and says what to do. */
export class MigrationError extends UserFacingError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

/** A folder of migrations: its name, and the text of its `migration.sql`. */
export type Migration = { name: string; sql: string };

/** A row of `_prisma_migrations`. */
export type AppliedMigration = {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  rolled_back_at: Date | null;
};

/**
 * The migrations of a folder in the order of their names.
 * @throws {MigrationError} when there are none, or one has no script
 */
export async function readMigrations(dir: string): Promise<Migration[]> {
  const migrations = await readFolder(dir);
  if (migrations.length === 0) throw new MigrationError(`there are no migrations in ${dir}`);
  return migrations;
}

/** Names of ours begin with a date, so the prefix keeps the shop's apart in `_prisma_migrations`. */
const OF_THE_SHOP = 'custom_';

/**
 * A shop's own migrations, with names that none of ours has.
 * @throws {MigrationError} when one has no script
 */
export async function readShopMigrations(dir: string | null): Promise<Migration[]> {
  const migrations = dir === null ? [] : await readFolder(dir);
  return migrations.map(({ name, sql }) => ({ name: OF_THE_SHOP + name, sql }));
}

async function readFolder(dir: string): Promise<Migration[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readScript(join(dir, name, 'migration.sql')) })),
  );
}

function readScript(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new MigrationError(`cannot read ${path}`, { cause });
  });
}

export type History = {
  /** Names in the code that the database lacks. */
  pending: string[];
  /** Names in the database that the code does not know: another version of the code was here first. */
  unknown: string[];
  /**
   * Migrations of the code that began and never ended: the process died, or is at work now. Those of
   * another version are not listed: this version starts all the same, as it must while the next one
   * builds an index for an hour.
   */
  unfinished: AppliedMigration[];
  /** Applied with another text than the code has. */
  edited: string[];
};

/** Compares the migrations of the code with those recorded in the database. */
export function compareHistory(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): History {
  const records = new Map<string, AppliedMigration>();
  for (const record of applied)
    if (record.rolled_back_at === null) records.set(record.migration_name, record);
  const names = new Set(migrations.map(({ name }) => name));
  return {
    pending: migrations.filter(({ name }) => !records.has(name)).map(({ name }) => name),
    unknown: [...records.keys()].filter((name) => !names.has(name)),
    unfinished: [...records.values()].filter(
      (row) => row.finished_at === null && names.has(row.migration_name),
    ),
    edited: migrations.filter(({ name, sql }) => isEdited(sql, records.get(name))).map(({ name }) => name),
  };
}

function isEdited(sql: string, record: AppliedMigration | undefined): boolean {
  return record?.finished_at ? !isTextOf(sql, record) : false;
}

/** Whether the script is the one that was recorded. */
function isTextOf(sql: string, { checksum }: AppliedMigration): boolean {
  // git may check a file out with other line endings than it was applied with.
  const unix = sql.replaceAll('\r\n', '\n');
  return [sql, unix, unix.replaceAll('\n', '\r\n')].some((text) => sha256(text) === checksum);
}

/** As Prisma takes it. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

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
