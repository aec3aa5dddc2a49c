import type { Queryable, Statement } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Payment } from '../payment.ts';
import { PAYMENT_COLUMNS } from '../repository.ts';
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

// The hint counts even when the payment is not free: then it is due as soon as the pause is over. Due also when it is
// taken, so that the clock finds it if this process dies before the check is recorded.
const HINT_AND_CLAIM: Statement = {
  name: 'hint-and-claim-payment',
  text: `
    WITH seen AS (
      SELECT reference, coalesce(leased_until > now() AND next_check_at <= now(), false) AS leased,
        coalesce(leased_until, '-infinity') <= now() AND
        coalesce(last_hinted_at, '-infinity') <= now() - interval '${HINT_PAUSE_SEC} s' AS free
      FROM payments WHERE reference = $1 AND mode = $2 FOR UPDATE
    )
    UPDATE payments p
    SET hints = p.hints + 1, checks = p.checks + seen.free::int,
      leased_until = CASE WHEN seen.free THEN now() + interval '${LEASE_SEC} s' ELSE p.leased_until END,
      last_hinted_at = CASE WHEN seen.free THEN now() ELSE p.last_hinted_at END,
      next_check_at = LEAST(p.next_check_at, CASE WHEN seen.free THEN now()
        ELSE GREATEST(now(), p.last_hinted_at + interval '${HINT_PAUSE_SEC} s') END)
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
export async function hintAndClaim(
  db: Queryable,
  reference: string,
  mode: Mode,
): Promise<HintedPayment | null> {
  const [row] = await db.query<HintedPayment>(HINT_AND_CLAIM, [reference, mode]);
  return row ?? null;
}

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

const IS_BEING_CHECKED: Statement = {
  name: 'is-payment-being-checked',
  // A row that is held and not due was postponed: the service has asked not to be asked, and nobody is asking.
  text: 'SELECT FROM payments WHERE reference = $1 AND leased_until > now() AND next_check_at <= now()',
};

/** Whether somebody holds the payment for a check. */
export async function isBeingChecked(db: Queryable, reference: string): Promise<boolean> {
  return (await db.query(IS_BEING_CHECKED, [reference])).length === 1;
}
