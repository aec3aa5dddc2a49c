import pg from 'pg';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { applyMigrations } from '../src/platform/migrate.ts';
import { UserFacingError } from '../src/platform/user-facing-error.ts';
import { isEmptyScript, stepsTo } from './schema-engine.ts';

/*
 * npm run db:migrate -- --name add_gift_note: writes a migration from prisma/migrations to
 * prisma/schema.prisma, as `prisma migrate dev` does, but without the engine that Prisma would
 * download. It asks no questions and resets nothing.
 */

const PRISMA = new URL('../prisma/', import.meta.url);
const EXIT_USAGE = 64;
const USAGE = 'npm run db:migrate -- --name add_gift_note';
const NAME = /^[a-z][a-z0-9_]{0,99}$/;
/** PostgreSQL's code: the user lacks the permission. */
const NOT_ALLOWED = '42501';
/** PostgreSQL's code: the table does not exist. */
const NO_SUCH_TABLE = '42P01';

/**
 * The name from the command line.
 * @throws {UserFacingError} with exit code 64 if it is missing or not valid; the message shows the
 * usage
 */
export function migrationName(words: string[]): string {
  const name = nameIn(words);
  if (name === undefined) throw new UserFacingError(`The migration needs a name: ${USAGE}`, EXIT_USAGE);
  if (!NAME.test(name))
    throw new UserFacingError(
      `"${name}" cannot be the name of a migration. Use small letters, digits and _, and begin with a letter: ${USAGE}`,
      EXIT_USAGE,
    );
  return name;
}

function nameIn(words: string[]): string | undefined {
  try {
    return parseArgs({ args: words, options: { name: { type: 'string' } } }).values.name;
  } catch (error) {
    throw new UserFacingError(`${(error as Error).message}\n${USAGE}`, EXIT_USAGE);
  }
}

/**
 * Writes the migration, applies it, and generates the client again.
 * @returns what it did, for people
 */
export async function writeMigration(databaseUrl: string, name: string): Promise<string> {
  const schema = readFileSync(new URL('schema.prisma', PRISMA), 'utf8');
  const warning = warningAbout(await appliedWithoutFolder(databaseUrl));
  const script = await withTemporaryDatabase(databaseUrl, async (url) => {
    await applyMigrations(url);
    return stepsTo(url, schema);
  });
  if (isEmptyScript(script)) {
    // The schema may have changed by a checkout while the client is still the previous one.
    generateClient();
    return [
      'prisma/migrations already lead to prisma/schema.prisma. No migration was written.',
      'Generated the Prisma client again.\n',
      ...warning,
    ].join('\n');
  }
  const folder = `${timeAfter(migrationFolders())}_${name}`;
  const file = `prisma/migrations/${folder}/migration.sql`;
  mkdirSync(new URL(`migrations/${folder}/`, PRISMA));
  writeFileSync(new URL(`migrations/${folder}/migration.sql`, PRISMA), script);
  await apply(databaseUrl, file, warning);
  generateClient();
  return [
    `Wrote ${file}:\n\n${script}`,
    ...cautionsAbout(script),
    'Applied it to the database, and generated the Prisma client again.',
    'Commit the folder together with prisma/schema.prisma.\n',
    ...warning,
  ].join('\n');
}

/** Warnings about the migration, to be read before it is deployed. */
function cautionsAbout(script: string): string[] {
  const isDropping = /\bDROP (TABLE|COLUMN|TYPE)\b/.test(script);
  // A serial column gets its value from a sequence.
  const isRequired = script
    .split('\n')
    .some((line) => /\bADD COLUMN\b.* NOT NULL\b/.test(line) && !/ (DEFAULT|(SMALL|BIG)?SERIAL)\b/.test(line));
  return [
    ...(isDropping ? ['It drops data. Save the data elsewhere before you deploy.\n'] : []),
    ...(isRequired
      ? ['The running version cannot insert rows without it: make the column optional, or give it a default.\n']
      : []),
  ];
}

async function apply(databaseUrl: string, file: string, warning: string[]): Promise<void> {
  try {
    await applyMigrations(databaseUrl);
  } catch (error) {
    if (!(error instanceof UserFacingError)) throw error;
    const advice = `Correct ${file} and run npm run db:deploy, or delete its folder.`;
    const told = [`Wrote ${file}, but the database rejects it.`, error.message, advice, ...warning];
    throw new UserFacingError(told.join('\n'));
  }
}

/** Migrations that were applied to the database but have no folder in prisma/migrations. */
async function appliedWithoutFolder(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name',
    );
    const folders = migrationFolders();
    return rows.map(({ name }) => name).filter((name) => !folders.includes(name));
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return [];
    throw error;
  } finally {
    await client.end();
  }
}

function warningAbout(names: string[]): string[] {
  if (names.length === 0) return [];
  return [
    `The database has migrations that have no folder in prisma/migrations: ${names.join(', ')}.`,
    'Undo each by SQL and delete its row of _prisma_migrations, or delete .data/ in development.\n',
  ];
}

/**
 * Runs work with an empty database on the same server, and always drops that database afterwards.
 */
async function withTemporaryDatabase<Result>(
  databaseUrl: string,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  const name = `migrate_${randomBytes(8).toString('hex')}`;
  try {
    await client.query(`CREATE DATABASE ${name}`).catch(explainCreate);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    return await work(url.href);
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).finally(() => client.end());
  }
}

function explainCreate(error: unknown): never {
  if (!(error instanceof pg.DatabaseError && error.code === NOT_ALLOWED)) throw error;
  throw new UserFacingError(
    'A temporary database is needed, but the user of DATABASE_URL may not create one. Run ALTER ROLE … CREATEDB.',
  );
}

function migrationFolders(): string[] {
  const entries = readdirSync(new URL('migrations/', PRISMA), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/**
 * YYYYMMDDHHMMSS in UTC, and later than all existing ones, because migrations are applied in the
 * order of their names.
 */
function timeAfter(folders: string[]): string {
  const now = Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14));
  const latest = Math.max(0, ...folders.map((folder) => Number.parseInt(folder, 10) || 0));
  return String(Math.max(now, latest + 1));
}

function generateClient(): void {
  const script = fileURLToPath(new URL('generate.cjs', PRISMA));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status !== 0) throw new UserFacingError(`The client could not be generated.\n${stdout}${stderr}`);
}
