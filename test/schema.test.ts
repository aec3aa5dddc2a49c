import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { cloneDatabase, type TestDatabase } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { startShop } from './support/shop.ts';
import { stepsTo } from '../local/schema-engine.ts';

// The client's types come from schema.prisma, the tables from the migrations.

const SCHEMA = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

test('schema.prisma equals the result of the migrations', async () => {
  expect(await stepsTo(database.url, SCHEMA)).toMatch(/^-- This is an empty migration\.\s*$/);
});

const LONGER = SCHEMA.replace('model Order {', 'model Order {\n  gift String?');

test('a column that only schema.prisma has is found', async () => {
  expect(await stepsTo(database.url, LONGER)).toContain('ALTER TABLE "orders" ADD COLUMN     "gift" TEXT');
});

test('a shop can add a column to orders with Prisma, and a paid order accepts a value in it', async () => {
  const shop = await startShop();
  try {
    await shop.database.query(await stepsTo(shop.database.url, LONGER));
    const { orderId, reference } = await shop.checkout();
    await shop.sandboxPost(`/transactions/${reference}/pay`);
    await eventually(async () => {
      const { body } = await shop.request<{ status: string }>('GET', `/orders/${orderId}`);
      return body.status === 'paid';
    });
    await shop.database.query('UPDATE orders SET gift = $2 WHERE id = $1', [orderId, 'a card']);
    expect(await shop.database.query('SELECT status, gift FROM orders')).toEqual([{ status: 'paid', gift: 'a card' }]);
  } finally {
    await shop.stop();
  }
});
