import type { InitializeResult } from '../gateway/initialize.ts';
import type { Queryable, Statement } from '../platform/database/database.ts';
import { asRows, batched } from '../platform/batcher.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { byReference } from '../payments/confirm.sql.ts';
import { checkoutStopSql } from '../payments/checkout-stops.sql.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { LOCK_ORDER } from '../payments/lock-order.ts';
import { FIRST_CHECK_AFTER_OPENING_SEC, SENDING_IS_LOST_AFTER_SEC } from '../payments/check-schedule.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import { KEY_LOCK_SEC } from './idempotency.sql.ts';
import {
  OPEN_STATUSES,
  MAX_OPEN_PAYMENTS,
  RESUME_WITHIN_SEC,
  type PayableOrder,
} from './further-payment.sql.ts';

// Locked as confirmation locks them (see LOCK_ORDER).
const LOCKED = `
  SELECT g.*, o.id, o.status AS order_status, coalesce(o.pay_by <= now(), false) AS is_past_deadline
  FROM given g JOIN payments p ON p.reference = g.reference
  JOIN orders o ON o.id = p.order_id
  ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF o, p`;

// A webhook can be faster than the answer to initialize: then the payment has moved on, and only the address
// is worth keeping.
const RECORDED = `
  UPDATE payments p SET checkout_url = l.url,
    status = CASE WHEN p.status IN ('sending', 'ambiguous') THEN l.status ELSE p.status END,
    reason = CASE WHEN p.status IN ('sending', 'ambiguous') THEN l.reason ELSE p.reason END,
    next_check_at = CASE WHEN p.status NOT IN ('sending', 'ambiguous') THEN p.next_check_at
      WHEN p.hints > p.hints_answered THEN now() ELSE now() + make_interval(secs => l.next_check_sec) END
  FROM locked l WHERE p.reference = l.reference
  RETURNING p.reference, p.status = l.status AS moved`;

// A key that has its answer keeps it: if this process was held up for longer than the key was locked,
// another request may have gone on.
const ANSWERED = `
  UPDATE idempotency_keys k
  SET locked_until = NULL,
    reference = coalesce(k.reference, CASE WHEN g.status = 'open' THEN g.reference END)
  FROM given g WHERE k.mode = g.mode AND k.key = g.key`;

const ENTRY = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT locked.id, CASE WHEN recorded.moved THEN 'payment-' || locked.status ELSE 'checkout-address' END,
    locked.reference, 'shopper',
    jsonb_strip_nulls(jsonb_build_object('reason', locked.reason, 'checkout', text_hash(locked.url)))
  FROM locked JOIN recorded ON recorded.reference = locked.reference
  WHERE recorded.moved OR locked.url IS NOT NULL
  ORDER BY locked.id, locked.reference`;

// Checkouts that open at the same time share the statement.
const RECORD_INITIALIZE: Statement = {
  name: 'record-initialize',
  text: `
    WITH given AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1) AS g (reference text, status text, url text, reason text,
        next_check_sec float8, mode text, key text)
      WHERE g.mode = $2
    ), locked AS (${LOCKED}), recorded AS (${RECORDED}), answered AS (${ANSWERED}), entry AS (${ENTRY})
    SELECT reference, order_status AS status, is_past_deadline AS "isPastDeadline" FROM locked`,
};

/** A payment that was never sent can be sent by the next click, for this long. */
const UNSENT_LIVES_SEC = 3_600;

type Ended = { reference: Reference; result: InitializeResult; mode: Mode; key: IdempotencyKey | null };

/** An order as it stands when initialize has ended: the call takes seconds, and orders move meanwhile. */
type OrderNow = Pick<PayableOrder, 'status' | 'isPastDeadline'>;

/** Records how initialize ended, whichever way, and frees or answers the idempotency key of the request. */
export const recordInitialize = batched<Ended, OrderNow | null>({
  keyOf: ({ reference, key }) => key?.key ?? reference,
  run: async (db, items) => {
    const values = [asRows(items.map(rowOf)), items[0]?.mode];
    return byReference<OrderNow & { reference: Reference }>(items)(await db.query(RECORD_INITIALIZE, values));
  },
});

function rowOf({ reference, result, mode, key }: Ended): Record<string, unknown> {
  const [status, nextCheckSec] = consequence(result);
  const url = result.outcome === 'opened' ? result.checkoutUrl : null;
  const reason = result.outcome === 'opened' ? null : result.reason;
  return { reference, status, url, reason, next_check_sec: nextCheckSec, mode, key: key?.key };
}

function consequence({ outcome }: InitializeResult): [PaymentStatus, number | null] {
  switch (outcome) {
    case 'opened':
      return ['open', FIRST_CHECK_AFTER_OPENING_SEC];
    case 'not-sent':
      return ['created', UNSENT_LIVES_SEC];
    case 'ambiguous':
      return ['ambiguous', 0];
    case 'refused':
      return ['refused', null];
  }
}

// None begins when a webhook was faster, when the order no longer waits for money or has as many payments as
// it may have, or when its currency is stopped.
const ADDED = `
  INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
  SELECT $3, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
  FROM locked WHERE locked.waits AND EXISTS (SELECT FROM ended)
    AND ${checkoutStopSql('locked')} IS NULL
    AND (SELECT count(*) FROM payments p WHERE p.order_id = locked.id AND p.status = ANY($6)
      AND p.created_at > now() - interval '${RESUME_WITHIN_SEC} s') < ${MAX_OPEN_PAYMENTS}
  RETURNING reference`;

const ENTRIES = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT locked.id, e.event, e.reference, 'shopper', e.detail FROM locked, (
    SELECT 1 AS position, 'payment-ambiguous' AS event, reference,
      jsonb_build_object('reason', $2) AS detail FROM ended
    UNION ALL SELECT 2, 'payment-added', reference, '{}' FROM added) e
  ORDER BY e.position`;

// One statement, so that the order always has a payment on its way: a second click waits for this one.
// It ends the first attempt as RECORD_INITIALIZE does and begins the next.
const RECORD_AND_ADD: Statement = {
  name: 'record-ambiguous-and-add-payment',
  text: `
    WITH locked AS (
      SELECT o.id, o.mode, o.amount, o.currency, o.status = 'pending' AND (o.pay_by > now()) IS NOT FALSE AS waits
      FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.reference = $1 FOR NO KEY UPDATE OF o
    ), ended AS (
      UPDATE payments p SET status = 'ambiguous', reason = $2, next_check_at = now()
      FROM locked WHERE p.reference = $1 AND p.status IN ('sending', 'ambiguous')
      RETURNING p.reference
    ), added AS (${ADDED}), entries AS (${ENTRIES}), key AS (
      UPDATE idempotency_keys
      SET locked_until = CASE WHEN EXISTS (SELECT FROM added) THEN now() + interval '${KEY_LOCK_SEC} s' END
      WHERE mode = $4 AND key = $5
    )
    SELECT reference FROM added`,
};

type AmbiguousEnd = Pick<Ended, 'reference' | 'mode' | 'key'> & { reason: string; next: Reference };

/**
 * Records that initialize ended in doubt, and begins a further payment of the order, about to be sent
 * under `next`. The first payment stays watched.
 * @returns false when no further payment begins; then the key of the request is free
 */
export async function recordAmbiguousAndAdd(
  db: Queryable,
  { reference, reason, next, mode, key }: AmbiguousEnd,
): Promise<boolean> {
  const values = [reference, reason, next, mode, key?.key ?? null, OPEN_STATUSES];
  return (await db.query(RECORD_AND_ADD, values)).length === 1;
}
