import { ordersOf, bytesNameAddress, namesAddress, patternsOf } from '../orders/erasure.sql.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import { detailOf, type OrderDetail } from './order-detail.ts';

/** What came from the service about a payment, as text; null: pruned. */
type Received = { reference: Reference; at: Date; sha256: string; body: string | null };

/** Everything that is kept about an address. */
export type PersonData = {
  email: string;
  orders: (OrderDetail & { email: string; placedAt: Date; answers: Received[]; webhooks: Received[] })[];
  /** Rows of any table that name the address and are not listed above. */
  elsewhere: { table: string; row: Record<string, unknown>; body: string | null }[];
};

/** Reads every table once: for a person's question, not for a page. */
export function personData(database: Database, email: string): Promise<PersonData> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await tx.query('SET LOCAL statement_timeout = 0');
    const orders: PersonData['orders'] = [];
    for (const id of await ordersOf(tx, email)) orders.push(await orderData(tx, id));
    const told = new Set(
      orders.flatMap(({ payments }) => payments.map(({ reference }) => String(reference))),
    );
    const mentions = (await mentionsOf(tx, email)).filter(
      ({ table, row, body }) => table !== 'orders' && (body === null || !told.has(String(row.reference))),
    );
    const elsewhere = mentions.map(({ body, ...one }) => ({ ...one, body: body?.toString('utf8') ?? null }));
    return { email, orders, elsewhere };
  });
}

async function orderData(tx: Queryable, id: OrderId): Promise<PersonData['orders'][number]> {
  const detail = await detailOf(tx, id);
  const [row] = await tx.query<{ email: string; placedAt: Date }>(
    'SELECT email, created_at AS "placedAt" FROM orders WHERE id = $1',
    [id],
  );
  if (detail === null || row === undefined) throw new Error(`order ${id} went away`);
  return { ...row, ...detail.orderDetail, ...(await receivedOf(tx, id)) };
}

/** The service's answers and webhooks about an order, oldest first. */
async function receivedOf(
  tx: Queryable,
  orderId: OrderId,
): Promise<{ answers: Received[]; webhooks: Received[] }> {
  const texts = (rows: (Omit<Received, 'body'> & { body: Buffer | null })[]): Received[] =>
    rows.map(({ body, ...row }) => ({ ...row, body: body?.toString('utf8') ?? null }));
  return {
    answers: texts(
      await tx.query(
        `SELECT reference, answered_at AS at, encode(body_sha256, 'hex') AS sha256, body
         FROM verifications WHERE order_id = $1 ORDER BY id`,
        [orderId],
      ),
    ),
    webhooks: texts(
      await tx.query(
        `SELECT w.reference, received_at AS at, encode(body_sha256, 'hex') AS sha256, body
         FROM webhooks w JOIN payments p ON p.reference = w.reference WHERE p.order_id = $1 ORDER BY w.id`,
        [orderId],
      ),
    ),
  };
}

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
