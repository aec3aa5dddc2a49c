import { bytesNameAddress, namesAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Queryable } from '../platform/database/database.ts';

/** A row that names an address. `body`: the bytes that came from outside, where the table keeps such. */
type Mention = { table: string; row: Record<string, unknown>; body: Buffer | null };

/** Every row of every table that names the address, capitals or not: reads all of them. */
export async function mentionsOf(db: Queryable, email: string): Promise<Mention[]> {
  const tables = await db.query<{ name: string; isOfBytes: boolean }>(
    `SELECT quote_ident(t.table_name) AS name, EXISTS (SELECT FROM information_schema.columns c
       WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name
         AND c.column_name = 'body' AND c.data_type = 'bytea') AS "isOfBytes"
     FROM information_schema.tables t
     WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY t.table_name`,
  );
  const mentions: Mention[] = [];
  for (const { name, isOfBytes } of tables) {
    const body = isOfBytes ? 't.body' : 'NULL::bytea';
    const rows = await db.query<Omit<Mention, 'table'>>(
      `SELECT to_jsonb(t) - 'body' AS row, ${body} AS body FROM ${name} t
       WHERE ${namesAddress('t::text', '$1')} OR ${bytesNameAddress(body, '$1')}`,
      [patternsOf(email)],
    );
    mentions.push(...rows.map((row) => ({ table: name, ...row })));
  }
  return mentions;
}
