import pg from 'pg';
import { openDatabase, type Database } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { Secret } from '../../src/platform/secret.ts';

export type TestDatabase = { database: Database; url: string; close(): Promise<void> };

/** A migrated database of one's own with a pool on it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await cloneDatabase();
  const database = openDatabase(new Secret(url), createLogger('silent'));
  return {
    database,
    url,
    close: async () => {
      await database.close();
      await drop();
    },
  };
}

/** Clones the run's template, or an empty database. Nothing is connected to the copy yet. */
export async function cloneDatabase(of?: 'template1'): Promise<{ url: string; drop(): Promise<void> }> {
  const template = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const name = `test_${newId().toLowerCase()}`;
  const url = new URL(template);
  url.pathname = `/${name}`;
  await asOwner(
    template,
    `CREATE DATABASE ${name} TEMPLATE ${of ?? template.pathname.slice(1)} STRATEGY FILE_COPY`,
  );
  return { url: url.href, drop: () => asOwner(template, `DROP DATABASE ${name} WITH (FORCE)`) };
}

/** From the maintenance database: the template itself must have no connections while it is copied. */
async function asOwner(template: URL, statement: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
