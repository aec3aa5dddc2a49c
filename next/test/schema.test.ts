import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { cloneDatabase, type TestDatabase } from './support/database.ts';
import { openSchemaEngine } from './support/schema-engine.ts';

// The client's types come from schema.prisma, the tables from the migrations.

const SCHEMA = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

/** What `prisma migrate dev` would do to the migrated database for this schema. */
async function stepsTo(schema: string): Promise<string> {
  const { engine, close } = await openSchemaEngine(database.url);
  const files = [{ path: 'schema.prisma', content: schema }];
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout ?? '';
  } finally {
    await close();
  }
}

test('schema.prisma is what the migrations make', async () => {
  expect(await stepsTo(SCHEMA)).toMatch(/^-- This is an empty migration\.\s*$/);
});

test('a column that only schema.prisma has is noticed', async () => {
  const longer = SCHEMA.replace('model Order {', 'model Order {\n  gift String?');
  expect(await stepsTo(longer)).toContain('ALTER TABLE "orders" ADD COLUMN     "gift" TEXT');
});
