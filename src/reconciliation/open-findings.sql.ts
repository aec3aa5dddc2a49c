import { SUSPENSE_CLASSES, MONEY_CLASSES } from '../cases/suspend-found-money.sql.ts';

// What a run sees is a finding unless a person has ended it: by hand, by a decision about its money, or by a
// refund that was written down. `c` is a row of `classified`.

/** The finding `f` is about the money of the row `c`. */
export const SAME_MONEY = `(f.expected, f.actual, f.currency)
  IS NOT DISTINCT FROM (c.expected, c.actual, coalesce(c.actual_currency, c.expected_currency))`;

// An operator has examined exactly this disagreement and closed it, so it is not raised again. Other
// money or another class is another disagreement, and so is one that had disappeared and came back.
const NOT_RESOLVED = `NOT EXISTS (
  SELECT FROM findings f WHERE f.mode = $1 AND f.class = c.class AND f.reference = c.reference
    AND f.closed_at IS NOT NULL AND f.closed_by <> 'reconciliation' AND f.gone_at IS NULL AND ${SAME_MONEY})`;

// What a person accepted, and refunds took back: nothing that came since is part of it.
const ALL_REFUNDED = `(SELECT accepted_now(a) FROM acceptances a
    WHERE a.mode = $1 AND a.reference = c.reference AND c.is_released
      AND accepted_now(a) <= (SELECT sum(b.amount) FROM refunds b WHERE b.order_id = a.order_id))`;
const EARNED = `coalesce(${ALL_REFUNDED}, c.confirmed, 0)`;
const CURRENCY = 'coalesce(c.actual_currency, c.expected_currency)';
const DECIDED = `decided_now($1, c.reference, ${CURRENCY}, (${EARNED})::bigint,
  c.class IN ('charged_again', 'duplicate_payment') OR NOT c.is_released,
  c.class = 'duplicate_payment' AND c.is_released, coalesce(c.actual, c.expected))`;
// Nor is money of which every part has been earned or decided about in suspense, also before a run had seen
// it.
const NOT_DECIDED = `(c.class IN (${SUSPENSE_CLASSES})
  AND c.actual > ${EARNED} AND c.actual <= ${EARNED} + ${DECIDED}) IS NOT TRUE`;

// Exactly this money was decided about, last of all, as a whole or in parts: the service goes on showing what
// was kept, and what was given back by other ways. Decided about as other money, it is raised.
const NOT_DECIDED_AS_IT_IS = `(c.class = 'paid_after_decision' AND coalesce(c.actual, c.expected) = ${DECIDED}
  AND coalesce(c.actual, c.expected) IN (
    SELECT sum(d.amount) OVER (ORDER BY d.decided_at DESC) FROM decided_money d
    WHERE d.mode = $1 AND d.reference = c.reference AND d.currency = ${CURRENCY})) IS NOT TRUE`;

// Nor a reversal that a refund explains which was written down since the sides were compared.
const NOT_EXPLAINED_SINCE = `(c.class = 'reversed' AND EXISTS (
  SELECT FROM refunds r WHERE r.order_id = c.order_id
  HAVING sum(r.amount) > (c.evidence ->> 'refunded')::bigint
    AND sum(r.amount) >= (c.evidence ->> 'refunded')::bigint + (c.evidence ->> 'unexplained')::bigint
  )) IS NOT TRUE`;

// Nor money that is not ours, once the list shows the refund that a person decided on.
const NOT_GIVEN_BACK = `(c.class = 'unknown_reference'
  AND c.evidence ->> 'history' IN ('reversed', 'paid_and_reversed') AND EXISTS (
    SELECT FROM suspense_items d WHERE d.mode = $1 AND d.reference = c.reference
    HAVING bool_and(d.decision = 'refund' AND d.currency = coalesce(c.actual_currency, d.currency))
      AND sum(d.amount) >= coalesce(c.actual, 0))) IS NOT TRUE`;

// Whatever was decided before, money that waits in suspense now keeps the finding about it open.
const IS_HELD = `c.class IN (${MONEY_CLASSES}) AND EXISTS (SELECT FROM suspense_items s
  WHERE s.mode = $1 AND s.reference = c.reference AND s.closed_at IS NULL)`;

// A person has decided about the money of the finding `f`, maybe after a run had closed it as gone.
const IS_DECIDED = `(f.closed_by <> 'reconciliation' OR EXISTS (SELECT FROM suspense_items s
    WHERE s.mode = f.mode AND s.reference = f.reference AND s.closed_at > f.closed_at))`;

/**
 * A decision is about the charges that were there. One that no finding about money of the reference has shown
 * before is other money, whatever the sums, unless a person has decided about money that verify alone has
 * shown since.
 * @param charged SQL of the charges: a list in JSON
 */
export const hasChargeNotSeen = (mode: string, reference: string, charged: string): string => `EXISTS (
  SELECT FROM findings f
  WHERE f.mode = ${mode} AND f.reference = ${reference} AND ${IS_DECIDED}
    AND f.class IN (${MONEY_CLASSES}) AND f.evidence ? 'charged'
  HAVING NOT jsonb_path_query_array(jsonb_agg(f.evidence -> 'charged'), '$[*][*]') @> (${charged})
    AND NOT EXISTS (SELECT FROM suspense_items d JOIN verifications v ON v.id = d.verification_id
      WHERE d.mode = ${mode} AND d.reference = ${reference} AND d.closed_at IS NOT NULL
        AND v.answered_at > max(f.closed_at)))`;
const HAS_CHARGE_NOT_SEEN = `c.class IN (${MONEY_CLASSES})
  AND ${hasChargeNotSeen('$1', 'c.reference', "c.evidence -> 'charged'")}`;

/** Whether a difference `c` is a finding that waits for a person, of the mode $1. */
export const IS_OPEN = `(${IS_HELD} OR ${HAS_CHARGE_NOT_SEEN}
  OR ${NOT_RESOLVED} AND ${NOT_DECIDED} AND ${NOT_DECIDED_AS_IT_IS} AND ${NOT_EXPLAINED_SINCE}
    AND ${NOT_GIVEN_BACK})`;
