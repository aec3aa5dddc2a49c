import { expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { readAddress } from '../../../src/platform/database/address.ts';
import { Secret } from '../../../src/platform/secret.ts';
import { cloneDatabase } from '../../support/database.ts';

test('behind a pooler statements go to it and sessions to PostgreSQL itself, with the same name and password', () => {
  const given =
    'postgres://shop:p%40ss@bouncer:6432/shop?pgbouncer=true&direct=db.internal:5432&sslmode=require';
  expect(readAddress(given)).toEqual({
    pooled: 'postgres://shop:p%40ss@bouncer:6432/shop?sslmode=require',
    direct: 'postgres://shop:p%40ss@db.internal:5432/shop?sslmode=require',
    isPooled: true,
  });
});

test('without a pooler there is one address for both', () => {
  const given = 'postgres://shop:pass@db/shop?sslmode=require';
  expect(readAddress(given)).toEqual({ pooled: given, direct: given, isPooled: false });
});

test.each(['', '&direct=', '&direct=postgres://db:5432/shop'])(
  'a pooler with nothing usable behind it is a fault of the configuration: "%s"',
  (direct) => {
    const DATABASE_URL = `postgres://shop:pass@bouncer:6432/shop?pgbouncer=true${direct}`;
    expect(() => loadConfig({ DATABASE_URL })).toThrow(
      'DATABASE_URL: with pgbouncer=true also needs direct=',
    );
  },
);

test('behind a pooler nothing is prepared under a name, because the next transaction runs elsewhere', async () => {
  const { url, drop } = await cloneDatabase();
  const pooled = Object.assign(new URL(url), { search: `pgbouncer=true&direct=${new URL(url).host}` });
  const named = { name: 'one', text: 'SELECT 1 AS one' };
  const prepared = 'SELECT name FROM pg_prepared_statements';
  for (const [address, expected] of [
    [pooled.href, []],
    [url, [{ name: 'one' }]],
  ] as const) {
    const database = openDatabase(new Secret(address), createLogger('silent'), { max: 1 });
    await database.query(named);
    await database.plainPool.query(named);
    await database.transaction((tx) => tx.query(named));
    expect(await database.query(prepared)).toEqual(expected);
    await database.close();
  }
  await drop();
});
