import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { readMigrations } from '../../src/platform/database/migration-history.ts';
import { cloneDatabase } from '../support/database.ts';
import { readSchema } from '../../tools/schema/read-schema.sql.ts';
import { openSchemaEngine } from '../support/schema-engine.ts';

// The client's types come from schema.prisma, the tables from the migrations. Both are made in PostgreSQL and compared there.

const SCHEMA = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
/** Of the migrations alone: Prisma's own, the library's that counts requests, and reconciliation's staging. */
const WITHOUT_MODEL = ['_prisma_migrations', 'rate_limits', 'history_rows_test', 'history_rows_live'];

const COLUMNS = `
  SELECT table_name AS of, concat_ws(' ', table_name || '.' || column_name, udt_name, is_nullable,
    CASE WHEN is_identity = 'YES' OR column_default LIKE 'nextval%' THEN 'numbered'
      ELSE replace(column_default, 'CURRENT_TIMESTAMP', 'now()') END) AS line
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
  WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`;
/** Those that the language can express: of whole tables, and of columns. */
const INDEXES = `
  SELECT indrelid::regclass::text AS of, pg_get_indexdef(indexrelid) AS line
  FROM pg_index JOIN pg_class c ON c.oid = indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND indpred IS NULL AND indexprs IS NULL`;
const FOREIGN_KEYS = `
  SELECT conrelid::regclass::text AS of, conrelid::regclass || ' '
    || replace(pg_get_constraintdef(oid), ' NOT VALID', '') AS line
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`;

async function linesIn(pool: pg.Pool): Promise<string[]> {
  const lines: string[] = [];
  for (const sql of [COLUMNS, INDEXES, FOREIGN_KEYS]) {
    const { rows } = await pool.query<{ of: string; line: string }>(sql);
    lines.push(...rows.filter((row) => !WITHOUT_MODEL.includes(row.of)).map(({ line }) => line));
  }
  return lines.sort();
}

const FILTERS = { externalTables: [], externalEnums: [] };

/** The statements that make the tables of a schema in an empty database. */
async function scriptOf(schema: string, pool: pg.Pool): Promise<string> {
  const engine = await openSchemaEngine(pool);
  const { stdout } = await engine.diff({
    from: { tag: 'empty' },
    to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: schema }] },
    script: true,
    exitCode: null,
    filters: FILTERS,
  });
  engine.free();
  return stdout ?? '';
}

test('schema.prisma has the tables, columns, indexes and foreign keys of the migrations', async () => {
  const { url, drop } = await cloneDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const migrated = await linesIn(pool);
    await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await pool.query(await scriptOf(SCHEMA, pool));
    expect(await linesIn(pool)).toEqual(migrated);
    expect(migrated.length).toBeGreaterThan(200);
  } finally {
    await pool.end();
    await drop();
  }
});

test('schema.sql is what the migrations leave: npm run db:schema writes it', async () => {
  const { url, drop } = await cloneDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const written = readFileSync(new URL('../../prisma/schema.sql', import.meta.url), 'utf8');
    expect(written).toBe(await readSchema(pool));
  } finally {
    await pool.end();
    await drop();
  }
});

test('every model says what it is', () => {
  const bare = [...SCHEMA.matchAll(/(.*)\nmodel (\w+) \{/g)].filter(
    ([, before = '']) => !before.startsWith('///'),
  );
  expect(bare.map(([, , name]) => name)).toEqual([]);
});

test("Prisma's own engine goes on from what this program has applied", async () => {
  const { url, drop } = await cloneDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const ours = await readMigrations(fileURLToPath(new URL('../../prisma/migrations', import.meta.url)));
    const next = { name: '29990101000000_next', sql: 'CREATE TABLE next (id int);' };
    const engine = await openSchemaEngine(pool);
    const { appliedMigrationNames } = await engine.applyMigrations({
      filters: FILTERS,
      migrationsList: {
        baseDir: '.',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
        shadowDbInitScript: '',
        migrationDirectories: [...ours, next].map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
    });
    engine.free();
    expect(appliedMigrationNames).toEqual([next.name]);
  } finally {
    await pool.end();
    await drop();
  }
});
