import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../src/platform/logger.ts';
import { applyMigrations } from '../../src/platform/database/migrations.ts';
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

test('the constraints that the top of schema.sql names are there', () => {
  const text = readFileSync(new URL('../../prisma/schema.sql', import.meta.url), 'utf8');
  const [, top = ''] = text.split('-- An order is paid only if\n');
  const [head = '', rest = ''] = top.split('\n\n', 2);
  const names = [...head.matchAll(/\w+(?:_\w+)+/g)].map(([name]) => name);
  expect(names).toHaveLength(8);
  expect(names.filter((name) => !new RegExp(`(CONSTRAINT|TRIGGER) ${name} `).test(text))).toEqual([]);
  expect(rest).toMatch(/^-- /);
});

test('a row that contradicts a constraint fails its validation, which says so and leaves nothing', async () => {
  const { url, drop } = await cloneDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const name = '20261126105000_constraints_validated';
  try {
    await pool.query(`
      DELETE FROM _prisma_migrations WHERE migration_name = '${name}';
      ALTER TABLE order_lines DROP CONSTRAINT goods_cost_money;
      INSERT INTO orders (id, mode, email, amount, currency) VALUES (repeat('x', 24), 'test', 'a@b.co', 1, 'NGN');
      INSERT INTO order_lines VALUES (repeat('x', 24), 1, 'tote', 'A tote bag', 0, 1);
      ALTER TABLE order_lines ADD CONSTRAINT goods_cost_money CHECK (unit_amount > 0 OR sku IS NULL) NOT VALID`);
    const dir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
    const apply = (): Promise<string[]> => applyMigrations({ url, dir, logger: createLogger('silent') });
    await expect(apply()).rejects.toThrow(
      `migration ${name} failed and left nothing behind: check constraint "goods_cost_money" of relation ` +
        '"order_lines" is violated by some row',
    );
    await pool.query(`ALTER TABLE order_lines DISABLE TRIGGER order_lines_are_frozen;
      UPDATE order_lines SET unit_amount = 1;
      ALTER TABLE order_lines ENABLE TRIGGER order_lines_are_frozen`);
    expect(await apply()).toEqual([name]);
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
