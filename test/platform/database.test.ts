import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

test('money comes out of the database as a whole number of minor units, never as a float or a text', async () => {
  const rows = await db.database.query<{ amount: bigint }>('SELECT 9007199254740993::bigint AS amount');
  expect(rows).toEqual([{ amount: 9007199254740993n }]);
});

test('a transaction that fails leaves nothing behind', async () => {
  const insert = `INSERT INTO products (sku, name, unit_amount, currency) VALUES ('x', 'X', 1, 'NGN')`;
  await expect(
    db.database.transaction(async (tx) => {
      await tx.query(insert);
      throw new Error('on purpose');
    }),
  ).rejects.toThrow('on purpose');
  expect(await db.database.query('SELECT FROM products')).toHaveLength(0);
});

test('the kernel asks after ten seconds of silence whether PostgreSQL is still there, not after two hours', async () => {
  const timer = await db.database.transaction(async (tx) => {
    const [row] = await tx.query<{ port: string }>(
      `SELECT upper(lpad(to_hex(inet_client_port()), 4, '0')) AS port`,
    );
    // Of our end of the connection: its state, what is queued, then the timer: 02 asks the other end, in so many ticks.
    const ours = new RegExp(`: \\w+:${row?.port ?? ''} \\S+ 01 \\S+ 02:(\\w+)`);
    return ours.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1];
  });
  expect(Number.parseInt(timer ?? '', 16) / 100).toBeLessThanOrEqual(10);
});

test('an unused connection keeps its plans for most of a minute, after which proxies cut it', () => {
  expect(db.database.pool.options).toMatchObject({ idleTimeoutMillis: 55_000 });
});
