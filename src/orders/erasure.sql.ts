import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';

/** An order whose shopper is still needed, and for what. */
export type OpenOrder = { id: OrderId; why: string };

/** Orders of the address that are not at their end: of what was paid for, that is its delivery. */
export function openOrdersOf(db: Queryable, email: string): Promise<OpenOrder[]> {
  return db.query('SELECT id, why FROM open_orders_of($1)', [email]);
}

/** All orders of the address, however it was written, in either mode. */
export async function ordersOf(db: Queryable, email: string): Promise<OrderId[]> {
  const rows = await db.query<{ id: OrderId }>(
    `SELECT id FROM orders WHERE lower(email) = lower($1) ORDER BY created_at, id`,
    [email],
  );
  return rows.map(({ id }) => id);
}

/** The same, locked in the order in which everybody locks orders, until the transaction ends. */
export async function lockOrdersOf(tx: Queryable, email: string): Promise<OrderId[]> {
  const rows = await tx.query<{ id: OrderId }>(
    'SELECT id FROM orders WHERE lower(email) = lower($1) ORDER BY id FOR NO KEY UPDATE',
    [email],
  );
  return rows.map(({ id }) => id);
}

/** Writes into the journal of each order who has looked at who its shopper is, and why. */
export async function noteLook(
  db: Queryable,
  orderIds: readonly OrderId[],
  by: string,
  note: string | null = null,
): Promise<void> {
  await db.query(
    `INSERT INTO journal (order_id, event, cause, detail)
     SELECT unnest($1::text[]), 'person-shown', 'operator:' || $2,
       jsonb_strip_nulls(jsonb_build_object('note', $3::text))`,
    [orderIds, by, note],
  );
}

type Erasure = { email: string; by: string; note: string; evenOpen: boolean };

/**
 * Erases the address, what its shopper entered beside it, and the messages that repeat that. The journal says
 * who and why.
 * @returns the orders that had it; none the second time
 * @throws when one of them is open, unless `evenOpen`
 */
export async function eraseAddress(
  db: Queryable,
  { email, by, note, evenOpen }: Erasure,
): Promise<OrderId[]> {
  const rows = await db.query<{ id: OrderId }>('SELECT erase_person($1, $2, $3, $4) AS id', [
    email,
    by,
    note,
    evenOpen,
  ]);
  return rows.map(({ id }) => id);
}

// "ada@example.com" is not in "canada@example.com", nor in "ada@example.com.ng". A letter may stand before it
// as the end of an escape: of JSON (\n, \u003c), of a form (%3c), or of PostgreSQL's own form of bytes
// (\253).
const ESCAPES = String.raw`\\[bfnrt]|\\u[0-9a-f]{4}|\\[0-7]{3}|%(0a|0d|20|22|2c|3a|3b|3c|3d)`;
const BEFORE = `((?<![a-z0-9._+-])|(?<=${ESCAPES}))`;
const AFTER = String.raw`(?![a-z0-9-]|\.[a-z0-9])`;

/** Regular expressions of PostgreSQL for an address in small letters, as texts, JSON and forms spell it. */
export function patternsOf(email: string): string[] {
  const plain = email.toLowerCase();
  const octal = [...Buffer.from(plain)]
    .map((byte) => (byte < 128 ? String.fromCharCode(byte) : `\\${byte.toString(8)}`))
    .join('');
  const spellings = [plain, octal, plain.replace('@', '\\u0040'), plain.replace('@', '\\\\u0040')];
  return [...new Set([...spellings, encodeURIComponent(plain).toLowerCase()])].map(
    (spelling) => BEFORE + spelling.replace(/[^a-z0-9@%\u0080-\uffff]/g, '\\$&') + AFTER,
  );
}

/**
 * SQL: whether a text names the address, capitals or not.
 * @param patterns a placeholder of text[]
 */
export function namesAddress(text: string, patterns: string): string {
  return `lower(${text}) ~ ANY (${patterns}::text[])`;
}

/** The same of bytes, which may be no text at all. */
export function bytesNameAddress(bytes: string, patterns: string): string {
  return namesAddress(`encode(${bytes}, 'escape')`, patterns);
}
