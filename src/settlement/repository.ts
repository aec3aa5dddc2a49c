import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Queryable, Statement } from '../platform/database.ts';
import { asRows, gather } from '../platform/gather.ts';
import type { Mode } from '../platform/mode.ts';
import { decidedMoneySql } from '../suspense/repository.ts';
import { hintPauseSql } from './checks/hint-sql.ts';
import type { Decision } from './decide.ts';
import type { Cause, Payment, PaymentStatus } from './payment.ts';

/** A payment `p` and its order `o` as {@link Payment}. */
export const PAYMENT_COLUMNS = `
  p.reference, p.order_id AS "orderId", p.mode, p.amount, p.currency, p.status, o.status AS "orderStatus",
  extract(epoch FROM now() - p.created_at)::float8 AS "ageSec", p.hints, p.checkout_url IS NOT NULL AS "hasCheckoutUrl",
  EXISTS (SELECT FROM suspense_items s WHERE s.mode = p.mode AND s.reference = p.reference AND s.closed_at IS NULL)
    AS "hasSuspense", p.suspense_changes AS "suspenseChanges", p.decided_at IS NOT NULL AS "isDecided"`;

/**
 * In which order statements lock orders `o` and payments `p`: `ORDER BY` this, then `FOR NO KEY UPDATE OF o, p`, with
 * the order before its payment. Whoever locks several keeps to it: two who meet at the same rows in different order wait
 * for each other until PostgreSQL ends one of them, and who only queues behind them may be the one it ends. References
 * alone are no such order: those of two payments of one order may stand on either side of another order's.
 */
export const LOCK_ORDER = 'p.order_id, p.reference';

// That all are of one mode tells the planner, too, that they are few, and are best found by index.
const LOAD: Statement = {
  name: 'load-payments',
  text: `SELECT ${PAYMENT_COLUMNS} FROM json_to_recordset($1) AS g (reference text, mode text)
    JOIN payments p ON p.reference = g.reference JOIN orders o ON o.id = p.order_id WHERE g.mode = $2 AND p.mode = g.mode`,
};

/** A payment of this mode; one of the other mode is as unknown as one that does not exist. */
export function loadPayment(db: Queryable, reference: string, mode: Mode): Promise<Payment | null> {
  return load(db, { reference, mode });
}

const load = gather<{ reference: string; mode: Mode }, Payment | null>({
  run: (db, items) => db.query<Payment>(LOAD, [asRows(items), items[0]?.mode]).then(byReference(items)),
});

/** Each item's row, where there is one. */
export function byReference<Row extends { reference: string }>(
  items: readonly { reference: string }[],
): (rows: readonly Row[]) => (Row | null)[] {
  return (rows) => {
    const found = new Map(rows.map((row) => [row.reference, row]));
    return items.map(({ reference }) => found.get(reference) ?? null);
  };
}

/** Everything one settled check writes. */
export type Settlement = {
  payment: Payment;
  decision: Decision;
  status: PaymentStatus;
  nextCheckSec: number | null;
  cause: Cause;
  statusWord: string | null;
  /** Which fields of the record contradict each other, for the journal. */
  contradiction: string | null;
  answeredAmount: bigint | null;
  answeredCurrency: string | null;
  httpStatus: number;
  body: Buffer | null;
  bodySha256: Buffer;
};

/** Nobody waits for what is said after that the order is paid. */
const PAUSE_AFTER_RELEASE_SEC = 10;

// One statement, so one round trip and one commit: evidence, payment, release, order, suspense and journal appear
// together or not at all. It writes nothing for payments that are no longer, or whose orders are no longer, where their
// decision saw them. Many settlements that end at once share the statement (see gather).
const RECORD: Statement = {
  name: 'record-settlement',
  text: `
    WITH seen AS MATERIALIZED (
      SELECT g.*, p.order_id, p.currency AS expected_currency, last.id IS NOT NULL AS is_repeated,
        coalesce(last.id, nextval('verifications_id_seq')) AS verification
      FROM json_to_recordset($1) AS g (reference text, mode text, status_seen text, order_status_seen text,
        suspense_seen int, outcome text, status_word text, contradiction text, amount bigint, currency text,
        http_status int, body bytea, body_sha256 bytea, cause text, status text, hints int, next_check_sec float8,
        release_id text, delivery text, releases boolean, stray_class text, stray_amount bigint, stray_currency text)
      JOIN payments p ON p.reference = g.reference JOIN orders o ON o.id = p.order_id
      -- What the last answer said already, and what moves nothing, is no further evidence: that one stands for it.
      LEFT JOIN LATERAL (
        SELECT v.id, v.outcome, v.status_word, v.amount, v.currency FROM verifications v
        WHERE v.reference = g.reference ORDER BY v.id DESC LIMIT 1
      ) last ON g.status = g.status_seen AND NOT g.releases AND (last.outcome, last.status_word, last.amount, last.currency)
        IS NOT DISTINCT FROM (g.outcome, g.status_word, g.amount, g.currency)
      WHERE p.status = g.status_seen AND o.status = g.order_status_seen AND p.suspense_changes = g.suspense_seen
        AND p.mode = g.mode AND g.mode = $2
      ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF o, p
    ), evidence AS (
      INSERT INTO verifications
        (id, reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256, cause)
      OVERRIDING SYSTEM VALUE
      SELECT verification, reference, order_id, mode, outcome, status_word, amount, currency, http_status, body, body_sha256,
        cause FROM seen WHERE NOT is_repeated
      RETURNING reference, evidence_hash(verifications) AS hash
    ), moved AS (
      -- A hint that came during the check is followed by another one. At once, unless hints have taught nothing for a while.
      UPDATE payments p SET status = s.status, leased_until = NULL, hints_answered = s.hints, last_answer_at = now(),
        hint_checks = CASE WHEN s.is_repeated THEN p.hint_checks ELSE 0 END,
        next_check_at = now() + make_interval(secs => CASE WHEN p.hints > s.hints
          THEN LEAST(CASE WHEN s.releases THEN ${PAUSE_AFTER_RELEASE_SEC}
            WHEN s.is_repeated THEN ${hintPauseSql('p.hint_checks')} ELSE 0 END, s.next_check_sec)
          ELSE s.next_check_sec END)
      FROM seen s WHERE p.reference = s.reference
    ), release AS (
      INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, next_check_at)
      SELECT release_id, order_id, reference, mode, amount, currency, verification, delivery,
        CASE WHEN delivery = 'waiting' THEN now() END
      FROM seen WHERE releases
      RETURNING id, order_id, reference
    ), paid AS (
      UPDATE orders SET status = 'paid', release_id = release.id, paid_at = now()
      FROM release WHERE orders.id = release.order_id
    ), stray AS (
      INSERT INTO suspense_items (mode, class, reference, order_id, verification_id, amount, currency)
      SELECT s.mode, s.stray_class, s.reference, s.order_id, s.verification, s.stray_amount - decided.amount,
        s.stray_currency
      FROM seen s, LATERAL ${decidedMoneySql('s.mode', 's.reference', 's.stray_currency')} decided
      WHERE s.stray_class IS NOT NULL AND s.stray_amount > decided.amount
      ON CONFLICT (mode, reference) WHERE closed_at IS NULL DO UPDATE
        SET class = EXCLUDED.class, amount = EXCLUDED.amount, currency = EXCLUDED.currency,
          verification_id = EXCLUDED.verification_id
        WHERE (suspense_items.class, suspense_items.amount, suspense_items.currency)
          IS DISTINCT FROM (EXCLUDED.class, EXCLUDED.amount, EXCLUDED.currency)
      RETURNING reference, class, amount || ' ' || currency AS money
    ), stopped AS (
      -- One order may be its shopper's slip. A second one with no exact payment of the currency between them is the unit.
      -- A payment that is looked at again is no news: what was known at a release must not undo it.
      INSERT INTO currency_stops (mode, currency, reference, verification_id)
      SELECT s.mode, s.expected_currency, s.reference, s.verification FROM seen s
      WHERE s.outcome = 'unit_error' AND NOT EXISTS (
        SELECT FROM verifications v WHERE v.reference = s.reference AND v.outcome = 'unit_error')
      AND (EXISTS (
        SELECT FROM seen t WHERE t.outcome = 'unit_error' AND t.expected_currency = s.expected_currency
          AND t.order_id <> s.order_id
      ) OR EXISTS (
        SELECT FROM verifications v JOIN payments p ON p.reference = v.reference
        WHERE v.mode = s.mode AND v.outcome = 'unit_error' AND p.currency = s.expected_currency AND v.order_id <> s.order_id
          AND NOT EXISTS (SELECT FROM verifications w
            WHERE w.reference = v.reference AND w.outcome = 'unit_error' AND w.id < v.id)
          AND NOT EXISTS (SELECT FROM releases r
            WHERE r.mode = s.mode AND r.currency = s.expected_currency AND r.released_at > v.answered_at)
          AND NOT EXISTS (SELECT FROM currency_stops c
            WHERE c.mode = s.mode AND c.currency = s.expected_currency AND c.released_at > v.answered_at)
      ))
      ORDER BY s.expected_currency
      ON CONFLICT (mode, currency) WHERE released_at IS NULL DO NOTHING
      RETURNING reference, currency
    ), contradiction AS (
      -- Once for each change of what is said: the service may say it at every look from now on.
      SELECT s.reference FROM seen s
      WHERE s.status_seen = 'paid' AND s.outcome <> 'paid' AND s.outcome IS DISTINCT FROM (
        SELECT v.outcome FROM verifications v WHERE v.reference = s.reference ORDER BY v.id DESC LIMIT 1)
    ), earned AS (
      UPDATE suspense_items i SET closed_at = now(), closed_by = 'settlement', decision = 'earned',
        note = 'the service now shows exactly what was asked for, and it paid the order'
      FROM release r WHERE i.reference = r.reference AND i.order_id = r.order_id AND i.closed_at IS NULL
      RETURNING i.id, i.reference
    ), entry AS (
      INSERT INTO journal (order_id, event, reference, cause, detail)
      SELECT s.order_id, CASE WHEN s.releases THEN 'order-paid' WHEN c.reference IS NOT NULL THEN 'verification-contradicts'
        ELSE 'payment-' || s.status END, s.reference, s.cause,
        jsonb_strip_nulls(jsonb_build_object('verification', s.verification, 'outcome', s.outcome, 'evidence',
            coalesce(e.hash, (SELECT evidence_hash(v) FROM verifications v WHERE v.id = s.verification)),
          'contradiction', s.contradiction,
          'suspense', stray.class, 'money', stray.money, 'earned', earned.id,
          'stopped', stopped.currency, 'release', CASE WHEN s.releases THEN s.release_id END,
          'delivery', CASE WHEN s.releases THEN s.delivery END))
      FROM seen s LEFT JOIN evidence e ON e.reference = s.reference LEFT JOIN stray ON stray.reference = s.reference
        LEFT JOIN stopped ON stopped.reference = s.reference LEFT JOIN contradiction c ON c.reference = s.reference
        LEFT JOIN earned ON earned.reference = s.reference
      WHERE s.releases OR s.status <> s.status_seen OR stray.reference IS NOT NULL OR stopped.reference IS NOT NULL
        OR c.reference IS NOT NULL
      ORDER BY s.order_id, s.reference
    )
    SELECT reference FROM seen`,
};

/** Writes a settled check. @returns false when payment or order have moved since the decision: load and decide again */
export function recordSettlement(
  database: Queryable,
  settlement: Settlement,
  plan: ReleasePlan,
): Promise<boolean> {
  return record(database, { settlement, plan });
}

type Recorded = { settlement: Settlement; plan: ReleasePlan };

const record = gather<Recorded, boolean>({
  // An order's payments one after the other: the second may find it paid.
  keyOf: ({ settlement }) => settlement.payment.orderId,
  // The heaviest statement of all: two of them only take the processor from each other, and one has larger groups.
  maxInFlight: 1,
  run: async (db, items) => {
    const mode = items[0]?.settlement.payment.mode;
    const rows = await db.query<{ reference: string }>(RECORD, [asRows(items.map(rowOf)), mode]);
    const written = new Set(rows.map(({ reference }) => reference));
    return items.map(({ settlement }) => written.has(settlement.payment.reference));
  },
});

function rowOf({ settlement: s, plan }: Recorded): Record<string, unknown> {
  const { payment, decision } = s;
  return {
    reference: payment.reference,
    mode: payment.mode,
    status_seen: payment.status,
    order_status_seen: payment.orderStatus,
    suspense_seen: payment.suspenseChanges,
    outcome: decision.outcome,
    status_word: s.statusWord,
    contradiction: s.contradiction,
    amount: s.answeredAmount,
    currency: s.answeredCurrency,
    http_status: s.httpStatus,
    body: s.body,
    body_sha256: s.bodySha256,
    cause: s.cause,
    status: s.status,
    hints: payment.hints,
    next_check_sec: s.nextCheckSec,
    release_id: plan.id,
    delivery: plan.delivery,
    releases: decision.release,
    stray_class: decision.suspense?.class,
    stray_amount: decision.suspense?.amount,
    stray_currency: decision.suspense?.currency,
  };
}
