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
