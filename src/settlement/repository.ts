import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Queryable, Statement } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Decision } from './decide.ts';
import type { Cause, Payment, PaymentStatus } from './payment.ts';
import { HINT_PAUSE_SEC } from './schedule.ts';

/** A payment `p` and its order `o` as {@link Payment}. */
export const PAYMENT_COLUMNS = `
  p.reference, p.order_id AS "orderId", p.mode, p.amount, p.currency, p.status, o.status AS "orderStatus",
  extract(epoch FROM now() - p.created_at)::float8 AS "ageSec", p.hints, p.checkout_url IS NOT NULL AS "hasCheckoutUrl",
  EXISTS (SELECT FROM suspense_items s WHERE s.mode = p.mode AND s.reference = p.reference AND s.closed_at IS NULL)
    AS "hasSuspense"`;

const LOAD: Statement = {
  name: 'load-payment',
  text: `SELECT ${PAYMENT_COLUMNS} FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE p.reference = $1 AND p.mode = $2`,
};

/** A payment of this mode; one of the other mode is as unknown as one that does not exist. */
export async function loadPayment(db: Queryable, reference: string, mode: Mode): Promise<Payment | null> {
  const [row] = await db.query<Payment>(LOAD, [reference, mode]);
  return row ?? null;
}

/** Everything one settled check writes. */
export type Settlement = {
  payment: Payment;
  decision: Decision;
  status: PaymentStatus;
  nextCheckSec: number | null;
  cause: Cause;
  statusWord: string | null;
  answeredAmount: bigint | null;
  answeredCurrency: string | null;
  httpStatus: number;
  body: Buffer | null;
  bodySha256: Buffer;
};

// One statement, so one round trip and one commit: evidence, payment, release, order, suspense and journal appear
// together or not at all. It writes nothing when payment or order are no longer where the decision saw them.
const RECORD: Statement = {
  name: 'record-settlement',
  text: `
    WITH seen AS (
      SELECT p.reference, p.order_id, p.mode, p.currency FROM payments p JOIN orders o ON o.id = p.order_id
      WHERE p.reference = $1 AND p.status = $2 AND o.status = $3 AND p.mode = $21
      FOR NO KEY UPDATE OF o, p
    ), evidence AS (
      INSERT INTO verifications
        (reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256, cause)
      SELECT reference, order_id, mode, $4, $5, $6::bigint, $7, $8, $9, $10, $11 FROM seen
      RETURNING id, reference, order_id, mode, outcome, amount, currency, evidence_hash(verifications) AS hash
    ), moved AS (
      UPDATE payments SET status = $12, leased_until = NULL, hints_answered = $13,
        next_check_at = CASE WHEN hints > $13 THEN now() + interval '${HINT_PAUSE_SEC} s'
                             ELSE now() + make_interval(secs => $14) END
      WHERE reference = (SELECT reference FROM seen)
    ), release AS (
      INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, next_check_at)
      SELECT $15, order_id, reference, mode, amount, currency, id, $16, CASE WHEN $16 = 'waiting' THEN now() END
      FROM evidence WHERE $17
      RETURNING id, order_id
    ), paid AS (
      UPDATE orders SET status = 'paid', release_id = release.id, paid_at = now()
      FROM release WHERE orders.id = release.order_id
    ), stray AS (
      INSERT INTO suspense_items (mode, class, reference, order_id, verification_id, amount, currency)
      SELECT e.mode, $18, e.reference, e.order_id, e.id, $19::bigint, $20 FROM evidence e
      WHERE $18::text IS NOT NULL AND NOT EXISTS (
        -- Somebody has dealt with this very money.
        SELECT FROM suspense_items s WHERE s.mode = e.mode AND s.reference = e.reference AND s.closed_at IS NOT NULL
          AND (s.class, s.amount, s.currency) = ($18, $19::bigint, $20))
      ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
        SET class = EXCLUDED.class, amount = EXCLUDED.amount, currency = EXCLUDED.currency,
          verification_id = EXCLUDED.verification_id
        WHERE (suspense_items.class, suspense_items.amount, suspense_items.currency)
          IS DISTINCT FROM (EXCLUDED.class, EXCLUDED.amount, EXCLUDED.currency)
      RETURNING class, amount || ' ' || currency AS money
    ), stopped AS (
      -- A payment that is looked at again is no news: what was known at a release must not undo it.
      INSERT INTO currency_stops (mode, currency, reference, verification_id)
      SELECT e.mode, seen.currency, e.reference, e.id FROM evidence e, seen
      WHERE e.outcome = 'unit_error' AND NOT EXISTS (
        SELECT FROM verifications v WHERE v.reference = e.reference AND v.outcome = 'unit_error')
      ON CONFLICT (mode, currency) WHERE released_at IS NULL DO NOTHING
      RETURNING currency
    ), contradiction AS (
      -- Once for each thing said: the service may say it at every look from now on. What cannot be read, or is about
      -- another payment, says nothing.
      SELECT e.id FROM evidence e
      WHERE $2 = 'paid' AND e.outcome NOT IN ('paid', 'unreadable', 'reference_mismatch') AND NOT EXISTS (
        SELECT FROM journal j WHERE j.order_id = e.order_id AND j.reference = e.reference
          AND j.event = 'verification-contradicts' AND j.detail ->> 'outcome' = e.outcome)
    ), earned AS (
      UPDATE suspense_items s SET closed_at = now(), closed_by = 'settlement', decision = 'earned',
        note = 'the service now shows exactly what was asked for, and it paid the order'
      FROM release WHERE s.reference = $1 AND s.order_id = release.order_id AND s.closed_at IS NULL
      RETURNING s.id
    ), entry AS (
      INSERT INTO journal (order_id, event, reference, cause, detail)
      SELECT order_id, CASE WHEN $17 THEN 'order-paid' WHEN EXISTS (SELECT FROM contradiction) THEN 'verification-contradicts'
        ELSE 'payment-' || $12 END, reference, $11,
        jsonb_strip_nulls(jsonb_build_object('verification', id, 'evidence', hash, 'outcome', outcome,
          'suspense', (SELECT class FROM stray), 'money', (SELECT money FROM stray), 'earned', (SELECT id FROM earned),
          'stopped', (SELECT currency FROM stopped), 'release', CASE WHEN $17 THEN $15 END))
      FROM evidence WHERE $17 OR $12 <> $2 OR EXISTS (SELECT FROM stray) OR EXISTS (SELECT FROM stopped)
        OR EXISTS (SELECT FROM contradiction)
    )
    SELECT id FROM evidence`,
};

/** Writes a settled check. @returns false when payment or order have moved since the decision: load and decide again */
export async function recordSettlement(
  database: Queryable,
  s: Settlement,
  plan: ReleasePlan,
): Promise<boolean> {
  const { payment, decision } = s;
  const rows = await database.query(RECORD, [
    payment.reference,
    payment.status,
    payment.orderStatus,
    decision.outcome,
    s.statusWord,
    s.answeredAmount,
    s.answeredCurrency,
    s.httpStatus,
    s.body,
    s.bodySha256,
    s.cause,
    s.status,
    payment.hints,
    s.nextCheckSec,
    plan.id,
    plan.delivery,
    decision.release,
    decision.suspense?.class ?? null,
    decision.suspense?.amount ?? null,
    decision.suspense?.currency ?? null,
    payment.mode,
  ]);
  return rows.length === 1;
}
