import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Queryable, Statement } from '../platform/database/database.ts';
import { asRows, batched } from '../platform/batcher.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Decision } from './decide.ts';
import type { Cause, Payment, PaymentStatus } from './payment.ts';
import { RECORD_CONFIRMATION } from './record.sql.ts';

// What confirming reads before it asks, and how its decisions reach the statement of record.sql.ts.

/** A payment `p` and its order `o` as {@link Payment}. */
export const PAYMENT_COLUMNS = `
  p.reference, p.order_id AS "orderId", p.mode, p.amount, p.currency, p.status, o.status AS "orderStatus",
  o.expired_at IS NOT NULL AS "isEndedByDeadline",
  coalesce(o.planned_release_id, 'rel_' || o.id) AS "releaseId",
  extract(epoch FROM now() - p.created_at)::float8 AS "ageSec", p.hints,
  p.last_answer_at::text AS "lastAnswerAt", p.checkout_url IS NOT NULL AS "hasCheckoutUrl",
  EXISTS (SELECT FROM suspense_items s
    WHERE s.mode = p.mode AND s.reference = p.reference AND s.closed_at IS NULL) AS "hasSuspense",
  p.suspense_changes AS "suspenseChanges", p.decided_at IS NOT NULL AS "isDecided",
  CASE WHEN p.status = 'paid' THEN (SELECT accepted_now(a) FROM acceptances a
    WHERE a.mode = p.mode AND a.reference = p.reference) END AS accepted,
  p.status = 'paid' AND EXISTS (SELECT FROM acceptances a
    WHERE a.mode = p.mode AND a.reference = p.reference AND accepted_now(a) <=
      (SELECT sum(b.amount) FROM refunds b WHERE b.order_id = p.order_id)) AS "isRefunded",
  p.reason IS NOT DISTINCT FROM 'adopted' AS "isAdopted"`;

// The comparison with one mode ($2) also makes the planner expect few rows, which are best found by index.
const LOAD: Statement = {
  name: 'load-payments',
  text: `SELECT ${PAYMENT_COLUMNS} FROM json_to_recordset($1) AS g (reference text, mode text)
    JOIN payments p ON p.reference = g.reference JOIN orders o ON o.id = p.order_id
    WHERE g.mode = $2 AND p.mode = g.mode`,
};

/** A payment of this mode; one of the other mode is as unknown as one that does not exist. */
export function loadPayment(db: Queryable, reference: Reference, mode: Mode): Promise<Payment | null> {
  return load(db, { reference, mode });
}

const load = batched<{ reference: Reference; mode: Mode }, Payment | null>({
  run: (db, items) => db.query<Payment>(LOAD, [asRows(items), items[0]?.mode]).then(byReference(items)),
});

/** Each item's row, where there is one. */
export function byReference<Row extends { reference: Reference }>(
  items: readonly { reference: Reference }[],
): (rows: readonly Row[]) => (Row | null)[] {
  return (rows) => {
    const found = new Map(rows.map((row) => [row.reference, row]));
    return items.map(({ reference }) => found.get(reference) ?? null);
  };
}

/** Everything that one answered check writes. */
export type CheckToWrite = {
  payment: Payment;
  decision: Decision;
  /** The decision's, unless the last check has passed. */
  nextStatus: PaymentStatus;
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

/** What an operator is alerted to. */
type Written = {
  reference: Reference;
  /** The payment shows money in another unit, for the first time. */
  isNewUnitError: boolean;
  /** New checkouts of its currency are stopped from now on. */
  stopsCurrency: boolean;
};

/**
 * Writes an answered check.
 * @returns null when payment or order have moved since the decision: load and decide again
 */
export function recordConfirmation(
  database: Queryable,
  check: CheckToWrite,
  plan: ReleasePlan,
): Promise<Written | null> {
  return record(database, { check, plan });
}

type Recorded = { check: CheckToWrite; plan: ReleasePlan };

const record = batched<Recorded, Written | null>({
  // Confirmations of one order run one after the other: the second may find the order paid.
  keyOf: ({ check }) => check.payment.orderId,
  // The heaviest statement: two at once would only compete for the processor, and one has larger groups.
  maxInFlight: 1,
  run: async (db, items) => {
    const mode = items[0]?.check.payment.mode;
    const rows = await db.query<Written>(RECORD_CONFIRMATION, [asRows(items.map(rowOf)), mode]);
    return byReference<Written>(items.map(({ check }) => check.payment))(rows);
  },
});

function rowOf({ check, plan }: Recorded): Record<string, unknown> {
  const { payment, decision } = check;
  return {
    reference: payment.reference,
    mode: payment.mode,
    status_seen: payment.status,
    order_status_seen: payment.orderStatus,
    expired_seen: payment.isEndedByDeadline,
    suspense_seen: payment.suspenseChanges,
    answer_seen: payment.lastAnswerAt,
    outcome: decision.outcome,
    status_word: check.statusWord,
    contradiction: check.contradiction,
    answered_amount: check.answeredAmount,
    answered_currency: check.answeredCurrency,
    http_status: check.httpStatus,
    body: check.body,
    body_sha256: check.bodySha256,
    cause: check.cause,
    next_status: check.nextStatus,
    hints: payment.hints,
    next_check_sec: check.nextCheckSec,
    release_id: plan.id,
    delivery: plan.delivery,
    releases: decision.release,
    suspense_class: decision.suspense?.class,
    suspense_amount: decision.suspense?.amount,
    suspense_currency: decision.suspense?.currency,
    is_refunded: payment.isRefunded,
  };
}
