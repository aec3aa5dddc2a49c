import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Alone in a file: where this does not hold, the first session that PostgreSQL ends takes the whole test process along.

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

test('a connection that breaks while somebody has it ends no process', async () => {
  const client = await db.database.pool.connect();
  try {
    expect(() => client.emit('error', new Error('terminating connection'))).not.toThrow();
  } finally {
    client.release(true);
  }
});
