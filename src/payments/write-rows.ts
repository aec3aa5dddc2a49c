import { EMPTY } from '../ledger/ledger.ts';
import type { Tx } from '../platform/db.ts';
import { Prisma } from '../platform/prisma/client.ts';
import type { Change, Rows } from './change.ts';
import { columnsOf as ledgerColumnsOf } from '../ledger/stored.ts';

/**
 * Stores all rows of all changes by one statement, so that no row is written without the others.
 */
export async function writeRows(tx: Tx, changes: readonly Change[]): Promise<void> {
  if (changes.every(({ rows }) => isEmpty(rows))) return;
  await writeLists(tx, (name) => json(changes.flatMap(({ rows }) => [...rows[name].values()])));
}

/**
 * Writes each table's rows from a list in JSON, one row or many alike. Raw: Prisma has no statement
 * for several tables, and this one takes a third of the time of one statement for each table.
 *
 * Deliveries and notifications write the same messages and payments at other times. So an update
 * sets only the columns that a change decides about. If a list does not name a column, the column
 * is NULL and not its default.
 *
 * If somebody sets the sequence of case ids back, an id may belong to a case of another payment.
 * The statement then sets no class, and the database refuses the row.
 */
async function writeLists(
  tx: Tx,
  list: (name: Exclude<keyof Rows, 'unitErrors' | 'ledgersBefore'>) => string,
): Promise<void> {
  await tx.$executeRaw`
    WITH o AS (
        UPDATE orders o SET status = n.status, ended_at = n.ended_at, ended_by = n.ended_by, end_reason = n.end_reason,
          pay_by = n.pay_by, paid_reference = n.paid_reference, paid_at = n.paid_at, part_paid = n.part_paid,
          updated_at = clock_timestamp()
        FROM jsonb_populate_recordset(NULL::orders, ${list('orders')}::jsonb) n WHERE o.id = n.id),
      np AS (INSERT INTO payments (reference, mode, order_id, amount, currency, status, next_check_at, created_at)
        SELECT reference, mode, order_id, amount, currency, status, next_check_at, created_at
        FROM jsonb_populate_recordset(NULL::payments, ${list('newPayments')}::jsonb)),
      p AS (
        UPDATE payments p SET status = n.status, reason = n.reason, checkout_url = n.checkout_url,
          opened_at = n.opened_at, answered_at = n.answered_at, next_check_at = n.next_check_at, failures = n.failures,
          leased_until = n.leased_until, notified_at = n.notified_at, signed_notification = n.signed_notification,
          quiet_checks = n.quiet_checks, unreadable_since = n.unreadable_since
        FROM jsonb_populate_recordset(NULL::payments, ${list('payments')}::jsonb) n WHERE p.reference = n.reference),
      v AS (INSERT INTO verifications
        SELECT n.* FROM jsonb_populate_recordset(NULL::verifications, ${list('verifications')}::jsonb) n),
      l AS (
        INSERT INTO ledgers SELECT n.* FROM jsonb_populate_recordset(NULL::ledgers, ${list('ledgers')}::jsonb) n
        ON CONFLICT (reference, currency) DO UPDATE SET ${SET_LEDGER}),
      r AS (INSERT INTO proofs SELECT n.* FROM jsonb_populate_recordset(NULL::proofs, ${list('proofs')}::jsonb) n),
      rp AS (INSERT INTO proof_payments
        SELECT n.* FROM jsonb_populate_recordset(NULL::proof_payments, ${list('proofPayments')}::jsonb) n),
      b AS (INSERT INTO refunds SELECT n.* FROM jsonb_populate_recordset(NULL::refunds, ${list('refunds')}::jsonb) n),
      c AS (
        INSERT INTO cases SELECT n.* FROM jsonb_populate_recordset(NULL::cases, ${list('cases')}::jsonb) n
        ON CONFLICT (id) DO UPDATE SET held = excluded.held, missing = excluded.missing,
          class = CASE WHEN cases.reference = excluded.reference THEN excluded.class END,
          evidence = excluded.evidence, digest = excluded.digest, closed_at = excluded.closed_at,
          closed_by = excluded.closed_by, decision = excluded.decision, acknowledged = excluded.acknowledged,
          note = excluded.note, number = excluded.number),
      t AS (INSERT INTO messages (id, mode, type, order_id, body, next_try_at, held_by)
        SELECT id, mode, type, order_id, body, next_try_at, held_by FROM jsonb_populate_recordset(NULL::messages,
          ${list('newMessages')}::jsonb)),
      h AS (
        UPDATE messages m SET held_by = n.held_by, lifted_by = n.lifted_by, sent_at = CASE WHEN NOT resends THEN sent_at END,
          tries = CASE WHEN restarts THEN 0 ELSE tries END, first_try_at = CASE WHEN NOT restarts THEN first_try_at END,
          next_try_at = CASE WHEN restarts THEN clock_timestamp() ELSE next_try_at END
        FROM jsonb_to_recordset(${list('messages')}::jsonb)
          AS n (id text, held_by text, lifted_by text, restarts bool, resends bool)
        WHERE m.id = n.id AND (sent_at IS NULL OR resends))
    INSERT INTO journal (order_id, reference, what, "by", counter, amount, currency, data, at)
    SELECT order_id, reference, what, "by", counter, amount, currency, data, at
    FROM jsonb_populate_recordset(NULL::journal, ${list('journal')}::jsonb)`;
}

function isEmpty(rows: Rows): boolean {
  return Object.values(rows).every((list) => ('size' in list ? list.size : list.length) === 0);
}

/** Columns with JSON values. Every other object in a row is a relation. */
const JSON_COLUMNS = ['data', 'evidence', 'verifyTransactions', 'historyTransactions'];

/**
 * Rows as JSON by the names of their columns, without relations. Amounts are texts: JSON numbers
 * lose digits.
 */
function json(rows: readonly object[]): string {
  return JSON.stringify(rows.map(columnsOf), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
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
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value !== 'object' || value === null || value instanceof Date || JSON_COLUMNS.includes(name)) return value;
  return undefined;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** All columns of a ledger. The raw fragment contains only names from our own code. */
const LEDGER_COLUMNS = [...Object.keys(ledgerColumnsOf(EMPTY)), 'historyWord'].map(snakeCase);
const SET_LEDGER = Prisma.raw(LEDGER_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', '));
