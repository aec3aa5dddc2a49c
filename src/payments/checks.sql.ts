import type { Queryable, Statement } from '../platform/database/database.ts';
import { asRows, batched } from '../platform/batcher.ts';
import { sleep, systemClock } from '../platform/clock.ts';
import type { Reference, OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Payment } from './payment.ts';
import { LOCK_ORDER } from './lock-order.ts';
import { byReference, PAYMENT_COLUMNS } from './confirm.sql.ts';
import { TRUSTED_HINT_STEP } from './check-schedule.ts';
import { LEASED_OR_SILENT_UNTIL, hintedSql, IS_BEING_CHECKED, isFreeSql, LEASE_SEC } from './hint.sql.ts';

export type DuePayment = Payment & { checks: number; isHinted: boolean };

// Leasing is one statement: no transaction is open while the service is asked. SKIP LOCKED lets many
// workers lease at once without waiting for each other; the lease lets a killed worker's rows come back.
const IS_DUE = `p.next_check_at <= now() AND ${LEASED_OR_SILENT_UNTIL} IS NULL AND p.mode = $1`;
const LEASED = `leased_until = now() + interval '${LEASE_SEC} s', checks = p.checks + 1`;

const LEASE_SCHEDULED: Statement = {
  name: 'lease-scheduled-payments',
  text: `
    WITH due AS MATERIALIZED (
      SELECT reference FROM payments p WHERE ${IS_DUE} AND p.hints <= p.hints_answered
      ORDER BY next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    UPDATE payments p SET ${LEASED}
    FROM due, orders o WHERE p.reference = due.reference AND o.id = p.order_id
    RETURNING ${PAYMENT_COLUMNS}, p.checks, false AS "isHinted"`,
};

// Payments with the most fruitless hint checks come last: a first hint does not wait behind a flood.
const LEASE_HINTED: Statement = {
  name: 'lease-hinted-payments',
  text: `
    WITH due AS MATERIALIZED (
      SELECT reference FROM payments p WHERE ${IS_DUE} AND p.hints > p.hints_answered
      ORDER BY p.hint_checks, next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    UPDATE payments p SET ${LEASED}, hint_checks = p.hint_checks + 1, last_hinted_at = now()
    FROM due, orders o WHERE p.reference = due.reference AND o.id = p.order_id
    RETURNING ${PAYMENT_COLUMNS}, p.checks, true AS "isHinted"`,
};

/** Leases up to `limit` payments whose time has come by the schedule. */
export function leaseScheduled(db: Queryable, mode: Mode, limit: number): Promise<DuePayment[]> {
  return db.query(LEASE_SCHEDULED, [mode, limit]);
}

/** Leases up to `limit` payments that are due with a hint that no check has answered. */
export function leaseHinted(db: Queryable, mode: Mode, limit: number): Promise<DuePayment[]> {
  return db.query(LEASE_HINTED, [mode, limit]);
}

// Shoppers who come back at the same time share the statement (see batched).
const HINT_AND_LEASE: Statement = {
  name: 'hint-and-lease-payment',
  text: `
    WITH seen AS MATERIALIZED (
      SELECT p.reference, ${IS_BEING_CHECKED} AS was_leased, g.is_trusted,
        g.may_lease AND ${isFreeSql('g.is_trusted')} AS free
      FROM json_to_recordset($1) AS g (reference text, mode text, may_lease boolean,
        is_trusted boolean) JOIN payments p ON p.reference = g.reference
      WHERE g.mode = $2 AND p.mode = g.mode ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF p
    )
    UPDATE payments p SET ${hintedSql('seen.free', 'seen.is_trusted')}
    FROM seen, orders o
    WHERE p.reference = seen.reference AND o.id = p.order_id
    RETURNING ${PAYMENT_COLUMNS}, seen.free AS "isLeased", seen.was_leased AS "wasLeased"`,
};

type HintedPayment = Payment & {
  /** This process checks it now. Otherwise the poller answers the hint. */
  isLeased: boolean;
  /** Another process had the lease when the hint came. */
  wasLeased: boolean;
};

/**
 * Counts a hint, and leases the payment for a check right now unless another process has the lease or hints
 * have had it checked too often.
 * @param mayLease false: the poller answers the hint in any case
 * @param isTrusted an operator's hint: it waits no longer than a signed one
 */
export function hintAndLease(
  db: Queryable,
  reference: Reference,
  mode: Mode,
  { mayLease = true, isTrusted = false }: { mayLease?: boolean; isTrusted?: boolean } = {},
): Promise<HintedPayment | null> {
  return hint(db, { reference, mode, may_lease: mayLease, is_trusted: isTrusted });
}

type Hint = { reference: Reference; mode: Mode; may_lease: boolean; is_trusted: boolean };
const hint = batched<Hint, HintedPayment | null>({
  // Hints at one payment count separately, so they do not share a statement.
  keyOf: ({ reference }) => reference,
  run: (db, items) =>
    db.query<HintedPayment>(HINT_AND_LEASE, [asRows(items), items[0]?.mode]).then(byReference(items)),
});

// Locked before the payment, as everywhere: see LOCK_ORDER.
const ITS_ORDER = `SELECT o.id FROM orders o JOIN payments p ON p.order_id = o.id
  WHERE p.reference = $1 FOR NO KEY UPDATE OF o`;

/** Expires a payment that was certainly never sent, and now never will be. */
export async function expireUnsent(db: Queryable, reference: Reference): Promise<void> {
  await db.query(
    `WITH locked AS (${ITS_ORDER}), expired AS (
       UPDATE payments SET status = 'expired', next_check_at = NULL, leased_until = NULL FROM locked
       WHERE reference = $1 AND order_id = locked.id AND status = 'created' RETURNING order_id, reference
     )
     INSERT INTO journal (order_id, event, reference, cause)
     SELECT order_id, 'payment-expired', reference, 'schedule' FROM expired`,
    [reference],
  );
}

/**
 * Makes a payment ambiguous: the process that was sending it has died, and the service, which may know
 * the payment or not, cannot be asked.
 */
export async function markAmbiguous(db: Queryable, reference: Reference): Promise<void> {
  await db.query(
    `WITH locked AS (${ITS_ORDER}), doubted AS (
       UPDATE payments SET status = 'ambiguous', reason = 'process-died' FROM locked
       WHERE reference = $1 AND order_id = locked.id AND status = 'sending' RETURNING order_id, reference
     )
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'payment-ambiguous', reference, 'schedule', '{"reason": "process-died"}' FROM doubted`,
    [reference],
  );
}

const POSTPONE: Statement = {
  name: 'postpone-check',
  text: `
    UPDATE payments SET next_check_at = now() + make_interval(secs => $2),
      leased_until = NULL, silent_until = now() + make_interval(secs => $3),
      hint_checks = least(hint_checks, ${TRUSTED_HINT_STEP}), checks = checks - (NOT $4)::int
    WHERE reference = $1`,
};

/**
 * Ends a lease after the service could not be asked; the payment is due again after the pause. Nothing
 * was learnt, and the hints are not to blame: their pauses do not grow.
 * @param notBeforeSec what the service itself asked for (Retry-After): until then hints cause no check either
 * @param wasAsked whether a call was made; one that was not is no check
 */
export async function postponeCheck(
  db: Queryable,
  reference: Reference,
  pauseSec: number,
  notBeforeSec: number | null,
  wasAsked = true,
): Promise<void> {
  await db.query(POSTPONE, [reference, Math.max(pauseSec, notBeforeSec ?? 0), notBeforeSec, wasAsked]);
}

const BEING_CHECKED: Statement = {
  name: 'is-payment-being-checked',
  text: `SELECT FROM payments p WHERE p.reference = $1 AND ${IS_BEING_CHECKED}`,
};

/** Whether another process has the lease of the payment. */
export async function isBeingChecked(db: Queryable, reference: Reference): Promise<boolean> {
  return (await db.query(BEING_CHECKED, [reference])).length === 1;
}

const LEASE_ONE: Statement = {
  name: 'lease-payment',
  text: `
    UPDATE payments p SET leased_until = now() + interval '${LEASE_SEC} s'
    FROM orders o
    WHERE p.reference = $1 AND p.mode = $2 AND o.id = p.order_id AND NOT (${IS_BEING_CHECKED})
    RETURNING ${PAYMENT_COLUMNS}`,
};

/**
 * Leases a payment for a check, due or not, and also in a silence that the service asked for. Without the
 * lease, a check in flight could record its older answer after this one's.
 * @returns null while another check holds it, or when the mode has no such payment
 */
export async function leaseForCheck(
  db: Queryable,
  reference: Reference,
  mode: Mode,
): Promise<Payment | null> {
  return (await db.query<Payment>(LEASE_ONE, [reference, mode]))[0] ?? null;
}

/** How long a person waits for another check of a payment to end; its answer is seconds away. */
export const LEASE_WAIT_MS = 8_000;
const LOOK_AGAIN_MS = 100;

/**
 * Leases a payment for a check, once no other check holds it: answers are written in the order of their
 * questions.
 * @returns null when another check still holds it after `waitMs`, or when the signal is aborted before
 */
export async function leaseWhenFree(
  { database, mode }: { database: Queryable; mode: Mode },
  reference: Reference,
  waitMs: number,
  signal?: AbortSignal,
): Promise<Payment | null> {
  const until = systemClock.elapsedMs() + waitMs;
  for (;;) {
    const payment = await leaseForCheck(database, reference, mode);
    const isOver = systemClock.elapsedMs() > until || signal?.aborted === true;
    if (payment !== null || isOver) return payment;
    await sleep(LOOK_AGAIN_MS, signal);
  }
}

const END_LEASE: Statement = {
  name: 'end-payment-lease',
  text: 'UPDATE payments SET leased_until = NULL WHERE reference = $1',
};

/** Ends the lease of {@link leaseForCheck} when nothing was recorded. Recording ends it by itself. */
export async function endLease(db: Queryable, reference: Reference): Promise<void> {
  await db.query(END_LEASE, [reference]);
}

export type AskRequest = {
  reference: Reference;
  by: string;
  note: string;
  /** The webhook to act upon again; null: none. */
  webhook: string | null;
};

/**
 * Records in the order's journal that a person asks for a check.
 * @returns the order's id, or null when the payment is not ours
 */
export async function noteAsking(db: Queryable, mode: Mode, ask: AskRequest): Promise<OrderId | null> {
  const [row] = await db.query<{ orderId: OrderId }>(
    `INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'check-asked', reference, 'operator:' || $3,
       jsonb_strip_nulls(jsonb_build_object('note', $4::text, 'webhook', $5::text))
     FROM payments WHERE reference = $1 AND mode = $2
     RETURNING order_id AS "orderId"`,
    [ask.reference, mode, ask.by, ask.note, ask.webhook],
  );
  return row?.orderId ?? null;
}
