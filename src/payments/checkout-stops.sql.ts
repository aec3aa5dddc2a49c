import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/** As the currency of a {@link CheckoutStop}: no new checkout begins, whatever its currency. */
export const EVERY_CURRENCY = '*';

/**
 * New checkouts of a currency are stopped. Either by a payment that came in another unit (`currency_stops`),
 * with what it asked for and what came in minor units, or by hand (`checkout_stops`), with a reason in words.
 */
export type CheckoutStop = { currency: string; stoppedAt: Date } & (
  | { reference: Reference; asked: bigint; came: bigint | null; reason: null; stoppedBy: null }
  | { reference: null; asked: null; came: null; reason: string; stoppedBy: string }
);

/** The stops that have not ended, by payments and by hand: a currency may have one of each. */
export function readCheckoutStops(db: Queryable, mode: Mode): Promise<CheckoutStop[]> {
  return db.query(
    `SELECT s.currency, s.reference, s.stopped_at AS "stoppedAt", s.reason, s.stopped_by AS "stoppedBy",
       p.amount AS asked, (SELECT v.amount FROM verifications v
         WHERE v.reference = s.reference AND v.outcome = 'unit_error' ORDER BY v.id DESC LIMIT 1) AS came
     FROM stopped_currencies s LEFT JOIN payments p ON p.reference = s.reference
     WHERE s.mode = $1 ORDER BY s.stopped_at`,
    [mode],
  );
}

/**
 * SQL: how new checkouts of a row's mode and currency are stopped: by that currency, or by
 * {@link EVERY_CURRENCY}; null: they are not.
 * @param row its alias
 */
export function checkoutStopSql(row: string): string {
  return `(SELECT min(s.currency COLLATE "C") FROM stopped_currencies s
    WHERE s.mode = ${row}.mode AND s.currency IN (${row}.currency, '${EVERY_CURRENCY}'))`;
}

/** A payment that came in another unit, or that stopped its currency. */
type UnitError = { reference: Reference; orderId: OrderId; currency: string };

/**
 * Unit errors of the last week without an alert. While a currency is stopped, only the one that stopped it:
 * everybody knows of the others.
 */
export function untoldUnitErrors(db: Queryable, mode: Mode): Promise<UnitError[]> {
  return db.query(
    `SELECT DISTINCT ON (v.reference) v.reference, v.order_id AS "orderId", p.currency
     FROM verifications v JOIN payments p USING (reference)
     WHERE v.mode = $1 AND v.outcome = 'unit_error' AND v.answered_at > now() - interval '7 days'
       AND NOT EXISTS (SELECT FROM alert_states
         WHERE mode = $1 AND event = 'unit-error' AND key = v.reference)
       AND NOT EXISTS (SELECT FROM currency_stops c
         WHERE c.mode = $1 AND c.currency = p.currency AND c.reference <> v.reference
           AND v.answered_at BETWEEN c.stopped_at AND coalesce(c.released_at, 'infinity'))`,
    [mode],
  );
}

/** Stops by a payment that have no alert yet. */
export function untoldStops(db: Queryable, mode: Mode): Promise<UnitError[]> {
  return db.query(
    `SELECT c.reference, p.order_id AS "orderId", c.currency
     FROM currency_stops c JOIN payments p USING (reference)
     WHERE c.mode = $1 AND c.released_at IS NULL AND NOT EXISTS (SELECT FROM alert_states
       WHERE mode = $1 AND event = 'currency-stopped' AND key = c.currency AND ended_at IS NULL)`,
    [mode],
  );
}

/** A currency whose new checkouts are stopped or begin again, or {@link EVERY_CURRENCY}; by whom and why. */
export type StopRequest = { currency: string; by: string; note: string };

/** Ends the stop by a payment, after a person has looked. @returns false when there is none */
export async function resumeAfterUnitError(
  db: Queryable,
  mode: Mode,
  { currency, by, note }: StopRequest,
): Promise<boolean> {
  const rows = await db.query(
    `WITH released AS (
       UPDATE currency_stops SET released_at = now(), released_by = $3, note = $4
       WHERE mode = $1 AND currency = $2 AND released_at IS NULL
       RETURNING currency, reference
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT p.order_id, 'currency-released', p.reference, 'operator:' || $3,
         jsonb_build_object('currency', r.currency, 'note', $4::text)
       FROM released r JOIN payments p ON p.reference = r.reference
     )
     SELECT currency FROM released`,
    [mode, currency, by, note],
  );
  return rows.length === 1;
}

/** Stops new checkouts by hand. @returns false when they were: the first reason stays */
export async function stopCheckouts(
  tx: Queryable,
  mode: Mode,
  { currency, by, note }: StopRequest,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO checkout_stops (mode, currency, reason, stopped_by) VALUES ($1, $2, $3, $4)
     ON CONFLICT (mode, currency) WHERE resumed_at IS NULL DO NOTHING RETURNING id`,
    [mode, currency, note, by],
  );
  return rows.length === 1;
}

/** Ends a stop by hand. @returns false when there is none */
export async function resumeCheckouts(
  db: Queryable,
  mode: Mode,
  { currency, by, note }: StopRequest,
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE checkout_stops SET resumed_at = now(), resumed_by = $3, note = $4
     WHERE mode = $1 AND currency = $2 AND resumed_at IS NULL RETURNING id`,
    [mode, currency, by, note],
  );
  return rows.length === 1;
}
