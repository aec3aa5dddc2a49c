import pg from 'pg';

/** One statement on a connection of its own. */
export async function ask<Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  // A node that stands still may hold the very rows: nothing here waits for ever.
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 3_000,
    lock_timeout: 3_000,
    statement_timeout: 15_000,
    query_timeout: 20_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
