import { HORIZON_SEC } from '../../payments/check-schedule.ts';
import { PROBE_PATTERN } from '../../platform/ids.ts';
import { hasChargeNotSeen } from '../open-findings.sql.ts';

/**
 * The facts that the rules use: `COMPARED`, at the end, gives one row for each row of `differing` (`m`), and
 * the parts before it compute its columns. Nothing is decided here, and nothing is written. What each fact
 * means is said in `rules.ts`.
 *
 * | parameter | meaning                                        |
 * | --------- | ---------------------------------------------- |
 * | $1        | start of the run, by the database's clock      |
 * | $2        | whether the list is cut                        |
 * | $3        | classes of findings, used by `classify.sql.ts` |
 * | $4        | mode                                           |
 * | $5, $6    | `lagFrom` and `reachesTo` of the coverage      |
 * | $7        | whether the run asks verify                    |
 * | $8        | since when, of a run over a window             |
 */

// The answer to this run's own question. It has no row of its own when it equals the answer before it.
const LAST_ANSWER = 'CASE WHEN asked.has_released THEN v.outcome ELSE coalesce(asked.outcome, v.outcome) END';

// Of money that a person accepted, an answer that shows as much of it as has come says what "paid" says of
// the exact money.
const ANSWERED = `CASE WHEN m.accepted_outcome = ${LAST_ANSWER}
  AND coalesce(v.amount, accepted.amount) = accepted.amount THEN 'paid' ELSE ${LAST_ANSWER} END`;

/**
 * Another amount of the same currency, whose digits are the same but for zeros at the end: for the rows `m`
 * what `isPowerOfTenApart` (money.ts) is for one answer. A test holds the two equal.
 */
export const IS_IN_ANOTHER_UNIT = `
  m.paid_currency = m.currency AND m.paid_amount <> m.amount AND m.paid_amount > 0 AND EXISTS (
    SELECT FROM generate_series(1, 18) power
    WHERE greatest(m.paid_amount, m.amount) = least(m.paid_amount, m.amount) * 10::numeric ^ power)`;

// Less than was released came where a person accepted it, unless the rest has come since.
const CAME = `CASE WHEN m.accepted_amount < m.released_amount THEN (
    SELECT sum(c.amount)::bigint FROM confirmed_money c WHERE c.order_id = m.order_id)
  ELSE m.released_amount END`;

// OFFSET 0, here and in COMPARED, keeps the planner from copying an expression into each that uses it:
// planning those copies took longer than all else of a run over few payments.
const SAID = `SELECT ${ANSWERED} AS answered, ${CAME} AS came OFFSET 0`;

// What the money says beside ours.
const FACTS_OF_MONEY = `
  NOT m.is_ours AND o.reference IS NOT NULL AS is_of_other_mode,
  $4::text = 'test' AS is_test, $7::boolean AS is_asking,
  m.reference ~ '${PROBE_PATTERN.source}' AS is_of_probe,
  m.paid_amount IN (m.amount, coalesce(accepted.amount, m.amount))
    AND m.paid_currency = m.currency AS is_exact,
  m.paid_amount = accepted.amount AND accepted.amount <> m.amount
    AND m.paid_currency = m.currency AS is_accepted,
  ${IS_IN_ANOTHER_UNIT} AS is_power_of_ten_apart,
  said.answered,
  said.answered <> 'paid' AND said.came > coalesce(CASE
    WHEN said.answered IN ('underpaid', 'overpaid', 'unit_error') THEN v.amount END, 0) AS is_less_answered,
  coalesce(said.answered IN
    ('paid', 'underpaid', 'overpaid', 'unit_error', 'currency_mismatch', 'mode_mismatch'), false)
    OR m.here = 'held' AND EXISTS (
      SELECT FROM suspense_items s WHERE s.mode = $4 AND s.reference = m.reference AND s.closed_at IS NULL)
    AS is_money_answered`;

// Verify and a row that stands alone without an amount mean all of it, and the list may show more than all.
// Null where the list holds more than was released: what went back is unknown.
const GONE_OF_LIST = `CASE WHEN m.there = 'paid_and_reversed' AND m.paid_currency = m.currency
  THEN nullif(least(greatest(said.came::numeric - m.paid_amount, 0), 9223372036854775807)::bigint, 0) END`;
const GONE = `CASE WHEN NOT m.is_released THEN NULL
    WHEN said.answered = 'reversed' THEN greatest(said.came, ${GONE_OF_LIST})
    WHEN m.there = 'paid_and_reversed' AND m.paid_currency = m.currency THEN ${GONE_OF_LIST}
    WHEN m.there = 'reversed' THEN least(said.came,
      CASE WHEN m.paid_currency = m.currency AND m.paid_amount > 0 THEN m.paid_amount END) END`;

// Nothing of what else came was kept, or waits for a decision.
const IS_SECOND_REFUNDED = `m.is_released AND m.there = 'paid_and_reversed'
  AND m.paid_amount = said.came AND m.paid_currency = m.currency AND EXISTS (
    SELECT FROM suspense_items s
    WHERE s.mode = $4 AND s.reference = m.reference
      AND (coalesce(s.decision, '') NOT IN ('accept', 'earned') OR s.surplus_refund IS NOT NULL)
    HAVING bool_and(s.decision IS NOT DISTINCT FROM 'refund' OR s.surplus_refund IS NOT NULL))`;

const IS_REST_DECIDED = `m.is_released AND m.there = 'paid' AND m.paid_amount > said.came
  AND m.paid_amount <= said.came + decided_now($4, m.reference, m.paid_currency, said.came, false, true,
    m.paid_amount) AND NOT ${hasChargeNotSeen('$4', 'm.reference', 'to_jsonb(m.charge_ids)')}`;

// Where our payment and its order stand.
const FACTS_OF_PAYMENT = `
  m.is_ours AND NOT m.is_released AND m.there = 'paid' AND EXISTS (
    SELECT FROM releases paid WHERE paid.order_id = m.order_id LIMIT 1) AS is_order_paid,
  m.here = 'held' AND EXISTS (
    SELECT FROM payments decided
    WHERE decided.reference = m.reference AND decided.decided_at IS NOT NULL) AS is_decided,
  m.here = 'held' AND EXISTS (
    SELECT FROM orders ended WHERE ended.id = m.order_id AND ended.status = 'cancelled') AS is_cancelled,
  said.came, ${GONE} AS gone, back.amount AS refunded, ${IS_SECOND_REFUNDED} AS is_second_refunded,
  ${IS_REST_DECIDED} AS is_rest_decided,
  m.here = 'held' AND EXISTS (
    SELECT FROM orders ended WHERE ended.id = m.order_id
      AND ended.expired_at IS NOT NULL) AS is_past_deadline,
  m.here IN ('sending', 'open', 'ambiguous', 'held') AS is_watched`;

// When it was written and paid, beside what the list can hold.
const FACTS_OF_TIME = `
  m.created_at < $1::timestamptz - interval '${HORIZON_SEC} s' AS is_beyond_horizon,
  coalesce(m.released_at BETWEEN $1 AND now(), false) AS is_released_since_start,
  coalesce(m.released_at >= $5, false) AS is_within_lag,
  coalesce(m.created_at < $6, false) AS is_older_than_list,
  coalesce(m.created_at < $8::timestamptz, false) AS is_before_window`;

// What other sources said, and when. What verify confirmed to a run within a day is not asked about again
// because the list lacks it.
const FACTS_OF_SOURCES = `
  asked.reference IS NOT NULL AS was_verified_now, coalesce(asked.has_released, false) AS was_released_now,
  lately.reference IS NOT NULL AS is_confirmed_by_a_run_lately,
  told.word AS told, $2::boolean AS is_cut, finding.class AS open_finding,
  coalesce(asked.has_released OR asked.reference IS NOT NULL AND said.answered = 'paid', false)
    OR coalesce(m.released_at > finding.last_seen_at
      AND coalesce(said.answered, 'paid') = 'paid', false) AS is_confirmed`;

const PAYMENT_OF_OTHER_MODE = `
  SELECT p.reference, p.order_id, p.amount, p.currency FROM payments p
  WHERE NOT m.is_ours AND p.reference = m.reference LIMIT 1`;

const LATEST_ANSWER = `
  SELECT outcome, amount FROM verifications
  WHERE (m.is_released OR m.here = 'held' OR m.there = 'paid')
    AND reference = m.reference AND id > coalesce(m.verification_id, 0)
  ORDER BY id DESC LIMIT 1`;

// Of any class, a new one too. That the list lacks it ends when the list shows it.
const OPEN_FINDING = `
  SELECT f.class, f.last_seen_at FROM findings f
  WHERE m.is_released AND f.mode = $4 AND f.reference = m.reference AND f.closed_at IS NULL
    AND f.class <> 'absent_from_history'
  ORDER BY f.class = 'reversed' DESC, f.id DESC LIMIT 1`;

const ACCEPTED = `
  SELECT accepted_now(a) AS amount FROM acceptances a
  WHERE m.accepted_amount IS NOT NULL AND a.mode = $4 AND a.reference = m.reference`;

const REFUNDED = `
  SELECT coalesce(sum(r.amount), 0)::bigint AS amount FROM refunds r
  WHERE m.is_released AND r.order_id = m.order_id`;

/** Other tables are looked up only where a rule may need them. */
export const COMPARED = `
  SELECT m.*, o.order_id AS other_mode_order, o.amount AS other_mode_amount,
    o.currency AS other_mode_currency,
    ${FACTS_OF_MONEY}, ${FACTS_OF_PAYMENT}, ${FACTS_OF_TIME}, ${FACTS_OF_SOURCES}
  FROM differing m
  LEFT JOIN LATERAL (${PAYMENT_OF_OTHER_MODE}) o ON true
  LEFT JOIN webhook_words told ON m.is_ours AND told.reference = m.reference
  LEFT JOIN verified_payments asked ON asked.reference = m.reference
  LEFT JOIN confirmed_payments lately ON lately.mode = $4 AND lately.reference = m.reference
    AND lately.confirmed_at > $1::timestamptz - interval '1 day'
  LEFT JOIN LATERAL (${LATEST_ANSWER}) v ON true
  LEFT JOIN LATERAL (${OPEN_FINDING}) finding ON true
  LEFT JOIN LATERAL (${ACCEPTED}) accepted ON true
  CROSS JOIN LATERAL (${SAID}) said
  CROSS JOIN LATERAL (${REFUNDED}) back OFFSET 0`;
