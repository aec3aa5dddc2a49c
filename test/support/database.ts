import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type TestDatabase = {
  url: string;
  query<Row = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Also ends the connections that others have to it. */
  drop(): Promise<void>;
};

/** Any number that nothing else locks in that database. */
const CLONING = 7_411;

/** A migrated database of one's own: a copy of the template that the set-up of the run has made. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const template = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(template);
  url.pathname = `/${name}`;
  // One at a time: a copy that another one makes would keep the template busy.
  await beside(template, `SELECT pg_advisory_lock(${CLONING})`, `CREATE DATABASE ${name} TEMPLATE ${nameOf(template)}`);
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // Whoever stops the server in a test breaks connections that nobody uses.
  pool.on('error', () => undefined);
  return {
    url: url.href,
    query: async <Row>(sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows as Row[],
    drop: async () => {
      await pool.end();
      await beside(template, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/**
 * Runs statements on one connection to the server's own database: nobody may be connected to a
 * template.
 */
export async function beside(url: URL, ...statements: string[]): Promise<void> {
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

export function nameOf(url: URL): string {
  return url.pathname.slice(1);
}
