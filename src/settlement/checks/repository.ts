import type { Queryable, Statement } from '../../platform/database.ts';
import { asRows, gather } from '../../platform/gather.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Payment } from '../payment.ts';
import { byReference, LOCK_ORDER, PAYMENT_COLUMNS } from '../repository.ts';
import { HINT_PAUSE_SEC } from '../schedule.ts';

/** Seconds that a claimed payment belongs to its claimer. Longer than a check can take, or two would check at once. */
export const LEASE_SEC = 30;

export type DuePayment = Payment & { checks: number; isHinted: boolean };

// The claim is one statement: no transaction is open while the service is asked. SKIP LOCKED lets many workers
// claim at once without waiting for each other; the lease lets a killed worker's rows come back.
const CLAIM: Statement = {
  name: 'claim-due-payments',
  text: `
    WITH due AS MATERIALIZED (
      SELECT reference FROM payments
      WHERE next_check_at <= now() AND (leased_until IS NULL OR leased_until < now()) AND mode = $1
      ORDER BY next_check_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    UPDATE payments p
    SET leased_until = now() + interval '${LEASE_SEC} s', checks = p.checks + 1,
      last_hinted_at = CASE WHEN p.hints > p.hints_answered THEN now() ELSE p.last_hinted_at END
    FROM due, orders o
    WHERE p.reference = due.reference AND o.id = p.order_id
    RETURNING ${PAYMENT_COLUMNS}, p.checks, p.hints > p.hints_answered AS "isHinted"`,
};

/** Leases up to `limit` payments whose time has come. */
export function claimDuePayments(db: Queryable, mode: Mode, limit: number): Promise<DuePayment[]> {
  return db.query(CLAIM, [mode, limit]);
}

/** A payment `p` that a hint may have checked now: nobody holds it, and no hint has had it checked within the last seconds. */
export const IS_FREE = `coalesce(p.leased_until, '-infinity') <= now()
  AND coalesce(p.last_hinted_at, '-infinity') <= now() - interval '${HINT_PAUSE_SEC} s'`;

// Who holds a payment and is not asking was asked by the service to wait (see postponeCheck): it is not due before that.
const IS_BEING_CHECKED = 'p.leased_until > now() AND p.next_check_at < p.leased_until';

/**
 * What a hint writes into a payment `p`. It counts even when the payment is not taken for a check: then it is due as soon
 * as the pause is over, and whoever holds it has let go. Taken, it is due before the lease ends, so that the clock finds it
 * if this process dies before the check is recorded. When it is due sooner than that anyway, its place in the queue stays
 * as it is: moving it would cost an entry in every index of the table.
 * @param isTaken the column that says so
 */
export function hintedSql(isTaken: string): string {
  const lease = `now() + interval '${LEASE_SEC} s'`;
  return `hints = p.hints + 1, checks = p.checks + ${isTaken}::int,
      leased_until = CASE WHEN ${isTaken} THEN ${lease} ELSE p.leased_until END,
      last_hinted_at = CASE WHEN ${isTaken} THEN now() ELSE p.last_hinted_at END,
      next_check_at = LEAST(p.next_check_at, CASE WHEN NOT ${isTaken}
        THEN GREATEST(now(), p.last_hinted_at + interval '${HINT_PAUSE_SEC} s', p.leased_until)
        WHEN p.next_check_at < ${lease} THEN p.next_check_at ELSE now() END)`;
}

// Those who come back at once share the statement (see gather).
const HINT_AND_CLAIM: Statement = {
  name: 'hint-and-claim-payment',
  text: `
    WITH seen AS MATERIALIZED (
      SELECT p.reference, coalesce(${IS_BEING_CHECKED}, false) AS leased, ${IS_FREE} AS free
      FROM json_to_recordset($1) AS g (reference text, mode text) JOIN payments p ON p.reference = g.reference
      WHERE g.mode = $2 AND p.mode = g.mode ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF p
    )
    UPDATE payments p SET ${hintedSql('seen.free')}
    FROM seen, orders o
    WHERE p.reference = seen.reference AND o.id = p.order_id
    RETURNING ${PAYMENT_COLUMNS}, seen.free AS "isClaimed", seen.leased AS "isLeased"`,
};

export type HintedPayment = Payment & {
  /** Ours to check now. Otherwise the clock answers the hint. */
  isClaimed: boolean;
  /** Somebody was checking it when the hint came. */
  isLeased: boolean;
};

/**
 * Counts a hint, and takes the payment for a check right now unless somebody is checking it or a hint has had it
 * checked within the last seconds.
 */
export function hintAndClaim(db: Queryable, reference: string, mode: Mode): Promise<HintedPayment | null> {
  return hint(db, { reference, mode });
}

const hint = gather<{ reference: string; mode: Mode }, HintedPayment | null>({
  // Each is a hint of its own.
  keyOf: ({ reference }) => reference,
  run: (db, items) =>
    db.query<HintedPayment>(HINT_AND_CLAIM, [asRows(items), items[0]?.mode]).then(byReference(items)),
});

/** A payment that was certainly never sent, and now never will be. */
export async function expireUnsent(db: Queryable, reference: string): Promise<void> {
  await db.query(
    `WITH held AS (
       SELECT o.id FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.reference = $1 FOR NO KEY UPDATE OF o
     ), expired AS (
       UPDATE payments SET status = 'expired', next_check_at = NULL, leased_until = NULL FROM held
       WHERE reference = $1 AND order_id = held.id AND status = 'created' RETURNING order_id, reference
     )
     INSERT INTO journal (order_id, event, reference, cause) SELECT order_id, 'payment-expired', reference, 'schedule' FROM expired`,
    [reference],
  );
}

/** The process that was sending a payment has died, and the service cannot be asked: it may know the payment or not. */
export async function doubtSending(db: Queryable, reference: string): Promise<void> {
  await db.query(
    `WITH held AS (
       SELECT o.id FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.reference = $1 FOR NO KEY UPDATE OF o
     ), doubted AS (
       UPDATE payments SET status = 'ambiguous', reason = 'process-died' FROM held
       WHERE reference = $1 AND order_id = held.id AND status = 'sending' RETURNING order_id, reference
     )
     INSERT INTO journal (order_id, event, reference, cause, detail)
     SELECT order_id, 'payment-ambiguous', reference, 'schedule', '{"reason": "process-died"}' FROM doubted`,
    [reference],
  );
}

const POSTPONE: Statement = {
  name: 'postpone-check',
  text: `
    UPDATE payments SET next_check_at = now() + make_interval(secs => $2), leased_until = now() + make_interval(secs => $3)
    WHERE reference = $1`,
};

/**
 * Ends a lease after the service could not be asked; the payment comes back after the pause.
 * @param notBeforeSec what the service itself asked for (Retry-After): until then no hint has it checked either
 */
export async function postponeCheck(
  db: Queryable,
  reference: string,
  pauseSec: number,
  notBeforeSec: number | null,
): Promise<void> {
  await db.query(POSTPONE, [reference, Math.max(pauseSec, notBeforeSec ?? 0), notBeforeSec]);
}

const BEING_CHECKED: Statement = {
  name: 'is-payment-being-checked',
  text: `SELECT FROM payments p WHERE p.reference = $1 AND ${IS_BEING_CHECKED}`,
};

/** Whether somebody holds the payment for a check. */
export async function isBeingChecked(db: Queryable, reference: string): Promise<boolean> {
  return (await db.query(BEING_CHECKED, [reference])).length === 1;
}

const TAKE: Statement = {
  name: 'take-payment-for-check',
  text: `
    UPDATE payments p SET leased_until = now() + interval '${LEASE_SEC} s'
    FROM orders o
    WHERE p.reference = $1 AND p.mode = $2 AND o.id = p.order_id AND (${IS_BEING_CHECKED}) IS NOT TRUE
    RETURNING ${PAYMENT_COLUMNS}`,
};

/**
 * Leases a payment that is to be checked although it is not due: an answer that another check waits for would otherwise be
 * written after this one's. @returns null while another check holds it, or when the mode has no such payment
 */
export async function takeForCheck(db: Queryable, reference: string, mode: Mode): Promise<Payment | null> {
  return (await db.query<Payment>(TAKE, [reference, mode]))[0] ?? null;
}

const LET_GO: Statement = {
  name: 'let-payment-go',
  text: 'UPDATE payments SET leased_until = NULL WHERE reference = $1',
};

/** Ends the lease of {@link takeForCheck} where nothing was recorded. What is recorded ends it by itself. */
export async function letGo(db: Queryable, reference: string): Promise<void> {
  await db.query(LET_GO, [reference]);
}
