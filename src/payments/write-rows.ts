import type { Tx } from '../platform/db.ts';
import type { Change, Rows } from './change.ts';

/**
 * Stores all rows of a change by one statement, so that no row is written without the others. Each table gets its rows as
 * a list in JSON: its inserts and updates are the same for one row and for many.
 *
 * Deliveries and notifications write the same messages and payments at other moments. So an update sets only the columns
 * that a change decides about.
 */
// One statement is one function: it is long, and has no branch.
// eslint-disable-next-line max-lines-per-function
export async function writeRows(tx: Tx, { dossier, rows }: Change): Promise<void> {
  if (isEmpty(rows)) return;
  // A view of the order shows held and refunded money, too, so the order has changed when its ledger has.
  if (dossier.id !== '' && rows.money.size > 0) rows.orders.add(dossier);
  // Raw: Prisma has no statement for several tables. Measured: a third of the time of one for each. NULL::money would be
  // PostgreSQL's own type of that name. A column that a list does not name is NULL in it, and not its default.
  await tx.$executeRaw`
    WITH
      o AS (
        UPDATE orders o SET status = n.status, ended_at = n.ended_at, ended_by = n.ended_by, end_reason = n.end_reason,
          pay_by = n.pay_by, released_reference = n.released_reference, paid_at = n.paid_at,
          updated_at = clock_timestamp()
        FROM jsonb_populate_recordset(NULL::orders, ${json(rows.orders)}::jsonb) n WHERE o.id = n.id),
      np AS (
        INSERT INTO payments (reference, mode, order_id, amount, currency, status, next_check_at, created_at)
        SELECT reference, mode, order_id, amount, currency, status, next_check_at, created_at
        FROM jsonb_populate_recordset(NULL::payments, ${json(rows.newPayments)}::jsonb)),
      p AS (
        UPDATE payments p SET status = n.status, reason = n.reason, checkout_url = n.checkout_url,
          opened_at = n.opened_at, answered_at = n.answered_at, next_check_at = n.next_check_at,
          leased_until = n.leased_until, hinted_at = n.hinted_at, signed_hint = n.signed_hint,
          quiet_checks = n.quiet_checks, unreadable_since = n.unreadable_since, failures = n.failures
        FROM jsonb_populate_recordset(NULL::payments, ${json(rows.payments)}::jsonb) n
        WHERE p.reference = n.reference),
      v AS (
        INSERT INTO verifications SELECT n.* FROM jsonb_populate_recordset(NULL::verifications,
          ${json(rows.verifications)}::jsonb) n),
      m AS (
        INSERT INTO money SELECT n.* FROM jsonb_populate_recordset((SELECT t FROM money t LIMIT 0),
          ${json(rows.money)}::jsonb) n
        ON CONFLICT (reference, currency) DO UPDATE SET verify_shows = excluded.verify_shows,
          verify_gone = excluded.verify_gone, list_shows = excluded.list_shows, came = excluded.came,
          went = excluded.went, earned = excluded.earned, kept = excluded.kept, send_back = excluded.send_back,
          refunded = excluded.refunded, send_back_elsewhere = excluded.send_back_elsewhere,
          refunded_elsewhere = excluded.refunded_elsewhere,
          lost = excluded.lost, by_itself = excluded.by_itself, list_gone = excluded.list_gone,
          list_word = excluded.list_word, list_doubted = excluded.list_doubted, list_rolled = excluded.list_rolled,
          list_beyond = excluded.list_beyond, list_heard_at = excluded.list_heard_at),
      r AS (
        INSERT INTO releases SELECT n.* FROM jsonb_populate_recordset(NULL::releases, ${json(rows.releases)}::jsonb) n),
      b AS (
        INSERT INTO refunds SELECT n.* FROM jsonb_populate_recordset(NULL::refunds, ${json(rows.refunds)}::jsonb) n),
      c AS (
        INSERT INTO cases SELECT n.* FROM jsonb_populate_recordset(NULL::cases, ${json(rows.cases)}::jsonb) n
        ON CONFLICT (id) DO UPDATE SET class = excluded.class, held = excluded.held, missing = excluded.missing,
          evidence = excluded.evidence, digest = excluded.digest, closed_at = excluded.closed_at,
          closed_by = excluded.closed_by, decision = excluded.decision, covers = excluded.covers,
          note = excluded.note, number = excluded.number),
      t AS (
        INSERT INTO messages (id, mode, type, order_id, body, next_try_at)
        SELECT id, mode, type, order_id, body, next_try_at
        FROM jsonb_populate_recordset(NULL::messages, ${json(rows.newMessages)}::jsonb)),
      h AS (
        UPDATE messages m SET held_by = n.held_by, lifted_by = n.lifted_by,
          sent_at = CASE WHEN n.resends THEN NULL ELSE m.sent_at END,
          tries = CASE WHEN n.restarts THEN 0 ELSE m.tries END,
          first_try_at = CASE WHEN n.restarts THEN NULL ELSE m.first_try_at END,
          next_try_at = CASE WHEN n.restarts THEN clock_timestamp() ELSE m.next_try_at END
        FROM jsonb_to_recordset(${json(rows.messages.values())}::jsonb)
          AS n (id text, held_by text, lifted_by text, restarts boolean, resends boolean)
        WHERE m.id = n.id)
    INSERT INTO journal (order_id, reference, what, "by", counter, amount, currency, data)
    SELECT order_id, reference, what, "by", counter, amount, currency, data
    FROM jsonb_populate_recordset(NULL::journal, ${json(rows.journal)}::jsonb)`;
}

function isEmpty(rows: Rows): boolean {
  return Object.values(rows).every((list) => ('size' in list ? list.size : list.length) === 0);
}

/** Columns whose values are JSON. All other objects in a row are its relations. */
const JSON_COLUMNS = ['data', 'evidence'];

/** Rows as JSON by the names of their columns, without relations. Amounts are texts: JSON numbers lose digits. */
function json(rows: Iterable<object>): string {
  return JSON.stringify([...rows].map(columnsOf));
}

function columnsOf(row: object): object {
  const columns = Object.entries(row).flatMap(([name, value]: [string, unknown]) => {
    const stored = storedAs(name, value);
    return stored === undefined ? [] : [[snakeCase(name), stored]];
  });
  return Object.fromEntries(columns) as object;
}

/** @returns undefined: a relation, which is no column */
function storedAs(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value !== 'object' || value === null || value instanceof Date || JSON_COLUMNS.includes(name)) return value;
  return undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
