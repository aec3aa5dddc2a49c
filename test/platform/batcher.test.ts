import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '../../src/platform/database/database.ts';
import { asRows, createBatcher, batched } from '../../src/platform/batcher.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  await database.query('CREATE TABLE notes (id int PRIMARY KEY, text text, amount bigint, bytes bytea)');
});
beforeEach(async () => {
  await database.query('TRUNCATE notes');
});
afterAll(() => testDatabase.close());

type Note = { id: number; text?: string; amount?: bigint; bytes?: Buffer };

/** Writes notes, and remembers which of them shared a statement. */
function notebook() {
  const groups: number[][] = [];
  const write = batched<Note, number>({
    keyOf: ({ id }) => String(id),
    run: async (db, notes) => {
      groups.push(notes.map(({ id }) => id));
      await db.query(
        `INSERT INTO notes SELECT * FROM json_to_recordset($1) AS n (id int, text text, amount bigint, bytes bytea)`,
        [asRows(notes)],
      );
      return notes.map(({ id }) => id);
    },
  });
  return { groups, write: (note: Note) => write(database, note) };
}

const written = async (): Promise<number[]> =>
  (await database.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

test('what comes together is written together, and everybody gets the own result', async () => {
  const { groups, write } = notebook();
  expect(await Promise.all([1, 2, 3].map((id) => write({ id })))).toEqual([1, 2, 3]);
  expect(groups).toEqual([[1, 2, 3]]);
  expect(await written()).toEqual([1, 2, 3]);
});

test('a crowd is written in groups of a bounded size, nobody is left behind', async () => {
  const { groups, write } = notebook();
  const crowd = Array.from({ length: 200 }, (_none, id) => id);
  expect(await Promise.all(crowd.map((id) => write({ id })))).toEqual(crowd);
  expect(Math.max(...groups.map(({ length }) => length))).toBeLessThanOrEqual(32);
  expect(await written()).toEqual(crowd);
});

test('one that PostgreSQL refuses takes no other along', async () => {
  const { write } = notebook();
  await write({ id: 2 });
  const results = await Promise.allSettled([1, 2, 3].map((id) => write({ id })));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await written()).toEqual([1, 2, 3]);
});

test('when the connection breaks nobody knows what was written: all fail, and nothing is sent again', async () => {
  let runs = 0;
  const add = createBatcher<number, number>(database, {
    run: async () => {
      runs += 1;
      await database.query('SELECT pg_terminate_backend(pg_backend_pid())');
      return [];
    },
  });
  const results = await Promise.allSettled([1, 2, 3].map(add));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(runs).toBe(1);
});

test('items with one key are never in flight together, and keep their order', async () => {
  const inFlight = new Set<string>();
  const done: number[] = [];
  const add = createBatcher<{ key: string; at: number }, null>(database, {
    keyOf: ({ key }) => key,
    run: async (_db, items) => {
      const keys = items.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter((key) => inFlight.has(key))).toEqual([]);
      keys.forEach((key) => inFlight.add(key));
      await database.query('SELECT pg_sleep(0.005)');
      keys.forEach((key) => inFlight.delete(key));
      done.push(...items.filter(({ key }) => key === 'a').map(({ at }) => at));
      return items.map(() => null);
    },
  });
  const items = Array.from({ length: 30 }, (_none, at) => ({ key: at % 3 === 0 ? 'b' : 'a', at }));
  await Promise.all(items.map(add));
  expect(done).toEqual(items.filter(({ key }) => key === 'a').map(({ at }) => at));
});

describe('rows as one parameter', () => {
  test('money, bytes and odd text arrive as they were', async () => {
    const { write } = notebook();
    await write({
      id: 1,
      text: `"\\ ' \u{1f600} \ud800`,
      amount: 9_007_199_254_740_993n,
      bytes: Buffer.from([0, 255]),
    });
    expect(await database.query('SELECT text, amount, bytes FROM notes')).toEqual([
      { text: `"\\ ' \u{1f600} \ufffd`, amount: 9_007_199_254_740_993n, bytes: Buffer.from([0, 255]) },
    ]);
  });

  test('what is not there is null', async () => {
    await notebook().write({ id: 1 });
    expect(await database.query('SELECT text, amount FROM notes')).toEqual([{ text: null, amount: null }]);
  });
});

test('in a transaction what is written stays in the transaction', async () => {
  const { write: outside } = notebook();
  const inside = batched<number, null>({
    run: async (db, ids) => {
      await db.query('INSERT INTO notes (id) SELECT unnest($1::int[])', [[...ids]]);
      return ids.map(() => null);
    },
  });
  await expect(
    database.transaction(async (tx) => {
      await Promise.all([inside(tx, 1), inside(tx, 2), outside({ id: 3 })]);
      throw new Error('on purpose');
    }),
  ).rejects.toThrow('on purpose');
  expect(await written()).toEqual([3]);
});

test.each([1, 2, 3])('no more than %i statements are in flight when it says so', async (maxInFlight) => {
  let [inFlight, peak] = [0, 0];
  const write = batched<number, number>({
    maxInFlight,
    run: async (db, items) => {
      inFlight += 1;
      peak = Math.max(peak, inFlight);
      await db.query('SELECT pg_sleep(0.01)');
      inFlight -= 1;
      return [...items];
    },
  });
  const numbers = Array.from({ length: 200 }, (_one, at) => at);
  expect(await Promise.all(numbers.map((one) => write(database, one)))).toEqual(numbers);
  expect(peak).toBe(maxInFlight);
});
