import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { breaksRunningVersion } from '../support/expand-only.ts';

// A migration is applied while the version before it still serves: it may add, and nothing else.

const MIGRATIONS = new URL('../../prisma/migrations/', import.meta.url);
const names = readdirSync(MIGRATIONS)
  .filter((name) => /^\d{14}_\w+$/.test(name))
  .sort();

test('there are migrations to look at', () => {
  expect(names.length).toBeGreaterThan(1);
});

test.each(names.slice(1))('%s leaves the running version its tables, its columns and its locks', (name) => {
  expect(breaksRunningVersion(readFileSync(new URL(`${name}/migration.sql`, MIGRATIONS), 'utf8'))).toEqual(
    [],
  );
});

test.each([
  'DROP TABLE orders',
  'ALTER TABLE orders DROP COLUMN email',
  'ALTER TABLE orders RENAME TO purchases',
  'ALTER TABLE orders RENAME COLUMN email TO address',
  'ALTER TABLE orders ALTER COLUMN amount TYPE numeric',
  'ALTER TABLE orders ALTER amount SET DATA TYPE numeric',
  'ALTER TABLE orders ALTER COLUMN external_id SET NOT NULL',
  'ALTER TABLE orders ADD COLUMN phone text NOT NULL',
  'ALTER TABLE orders ADD phone text NOT NULL, ADD fax text',
  'ALTER TABLE orders ADD CONSTRAINT small CHECK (amount < 10)',
  'ALTER TABLE payments ADD FOREIGN KEY (order_id) REFERENCES orders (id)',
  'CREATE INDEX by_mail ON orders (email)',
  'CREATE UNIQUE INDEX by_mail ON "payments" (reference)',
  'TRUNCATE webhooks',
  'ALTER TABLE orders DROP email',
  'ALTER TABLE orders ADD UNIQUE (email)',
  'ALTER TABLE orders ADD COLUMN phone text UNIQUE',
  'ALTER TABLE orders ADD COLUMN small bigint CHECK (small < 10)',
  'ALTER TABLE payments ADD COLUMN twin text REFERENCES payments (reference)',
  'ALTER TABLE orders ADD COLUMN token uuid DEFAULT gen_random_uuid()',
  'ALTER TABLE orders ADD COLUMN total bigint GENERATED ALWAYS AS (amount * 2) STORED',
  'LOCK TABLE orders',
  'CLUSTER orders USING orders_pkey',
  'CREATE INDEX CONCURRENTLY by_mail ON orders (email)',
])('refused: %s', (statement) => {
  expect(breaksRunningVersion(`SELECT 1;\n${statement};`)).toHaveLength(1);
});

test('an index on a big table stands alone in its migration, made so that it can be made again', () => {
  const index = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS by_mail ON orders (email);';
  expect(breaksRunningVersion(`-- Who has bought?\n${index}\n`)).toEqual([]);
  expect(breaksRunningVersion(`SELECT 1;\n${index}`)).toHaveLength(1);
});

test.each([
  'ALTER TABLE orders ADD COLUMN phone text',
  'ALTER TABLE orders ALTER COLUMN email DROP NOT NULL',
  'ALTER TABLE orders ADD COLUMN seen_at timestamptz DEFAULT now()',
  'ALTER TABLE orders ADD COLUMN tries integer NOT NULL DEFAULT 0',
  'ALTER TABLE orders ADD CONSTRAINT small CHECK (amount < 10) NOT VALID',
  'CREATE TABLE notes (id text NOT NULL); CREATE INDEX by_id ON notes (id)',
  '-- DROP TABLE orders\nSELECT 1',
  'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$',
])('allowed: %s', (statement) => {
  expect(breaksRunningVersion(`${statement};`)).toEqual([]);
});
