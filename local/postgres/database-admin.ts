import pg from 'pg';

/**
 * Drops a database of that name if there is one, and makes an empty one.
 * @param url of any database of the server; its user may create databases
 * @param name a plain lower-case word, it goes into the statement as it is
 * @returns the url of the new database
 */
export async function createDatabaseAnew(url: string, name: string): Promise<string> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new RangeError(`${name} is not a plain name for a database`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}
