import { readFileSync } from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { openSchemaEngine } from '../../src/platform/database/schema-engine.ts';
import { cloneDatabase } from '../support/database.ts';

// The client's types come from schema.prisma, the tables from the migrations. Both are made in PostgreSQL and compared there.

const SCHEMA = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
/** Of the migrations alone: Prisma's own, the library's that counts requests, and reconciliation's staging. */
const WITHOUT_MODEL = ['_prisma_migrations', 'rate_limits', 'history_rows_test', 'history_rows_live'];

const COLUMNS = `
  SELECT table_name AS of, concat_ws(' ', table_name || '.' || column_name, udt_name, is_nullable,
    CASE WHEN is_identity = 'YES' OR column_default LIKE 'nextval%' THEN 'numbered'
      ELSE replace(column_default, 'CURRENT_TIMESTAMP', 'now()') END) AS line
  FROM information_schema.columns WHERE table_schema = 'public'`;
/** Those that the language can express: of whole tables, and of columns. */
const INDEXES = `
  SELECT indrelid::regclass::text AS of, pg_get_indexdef(indexrelid) AS line
  FROM pg_index JOIN pg_class c ON c.oid = indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND indpred IS NULL AND indexprs IS NULL`;
const FOREIGN_KEYS = `
  SELECT conrelid::regclass::text AS of, conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS line
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`;

async function linesIn(pool: pg.Pool): Promise<string[]> {
  const lines: string[] = [];
  for (const sql of [COLUMNS, INDEXES, FOREIGN_KEYS]) {
    const { rows } = await pool.query<{ of: string; line: string }>(sql);
    lines.push(...rows.filter((row) => !WITHOUT_MODEL.includes(row.of)).map(({ line }) => line));
  }
  return lines.sort();
}

/** The statements that make the tables of a schema in an empty database. */
async function scriptOf(schema: string, pool: pg.Pool): Promise<string> {
  // It loads the engine.
  (await openSchemaEngine(pool)).close();
  const engine = await bindings.SchemaEngine.new(
    { datamodels: undefined },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)),
  );
  const { stdout } = await engine.diff({
    from: { tag: 'empty' },
    to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: schema }] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
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

test('every model says what it is', () => {
  const bare = [...SCHEMA.matchAll(/(.*)\nmodel (\w+) \{/g)].filter(
    ([, before = '']) => !before.startsWith('///'),
  );
  expect(bare.map(([, , name]) => name)).toEqual([]);
});
