import type { Queryable } from '../platform/database/database.ts';

/** @throws when the database does not answer */
export async function pingDatabase(db: Queryable): Promise<void> {
  await db.query({ name: 'ping', text: 'SELECT 1 AS ok' });
}
