import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../src/platform/logger.ts';
import {
  applyMigrations,
  DatabaseUnreachableError,
  MigrationError,
} from '../../../src/platform/database/migrations.ts';
import { cloneDatabase } from '../../support/database.ts';
import { argumentsOfCode } from '../../support/process.ts';
import { eventually } from '../../support/program.ts';
import { testOfAll, testOfFew as test } from '../../support/test-of-all.ts';

const SLOW = 300_000;
const logger = createLogger('silent');
let url: string;
let drop: () => Promise<void>;
let dir: string;

beforeEach(async () => {
  ({ url, drop } = await cloneDatabase('template1'));
  dir = fs.mkdtempSync(join(tmpdir(), 'migration-files-'));
});

afterEach(async () => {
  fs.rmSync(dir, { recursive: true });
  await drop();
});

const TABLE = 'CREATE TABLE drawers (id int PRIMARY KEY);';
/** Semicolons inside a function body and inside text: what a naive cut at every semicolon breaks. */
const TRIGGER = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'no; never';
  END $$;
  CREATE TRIGGER drawers_stay BEFORE DELETE ON drawers FOR EACH ROW EXECUTE FUNCTION refuse();
  INSERT INTO drawers VALUES (1);`;

function write(name: string, sql: string): void {
  fs.mkdirSync(join(dir, name), { recursive: true });
  fs.writeFileSync(join(dir, name, 'migration.sql'), sql);
}

function apply(): Promise<string[]> {
  return applyMigrations({ url, dir, logger });
}

async function query(sql: string, where = url): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('applies the folders in order, each as a whole, and records them as prisma does', async () => {
  write('20240102000000_trigger', TRIGGER);
  write('20240101000000_table', TABLE);
  fs.writeFileSync(join(dir, 'migration_lock.toml'), 'provider = "postgresql"\n');
  expect(await apply()).toEqual(['20240101000000_table', '20240102000000_trigger']);
  await expect(query('DELETE FROM drawers')).rejects.toThrow('no; never');
  const rows = await query('SELECT * FROM _prisma_migrations ORDER BY started_at');
  expect(rows).toMatchObject([
    {
      migration_name: '20240101000000_table',
      checksum: createHash('sha256').update(TABLE).digest('hex'),
      applied_steps_count: 1,
      rolled_back_at: null,
      logs: null,
    },
    { migration_name: '20240102000000_trigger' },
  ]);
});

test('applies nothing the second time, and only what is new the third time', async () => {
  write('1_table', TABLE);
  await apply();
  expect(await apply()).toEqual([]);
  write('2_trigger', TRIGGER);
  expect(await apply()).toEqual(['2_trigger']);
});

test("a shop's own come after ours, under names of their own, and neither stands in the way of the other", async () => {
  const shopDir = join(dir, 'of-the-shop');
  const writeOwn = (name: string, sql: string): void => {
    write(join('of-the-shop', name), sql);
  };
  const ours = join(dir, 'ours');
  const both = (): Promise<string[]> => applyMigrations({ url, dir: ours, shopDir, logger });
  write('ours/1_table', TABLE);
  // The folder may be absent.
  expect(await both()).toEqual(['1_table']);
  writeOwn('0_lamps', 'CREATE TABLE lamps (drawer int REFERENCES drawers);');
  writeOwn('1_table', 'CREATE TABLE shades ();');
  expect(await both()).toEqual(['custom_0_lamps', 'custom_1_table']);
  // An update of ours comes after theirs have landed, and both go on.
  write('ours/2_trigger', TRIGGER);
  writeOwn('2_more', 'ALTER TABLE lamps ADD COLUMN watts int;');
  expect(await both()).toEqual(['2_trigger', 'custom_2_more']);
  expect(await both()).toEqual([]);
  writeOwn('2_more', 'ALTER TABLE lamps ADD COLUMN volts int;');
  await expect(both()).rejects.toThrow('custom_2_more');
});

test('of callers at the same time one applies, and the others wait until it has', async () => {
  write('1_slow', `${TABLE} SELECT pg_sleep(0.5); INSERT INTO drawers VALUES (1);`);
  // A caller that waits inside a query would hold this one up for ever.
  write('2_index', 'CREATE INDEX CONCURRENTLY drawers_id ON drawers (id)');
  const applied = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const names = await apply();
      expect(await query('SELECT id FROM drawers')).toEqual([{ id: 1 }]);
      return names;
    }),
  );
  expect(applied.sort()).toEqual([[], [], [], ['1_slow', '2_index']]);
});

testOfAll('works under tsx, in a process of its own beside others', async () => {
  write('1_table', TABLE);
  const code = `
      import { applyMigrations } from './src/platform/database/migrations.ts';
      import { createLogger } from './src/platform/logger.ts';
      const names = await applyMigrations({
        url: ${JSON.stringify(url)}, dir: ${JSON.stringify(dir)}, logger: createLogger('silent'),
      });
      console.log(names.length);`;
  const counts = [1, 2].map(async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let words = '';
    child.stdout.on('data', (chunk: Buffer) => (words += chunk.toString()));
    await once(child, 'close');
    return words.trim();
  });
  expect((await Promise.all(counts)).sort()).toEqual(['0', '1']);
});

test('a migration that fails leaves nothing behind, names itself, and is tried again when corrected', async () => {
  write('1_table', TABLE);
  write('2_wrong', 'CREATE TABLE half (id int); SELECT 1 / 0;');
  const expected = 'migration 2_wrong failed and left nothing behind: division by zero';
  await expect(apply()).rejects.toThrow(expected);
  await expect(apply()).rejects.toThrow(expected);
  expect(await query(`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
  write('2_wrong', 'CREATE TABLE half (id int);');
  expect(await apply()).toEqual(['2_wrong']);
});

test('a migration that fails after a commit of its own stays failed until somebody has looked', async () => {
  write('1_halves', 'CREATE TABLE half (id int); COMMIT; SELECT 1 / 0;');
  await expect(apply()).rejects.toThrow('migration 1_halves failed: division by zero; see what it left');
  const refusal = await apply().catch((error: unknown) => error);
  expect(String(refusal)).toContain('migration 1_halves began earlier and did not end');
  const repair = /run: (UPDATE .*)$/.exec(String(refusal))?.[1] ?? '';
  await query(repair);
  write('1_halves', 'DROP TABLE half;');
  expect(await apply()).toEqual(['1_halves']);
});

test('a migration that fails inside a transaction of its own is reported, not the transaction', async () => {
  write('1_own', 'BEGIN; CREATE TABLE half (id int); SELECT 1 / 0; COMMIT;');
  await expect(apply()).rejects.toThrow('migration 1_own failed: division by zero');
  expect(await query(`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
});

test('a migration that has to wait for a table lets others pass, and lands when the table is free', async () => {
  write('1_table', `${TABLE} INSERT INTO drawers VALUES (1);`);
  await apply();
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN; SELECT FROM drawers');
  write('2_column', 'ALTER TABLE drawers ADD COLUMN name text');
  const applying = apply();
  const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  while ((await query(isWaiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  // As the application asks: it gives up after two seconds in the queue.
  const patient = `${url}?options=-c%20lock_timeout%3D2s`;
  for (let reader = 0; reader < 3; reader++)
    expect(await query('SELECT id FROM drawers', patient)).toEqual([{ id: 1 }]);
  await holder.query('COMMIT');
  await holder.end();
  expect(await applying).toEqual(['2_column']);
});

test('an index that could not be built leaves nothing behind, and is built at the next start', async () => {
  write('1_table', `CREATE TABLE notes (name text); INSERT INTO notes VALUES ('a'), ('a');`);
  write('2_index', 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS notes_name ON notes (name);');
  await expect(apply()).rejects.toThrow('migration 2_index failed and left nothing behind: could not create');
  expect(await query(`SELECT to_regclass('notes_name') AS name`)).toEqual([{ name: null }]);
  await query(`DELETE FROM notes WHERE ctid = '(0,1)'`);
  expect(await apply()).toEqual(['2_index']);
});

test('an index whose build was killed half-way is built anew, not taken for finished', async () => {
  write('1_table', `CREATE TABLE notes (name text); INSERT INTO notes VALUES ('a'), ('a');`);
  await apply();
  const index = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS notes_name ON notes (name);';
  await query(index).catch(() => undefined);
  await query(`DELETE FROM notes WHERE ctid = '(0,1)'`);
  await query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, applied_steps_count)
    VALUES ('killed', '${createHash('sha256').update(index).digest('hex')}', '2_index', 0)`);
  write('2_index', index);
  expect(await apply()).toEqual(['2_index']);
  expect(await query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'notes_name'::regclass`)).toEqual([
    { indisvalid: true },
  ]);
});

test('a database that other migrations made is refused with what to do, and left alone', async () => {
  write('2_drawn_together_later', TABLE);
  await apply();
  fs.rmSync(join(dir, '2_drawn_together_later'), { recursive: true });
  write('1_table', TABLE);
  await expect(apply()).rejects.toThrow(
    'made by other migrations (2_drawn_together_later, …), as versions before the first release had; use an empty one',
  );
  expect(await query('SELECT migration_name FROM _prisma_migrations')).toEqual([
    { migration_name: '2_drawn_together_later' },
  ]);
});

test('a folder without a script is named', async () => {
  fs.mkdirSync(join(dir, '1_empty'));
  await expect(apply()).rejects.toThrow(`cannot read ${join(dir, '1_empty', 'migration.sql')}`);
});

/** Other tests have databases of their own on the same server. */
const WAITING = `SELECT count(*)::int AS waiting FROM pg_locks
  WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** As the engine records a migration that it is about to run. */
async function began(name: string, sql: string): Promise<void> {
  await query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, applied_steps_count)
    VALUES ('killed ${name}', '${createHash('sha256').update(sql).digest('hex')}', '${name}', 0)`);
}

test(
  'G9: a process killed inside of a migration leaves nothing, and the next start goes on by itself',
  async () => {
    write('1_table', TABLE);
    await apply();
    write('2_waits', 'CREATE TABLE half (id int); ALTER TABLE drawers ADD COLUMN note text;');
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE drawers');
    const script = `
    import { applyMigrations } from './src/platform/database/migrations.ts';
    import { createLogger } from './src/platform/logger.ts';
    await applyMigrations({ ...${JSON.stringify({ url, dir })}, logger: createLogger('silent') });`;
    const { args, cwd } = argumentsOfCode(script);
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await eventually(async () => {
      const [row] = await query(WAITING);
      return row?.waiting === 1;
    }, SLOW);
    child.kill('SIGKILL');
    await ended;
    // Its session outlives it for a moment: it gives up waiting for the table, and lets go of everything.
    await eventually(async () => {
      const [row] = await query(WAITING);
      return row?.waiting === 0;
    }, SLOW);
    await holder.end();
    expect(await apply()).toEqual(['2_waits']);
    expect(await apply()).toEqual([]);
  },
  SLOW,
);

test('G9: a script and the record of it are one: neither is there without the other', async () => {
  write('1_table', TABLE);
  await apply();
  await query(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
    CREATE TRIGGER die BEFORE UPDATE ON _prisma_migrations FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) EXECUTE FUNCTION die()`);
  write('2_one', 'CREATE TABLE one (id int); INSERT INTO one VALUES (1) -- the last line');
  await expect(apply()).rejects.toThrow('migration 2_one failed and left nothing behind: killed');
  expect(await query(`SELECT to_regclass('one') AS one`)).toEqual([{ one: null }]);
  await query('DROP TRIGGER die ON _prisma_migrations');
  expect(await apply()).toEqual(['2_one']);
  expect(await apply()).toEqual([]);
  expect(await query('SELECT id FROM one')).toEqual([{ id: 1 }]);
});

test.each([
  ['commits half-way', 'CREATE TABLE half (id int); COMMIT; SELECT 1;'],
  ['ends a transaction of its own', 'BEGIN; CREATE TABLE half (id int); END; SELECT 1;'],
  ['commits in a block', 'DO $$ BEGIN CREATE TABLE half (id int); COMMIT; END $$;'],
])('G9: one that %s is refused, with what to type', async (_name, sql) => {
  write('1_table', TABLE);
  await apply();
  write('2_halves', sql);
  await began('2_halves', sql);
  const refusal = String(await apply().catch((error: unknown) => error));
  expect(refusal).toContain('migration 2_halves began earlier and did not end');
  await query(/run: (UPDATE .*)$/.exec(refusal)?.[1] ?? '');
  expect(await apply()).toEqual(['2_halves']);
});

test('G9: a function that ends its own blocks is one transaction all the same', async () => {
  write('1_table', TABLE);
  await apply();
  write('2_trigger', TRIGGER);
  await began('2_trigger', TRIGGER);
  expect(await apply()).toEqual(['2_trigger']);
});

test('G9: one whose text has changed since it began is refused', async () => {
  write('1_table', TABLE);
  await apply();
  await began('2_other', 'CREATE TABLE half (id int); COMMIT;');
  write('2_other', 'CREATE TABLE half (id int);');
  await expect(apply()).rejects.toThrow('migration 2_other began earlier and did not end');
});

test('a migration that was edited after it had landed is refused by name; other line ends are no edit', async () => {
  write('1_table', `${TABLE}\n-- one\n`);
  write('2_trigger', TRIGGER);
  await apply();
  write('1_table', `${TABLE}\r\n-- one\r\n`);
  expect(await apply()).toEqual([]);
  write('1_table', `${TABLE}\n-- two\n`);
  await expect(apply()).rejects.toThrow(
    'these migrations were edited after they had been applied: 1_table; restore',
  );
});

test('a database that is newer than the code is left as it is', async () => {
  write('1_table', TABLE);
  write('2_trigger', TRIGGER);
  await apply();
  fs.rmSync(join(dir, '2_trigger'), { recursive: true });
  expect(await apply()).toEqual([]);
});

test('what the next version began and has not ended, for it builds an index or was killed, keeps this one from no start', async () => {
  write('1_table', TABLE);
  write('2_index', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS drawers_twice ON drawers (id);');
  await apply();
  fs.rmSync(join(dir, '2_index'), { recursive: true });
  await query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '2_index'`);
  // Nor does it wait for the one that is at work.
  const next = new pg.Client({ connectionString: url });
  await next.connect();
  try {
    await next.query('SELECT pg_advisory_lock(1836281964)');
    expect(await apply()).toEqual([]);
  } finally {
    await next.end();
  }
});

test('a database with tables of somebody else is not touched', async () => {
  await query('CREATE TABLE theirs (id int)');
  write('1_table', TABLE);
  await expect(apply()).rejects.toThrow('cannot migrate: the database holds tables of another program');
});

test('a folder without migrations is refused', async () => {
  await expect(apply()).rejects.toThrow(new MigrationError(`there are no migrations in ${dir}`));
});

test('a database that cannot be reached is named by host and port, never with the password', async () => {
  write('1_table', TABLE);
  const cases: [string, string][] = [
    ['postgres://shop:hush@127.0.0.1:1/shop', '127.0.0.1:1/shop: connect ECONNREFUSED'],
    ['postgres://shop:hush@nowhere.invalid/shop', 'nowhere.invalid:5432/shop: getaddrinfo'],
    [`${url}_missing`, 'does not exist'],
    [Object.assign(new URL(url), { password: 'hush' }).href, 'password authentication failed'],
    ['postgres://shop:hush@[::bad/shop', 'is not a URL'],
  ];
  for (const [address, words] of cases) {
    const error = await applyMigrations({ url: address, dir, logger }).catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(DatabaseUnreachableError);
    expect(String(error)).toContain(words);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hush');
  }
});
