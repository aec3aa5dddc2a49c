import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type TestDatabase = {
  url: string;
  query<Row = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Also ends all other connections to the database. */
  drop(): Promise<void>;
};

/** The password of roles that exist for one test. */
const PASSWORD = 'opens_a_test_database';

/** Any number that nothing else locks in that database. */
const CLONING = 7_411;

/**
 * Creates a migrated database for one test, as a copy of the template that the global setup made.
 */
export async function cloneDatabase(): Promise<TestDatabase> {
  const template = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url = new URL(template);
  url.pathname = `/${name}`;
  // One copy at a time, because a copy keeps the template busy.
  await beside(template, `SELECT pg_advisory_lock(${CLONING})`, `CREATE DATABASE ${name} TEMPLATE ${nameOf(template)}`);
  return openTestDatabase(url);
}

/** An existing, migrated database. */
export function openTestDatabase(url: URL): TestDatabase {
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // A test that stops the server breaks idle connections.
  pool.on('error', () => undefined);
  return {
    url: url.href,
    query: async <Row>(sql: string, values: unknown[] = []) => (await pool.query(sql, values)).rows as Row[],
    drop: async () => {
      await pool.end();
      await beside(url, `DROP DATABASE IF EXISTS ${nameOf(url)} WITH (FORCE)`);
    },
  };
}

export type RolesDatabase = { database: TestDatabase; ownerUrl: string; programUrl: string };

/**
 * Creates a database without tables, and two roles: its owner, and a role that may only connect.
 * @returns the database and the roles' URLs
 */
export async function databaseOfRoles(): Promise<RolesDatabase> {
  const server = new URL(process.env.TEST_TEMPLATE_URL ?? '');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const [owner, program] = [`${name}_owner`, `${name}_program`];
  await beside(
    server,
    `CREATE ROLE ${owner} LOGIN PASSWORD '${PASSWORD}'`,
    `CREATE ROLE ${program} LOGIN PASSWORD '${PASSWORD}'`,
    `CREATE DATABASE ${name} OWNER ${owner}`,
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`,
    `GRANT CONNECT ON DATABASE ${name} TO ${program}`,
  );
  const addressFor = (role: string) => {
    const url = new URL(server);
    Object.assign(url, { username: role, password: PASSWORD, pathname: `/${name}` });
    return url;
  };
  const url = new URL(server);
  url.pathname = `/${name}`;
  const database = openTestDatabase(url);
  const drop = async () => {
    await database.drop();
    await beside(server, `DROP ROLE ${owner}`, `DROP ROLE ${program}`);
  };
  return { database: { ...database, drop }, ownerUrl: addressFor(owner).href, programUrl: addressFor(program).href };
}

/**
 * Runs statements on a connection to the server's default database, because a template cannot have
 * connections.
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
