import type { Statement } from '../platform/database/database.ts';
import { hintPauseSql } from './hint.sql.ts';
import { LOCK_ORDER } from './lock-order.ts';

/** Once the order is paid, no shopper waits for the check that a further hint asks for. */
const PAUSE_AFTER_RELEASE_SEC = 10;

// The map. One statement, so one round trip and one commit: evidence, payment, release, order, suspense and
// journal appear together or not at all. It writes nothing for a payment that has moved, or whose order has
// moved, since the decision. Confirmations that end at the same time share the statement (see batched).
//
// Its parts are below in the order in which RECORD_CONFIRMATION, at the end, puts them together. Each sees
// the tables as they were before the statement: EARLIER_UNIT_ERROR and CONTRADICTION do not see the row that
// EVIDENCE writes. What an earlier part wrote is known only by its name, as `seen`, `release` or `stray`.
//
// Only a paid order gets its status here. What an answer makes of an unpaid one is decided by
// `follow_payments` in prisma/schema.sql, which triggers call when a payment or its suspense has changed.

// One row per answer, as `rowOf` in confirm.sql.ts builds it: what the decision saw, what the service
// answered, and what is to become of the payment.
const ANSWERS = `json_to_recordset($1) AS g (reference text, mode text,
  status_seen text, order_status_seen text, expired_seen boolean, suspense_seen int, answer_seen timestamptz,
  outcome text, status_word text, contradiction text, answered_amount bigint, answered_currency text,
  http_status int, body bytea, body_sha256 bytea, cause text, next_status text, hints int,
  next_check_sec float8, release_id text, delivery text, releases boolean,
  suspense_class text, suspense_amount bigint, suspense_currency text, is_refunded boolean)`;

// What the last answer said already, and what moves nothing, is no further evidence: that one stands for it,
// unless it says that money is gone about which a person has decided since: decided_now tells that by time.
const LAST_THAT_SAYS_THE_SAME = `LEFT JOIN LATERAL (
    SELECT v.id, v.outcome, v.status_word, v.amount, v.currency, v.answered_at FROM verifications v
    WHERE v.reference = g.reference AND g.next_status = g.status_seen AND NOT g.releases
    ORDER BY v.id DESC LIMIT 1
  ) last ON (last.outcome, last.status_word, last.amount, last.currency)
    IS NOT DISTINCT FROM (g.outcome, g.status_word, g.answered_amount, g.answered_currency)
    AND NOT (g.outcome IN ('paid', 'failed', 'expired', 'reversed') AND EXISTS (SELECT FROM decided_money d
      WHERE d.mode = g.mode AND d.reference = g.reference AND d.decided_at > last.answered_at))`;

// A payment that showed the error before is not counted again.
const THE_SAME_UNIT_ERROR = `
  SELECT FROM verifications v WHERE v.reference = g.reference AND v.outcome = 'unit_error'`;

// The answers whose payment and order stand as the decision saw them, both locked. One that pays, or on which
// a person acts, has to be the first since its payment was loaded: another may be newer, and say that the
// money went back.
const SEEN = `
  SELECT g.*, p.order_id, p.currency AS expected_currency, last.id IS NOT NULL AS is_repeated,
    coalesce(last.id, nextval('verifications_id_seq')) AS verification,
    g.outcome = 'unit_error' AND NOT EXISTS (${THE_SAME_UNIT_ERROR}) AS is_new_unit_error
  FROM ${ANSWERS}
  JOIN payments p ON p.reference = g.reference JOIN orders o ON o.id = p.order_id
  ${LAST_THAT_SAYS_THE_SAME}
  WHERE p.status = g.status_seen AND o.status = g.order_status_seen AND p.suspense_changes = g.suspense_seen
    AND p.mode = g.mode AND (o.expired_at IS NOT NULL) = g.expired_seen AND g.mode = $2
    AND (NOT g.releases AND g.cause <> 'operator' OR p.last_answer_at IS NOT DISTINCT FROM g.answer_seen)
  ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF o, p`;

const EVIDENCE = `
  INSERT INTO verifications
    (id, reference, order_id, mode, outcome, status_word, amount, currency,
      http_status, body, body_sha256, cause)
  OVERRIDING SYSTEM VALUE
  SELECT verification, reference, order_id, mode, outcome, status_word, answered_amount, answered_currency,
    http_status, body, body_sha256, cause FROM seen WHERE NOT is_repeated
  RETURNING reference, evidence_hash(verifications) AS hash`;

// A hint that came during the check is followed by another one. At once, unless hints have taught nothing
// for a while.
const MOVED = `
  UPDATE payments p SET status = s.next_status, leased_until = NULL, silent_until = NULL,
    hints_answered = s.hints, last_answer_at = now(),
    hint_checks = CASE WHEN s.is_repeated THEN p.hint_checks ELSE 0 END,
    next_check_at = now() + make_interval(secs => CASE WHEN p.hints > s.hints
      THEN LEAST(CASE WHEN s.releases THEN ${PAUSE_AFTER_RELEASE_SEC}
        WHEN s.is_repeated THEN ${hintPauseSql('p.hint_checks')} ELSE 0 END, s.next_check_sec)
      ELSE s.next_check_sec END)
  FROM seen s WHERE p.reference = s.reference`;

const RELEASE = `
  INSERT INTO releases (id, order_id, reference, mode, amount, currency,
    verification_id, delivery, next_check_at)
  SELECT release_id, order_id, reference, mode, answered_amount, answered_currency, verification, delivery,
    CASE WHEN delivery = 'waiting' THEN now() END
  FROM seen WHERE releases
  RETURNING id, order_id, reference`;

const PAID = `
  UPDATE orders SET status = 'paid', release_id = release.id, paid_at = now(), deadline_check_at = NULL
  FROM release WHERE orders.id = release.order_id`;

const DECIDED = `decided_now(s.mode, s.reference, s.suspense_currency, s.answered_amount - s.suspense_amount,
  true, false, NULL)`;

// Money that pays nothing. An item holds only what no decision has covered.
const STRAY = `
  INSERT INTO suspense_items (mode, class, reference, order_id, verification_id, amount, currency)
  SELECT s.mode, s.suspense_class, s.reference, s.order_id, s.verification,
    s.suspense_amount - decided.amount,
    s.suspense_currency
  FROM seen s, LATERAL (SELECT ${DECIDED} AS amount OFFSET 0) decided
  WHERE s.suspense_class IS NOT NULL AND s.suspense_amount > decided.amount
  ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
    SET class = EXCLUDED.class, amount = EXCLUDED.amount, currency = EXCLUDED.currency,
      verification_id = EXCLUDED.verification_id
    WHERE (suspense_items.class, suspense_items.amount, suspense_items.currency)
      IS DISTINCT FROM (EXCLUDED.class, EXCLUDED.amount, EXCLUDED.currency)
  RETURNING reference, class, amount || ' ' || currency AS money`;

// An error of unit of another order, with no exact payment of the currency since, and none that a person
// has answered since by resuming the currency.
const EARLIER_UNIT_ERROR = `
  SELECT FROM verifications v JOIN payments p ON p.reference = v.reference
  WHERE v.mode = s.mode AND v.outcome = 'unit_error' AND p.currency = s.expected_currency
    AND v.order_id <> s.order_id
    AND NOT EXISTS (SELECT FROM verifications w
      WHERE w.reference = v.reference AND w.outcome = 'unit_error' AND w.id < v.id)
    AND NOT EXISTS (SELECT FROM releases r
      WHERE r.mode = s.mode AND r.currency = s.expected_currency AND r.released_at > v.answered_at)
    AND NOT EXISTS (SELECT FROM currency_stops c
      WHERE c.mode = s.mode AND c.currency = s.expected_currency AND c.released_at > v.answered_at)`;

// One order may be its shopper's mistake; two orders mean that the unit is wrong.
const STOPPED = `
  INSERT INTO currency_stops (mode, currency, reference, verification_id)
  SELECT s.mode, s.expected_currency, s.reference, s.verification FROM seen s
  WHERE s.is_new_unit_error
    AND (EXISTS (SELECT FROM seen t WHERE t.outcome = 'unit_error'
        AND t.expected_currency = s.expected_currency AND t.order_id <> s.order_id)
      OR EXISTS (${EARLIER_UNIT_ERROR}))
  ORDER BY s.expected_currency
  ON CONFLICT (mode, currency) WHERE released_at IS NULL DO NOTHING
  RETURNING reference, currency`;

// Once for each change of what is said: the service may say it at every look from now on.
const CONTRADICTION = `
  SELECT s.reference FROM seen s
  WHERE s.status_seen = 'paid' AND s.outcome <> 'paid' AND s.outcome IS DISTINCT FROM (
    SELECT v.outcome FROM verifications v WHERE v.reference = s.reference ORDER BY v.id DESC LIMIT 1)`;

// Also an item from before the reference was ours, which knows no order.
const EARNED = `
  UPDATE suspense_items i SET closed_at = now(), closed_by = 'confirmation', decision = 'earned',
    note = 'the service now shows exactly what was asked for, and it paid the order'
  FROM release r WHERE i.mode = $2 AND i.reference = r.reference AND i.closed_at IS NULL
  RETURNING i.id, i.reference`;

const DETAIL = `jsonb_strip_nulls(jsonb_build_object(
  'verification', s.verification, 'outcome', s.outcome, 'contradiction', s.contradiction,
  'evidence', coalesce(e.hash, (SELECT evidence_hash(v) FROM verifications v WHERE v.id = s.verification)),
  'suspense', stray.class, 'money', stray.money, 'earned', earned.id, 'stopped', stopped.currency,
  'release', CASE WHEN s.releases THEN s.release_id END,
  'delivery', CASE WHEN s.releases THEN s.delivery END))`;

// An answer that changes nothing has no entry. `reporting/contradictions.sql.ts` reads events and keys again:
// add to them and rename none. An event that begins with payment- or release- is read there as a status.
const ENTRY = `
  INSERT INTO journal (order_id, event, reference, cause, detail)
  SELECT s.order_id, CASE WHEN s.releases THEN 'order-paid'
    WHEN c.reference IS NOT NULL THEN 'verification-contradicts'
    ELSE 'payment-' || s.next_status END, s.reference, s.cause, ${DETAIL}
  FROM seen s LEFT JOIN evidence e ON e.reference = s.reference
    LEFT JOIN stray ON stray.reference = s.reference
    LEFT JOIN stopped ON stopped.reference = s.reference
    LEFT JOIN contradiction c ON c.reference = s.reference
    LEFT JOIN earned ON earned.reference = s.reference
  WHERE s.releases OR s.next_status <> s.status_seen OR stray.reference IS NOT NULL
    OR stopped.reference IS NOT NULL OR c.reference IS NOT NULL
  ORDER BY s.order_id, s.reference`;

export const RECORD_CONFIRMATION: Statement = {
  name: 'record-confirmation',
  text: `WITH seen AS MATERIALIZED (${SEEN}), evidence AS (${EVIDENCE}), moved AS (${MOVED}),
    release AS (${RELEASE}), paid AS (${PAID}), stray AS (${STRAY}), stopped AS (${STOPPED}),
    contradiction AS (${CONTRADICTION}), earned AS (${EARNED}), entry AS (${ENTRY})
    SELECT s.reference, s.is_new_unit_error AS "isNewUnitError",
      stopped.reference IS NOT NULL AS "stopsCurrency"
    FROM seen s LEFT JOIN stopped ON stopped.reference = s.reference`,
};
