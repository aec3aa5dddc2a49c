import type { InitializeResult } from '../../gateway/initialize.ts';
import type { Queryable, Statement } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';
import type { PaymentStatus } from '../../settlement/payment.ts';
import { isStoppedSql } from '../../settlement/stops/repository.ts';
import { FIRST_CHECK_AFTER_OPENING_SEC, SENDING_IS_LOST_AFTER_SEC } from '../../settlement/schedule.ts';
import type { IdempotencyKey } from '../idempotency/key.ts';
import { KEY_LOCK_SEC } from '../idempotency/repository.ts';
import { LIVE, MAX_LIVE_PAYMENTS, RESUME_WITHIN_SEC } from '../live-payments.ts';

// The order's row is locked first, as settlement does: two statements that take the same rows in different order can wait
// for each other for ever. A webhook can be faster than the answer to initialize: then the payment has moved on, and
// only the address is worth keeping. A key that has its answer keeps it: somebody else may have gone on when this
// process was held up for longer than the key was locked.
const RECORD: Statement = {
  name: 'record-initialize',
  text: `
    WITH held AS (
      SELECT o.id FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.reference = $1 FOR NO KEY UPDATE OF o
    ), recorded AS (
      UPDATE payments p SET checkout_url = $3,
        status = CASE WHEN p.status IN ('sending', 'ambiguous') THEN $2 ELSE p.status END,
        reason = CASE WHEN p.status IN ('sending', 'ambiguous') THEN $4 ELSE p.reason END,
        next_check_at = CASE WHEN p.status NOT IN ('sending', 'ambiguous') THEN p.next_check_at
          WHEN p.hints > p.hints_answered THEN now() ELSE now() + make_interval(secs => $5) END
      FROM held WHERE p.reference = $1 AND p.order_id = held.id
      RETURNING p.status = $2 AS moved
    ), answered AS (
      UPDATE idempotency_keys
      SET locked_until = NULL, reference = coalesce(reference, CASE WHEN $2 = 'open' THEN $1 END)
      WHERE mode = $6 AND key = $7
    )
    INSERT INTO journal (order_id, event, reference, cause, detail)
    SELECT held.id, 'payment-' || $2, $1, 'shopper', jsonb_strip_nulls(jsonb_build_object('reason', $4::text))
    FROM held, recorded WHERE recorded.moved`,
};

/** An order that was never sent is offered again by the next click, for this long. */
const UNSENT_LIVES_SEC = 3_600;

/** Writes down how initialize ended, whichever way, and frees or answers the idempotency key of the request. */
export async function recordInitialize(
  db: Queryable,
  reference: string,
  result: InitializeResult,
  mode: Mode,
  key: IdempotencyKey | null,
): Promise<void> {
  const [status, nextSec] = consequence(result);
  const url = result.outcome === 'opened' ? result.checkoutUrl : null;
  const reason = result.outcome === 'opened' ? null : result.reason;
  await db.query(RECORD, [reference, status, url, reason, nextSec, mode, key?.key ?? null]);
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

// One statement, so that at no moment the order is without a payment on its way: a second click waits for this one.
// It ends the first attempt as RECORD does and begins the next, or only ends the first: when a webhook was faster, when
// the order no longer waits for money, when it has as many payments as an order may have, or its currency is stopped.
const RECORD_AND_ADD: Statement = {
  name: 'record-ambiguous-and-add-payment',
  text: `
    WITH held AS (
      SELECT o.id, o.mode, o.amount, o.currency, o.status = 'pending' AS waits
      FROM orders o JOIN payments p ON p.order_id = o.id WHERE p.reference = $1 FOR NO KEY UPDATE OF o
    ), ended AS (
      UPDATE payments p SET status = 'ambiguous', reason = $2, next_check_at = now()
      FROM held WHERE p.reference = $1 AND p.status IN ('sending', 'ambiguous')
      RETURNING p.reference
    ), added AS (
      INSERT INTO payments (reference, order_id, mode, amount, currency, status, next_check_at)
      SELECT $3, id, mode, amount, currency, 'sending', now() + interval '${SENDING_IS_LOST_AFTER_SEC} s'
      FROM held WHERE held.waits AND EXISTS (SELECT FROM ended) AND NOT ${isStoppedSql('held.mode', 'held.currency')}
        AND (SELECT count(*) FROM payments p WHERE p.order_id = held.id AND p.status = ANY($6)
          AND p.created_at > now() - interval '${RESUME_WITHIN_SEC} s') < ${MAX_LIVE_PAYMENTS}
      RETURNING reference
    ), key AS (
      UPDATE idempotency_keys
      SET locked_until = CASE WHEN EXISTS (SELECT FROM added) THEN now() + interval '${KEY_LOCK_SEC} s' END
      WHERE mode = $4 AND key = $5
    ), entries AS (
      INSERT INTO journal (order_id, event, reference, cause, detail)
      SELECT held.id, e.event, e.reference, 'shopper', e.detail FROM held, (
        SELECT 1 AS position, 'payment-ambiguous' AS event, reference, jsonb_build_object('reason', $2) AS detail FROM ended
        UNION ALL SELECT 2, 'payment-added', reference, '{}' FROM added) e
      ORDER BY e.position
    )
    SELECT reference FROM added`,
};

/**
 * Writes down that initialize ended in doubt, and begins a further payment of the order, about to be sent under
 * `nextReference`. The first payment stays watched.
 * @returns false when there is to be no further one; then the key of the request is free
 */
export async function recordAmbiguousAndAdd(
  db: Queryable,
  reference: string,
  reason: string,
  nextReference: string,
  mode: Mode,
  key: IdempotencyKey | null,
): Promise<boolean> {
  const values = [reference, reason, nextReference, mode, key?.key ?? null, LIVE];
  return (await db.query(RECORD_AND_ADD, values)).length === 1;
}
