import type { Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

/**
 * The order with this order id or payment reference or, if there is none, this external id of the shop.
 * @param mode of the external id; null: the newest order of either mode
 */
export async function orderIdOf(
  db: Queryable,
  name: string,
  mode: Mode | null = null,
): Promise<OrderId | null> {
  const [row] = await db.query<{ id: OrderId }>(
    `SELECT id FROM (
       SELECT id, 1 AS rank, created_at FROM orders WHERE id = $1
       UNION ALL SELECT order_id, 2, created_at FROM payments WHERE reference = $1
       UNION ALL SELECT id, 3, created_at FROM orders WHERE mode = ANY($2) AND external_id = $1
     ) named ORDER BY rank, created_at DESC LIMIT 1`,
    [name, mode === null ? ['test', 'live'] : [mode]],
  );
  return row?.id ?? null;
}

/** The current state of a payment, and how often it was checked. */
export type PaymentStanding = {
  reference: Reference;
  status: string;
  reason: string | null;
  checks: number;
  hints: number;
  nextCheckAt: Date | null;
  lastAnswerAt: Date | null;
};

export function paymentsOf(db: Queryable, orderId: OrderId): Promise<PaymentStanding[]> {
  return db.query(
    `SELECT reference, status, reason, checks, hints, next_check_at AS "nextCheckAt",
       last_answer_at AS "lastAnswerAt"
     FROM payments WHERE order_id = $1 ORDER BY created_at, reference`,
    [orderId],
  );
}

/** One thing that happened to an order, from any of the tables that record it. */
export type StoryEvent = {
  at: Date;
  source:
    'journal' | 'key' | 'verification' | 'webhook' | 'suspense' | 'release' | 'refund' | 'finding' | 'event';
  what: string;
  reference: Reference | null;
  detail: string;
  /** The same in parts; amounts are texts in minor units. */
  facts: Readonly<Record<string, unknown>>;
};

// What each table that records events says of the order $1. Amounts are in minor units, as in the rows.
const facts = (fields: string): string => `jsonb_strip_nulls(jsonb_build_object(${fields}))`;
const MONEY = `'amount', amount::text, 'currency', currency`;

const JOURNAL = `
  SELECT at, 3 AS rank, seq, 'journal' AS source, event AS what, reference,
    concat_ws(' ', '#' || seq, 'by ' || cause, nullif(detail::text, '{}')) AS detail,
    detail || jsonb_build_object('cause', cause) AS facts
  FROM journal WHERE order_id = $1`;

const KEYS = `
  SELECT created_at, 1, 0, 'key',
    CASE WHEN reference IS NULL THEN 'unanswered' ELSE 'answered' END, reference,
    'Idempotency-Key sha256 ' || left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 16), '{}'
  FROM idempotency_keys WHERE order_id = $1`;

const VERIFICATIONS = `
  SELECT answered_at, 2, id::int8, 'verification', outcome, reference,
    concat_ws(' ', '#' || id, 'asked by ' || cause, 'HTTP ' || http_status, 'word ' || status_word,
      amount || coalesce(' ' || currency, ''), 'sha256 ' || left(encode(body_sha256, 'hex'), 16)),
    ${facts(`${MONEY}, 'word', status_word`)}
  FROM verifications WHERE reference IN (SELECT p.reference FROM payments p WHERE p.order_id = $1)`;

const WEBHOOKS = `
  SELECT w.received_at, 1, w.id, 'webhook', w.outcome, w.reference,
    concat_ws(' ', '#' || w.id, w.authenticity, w.deliveries || ' time(s)',
      'last ' || to_char(w.last_received_at AT TIME ZONE 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'sha256 ' || left(encode(w.body_sha256, 'hex'), 16)),
    ${facts(`'signed', w.authenticity`)}
  FROM webhooks w JOIN payments p ON p.reference = w.reference WHERE p.order_id = $1`;

const SUSPENSE = `
  SELECT opened_at, 4, id, 'suspense', 'opened', reference,
    concat_ws(' ', '#' || id, class, held.amount || ' ' || currency, 'verification #' || verification_id),
    ${facts(`'class', class, 'amount', held.amount::text, 'currency', currency`)}
  FROM suspense_items JOIN (SELECT id, amount FROM held_money) held USING (id) WHERE order_id = $1
  UNION ALL
  SELECT assigned_at, 4, id, 'suspense', 'assigned', reference,
    concat_ws(' ', '#' || id, 'to ' || owner, 'by ' || assigned_by),
    '{}'
  FROM suspense_items WHERE order_id = $1 AND assigned_at IS NOT NULL
  UNION ALL
  SELECT closed_at, 4, id, 'suspense', decision, reference,
    concat_ws(' ', '#' || id, 'by ' || closed_by, note, 'refund ' || refund_note),
    ${facts(`${MONEY}, 'by', closed_by, 'note', note, 'number', refund_note`)}
  FROM suspense_items WHERE order_id = $1 AND closed_at IS NOT NULL`;

const FINDINGS = `
  SELECT first_seen_at, 4, id, 'finding', class, reference,
    concat_ws(' ', '#' || id, 'expected ' || expected, 'actual ' || actual, currency),
    ${facts(`'class', class, 'amount', actual::text, 'currency', currency, 'raised', raised_at`)}
  FROM findings WHERE order_id = $1
  UNION ALL
  SELECT closed_at, 4, id, 'finding', 'closed', reference,
    concat_ws(' ', '#' || id, class, 'by ' || closed_by, note),
    ${facts(`'class', class, 'by', closed_by, 'note', note, 'raised', raised_at`)}
  FROM findings WHERE order_id = $1 AND closed_at IS NOT NULL`;

const NOTES = `
  SELECT n.written_at, 4, n.id, 'suspense', 'note', s.reference,
    concat_ws(' ', '#' || s.id, 'by ' || n.written_by, n.note), ${facts(`'by', n.written_by, 'note', n.note`)}
  FROM suspense_items s JOIN suspense_notes n ON n.item_id = s.id WHERE s.order_id = $1
  UNION ALL
  SELECT n.written_at, 4, n.id, 'finding', 'note', f.reference,
    concat_ws(' ', '#' || f.id, 'by ' || n.written_by, n.note), ${facts(`'by', n.written_by, 'note', n.note`)}
  FROM findings f JOIN finding_notes n ON n.finding_id = f.id WHERE f.order_id = $1`;

const RELEASE = `
  SELECT released_at, 4, 0, 'release', delivery, reference,
    concat_ws(' ', id, 'on verification #' || verification_id, 'accepted #' || acceptance_id,
      attempts || ' deliveries', 'last error: ' || last_error), '{}'
  FROM releases WHERE order_id = $1`;

const REFUNDS = `
  SELECT refunded_at, 4, 0, 'refund', 'recorded', NULL,
    concat_ws(' ', id, amount || ' ' || currency, 'by ' || refunded_by, 'number ' || external_id, reason),
    ${facts(`${MONEY}, 'by', refunded_by, 'number', external_id, 'note', reason`)}
  FROM refunds WHERE order_id = $1`;

const EVENTS = `
  SELECT happened_at, 4, seq, 'event', type, reference,
    concat_ws(' ', id, delivery, attempts || ' deliveries', 'last error: ' || last_error), '{}'
  FROM events WHERE order_id = $1`;

const STORY = [
  JOURNAL,
  KEYS,
  VERIFICATIONS,
  WEBHOOKS,
  SUSPENSE,
  FINDINGS,
  NOTES,
  RELEASE,
  REFUNDS,
  EVENTS,
].join(' UNION ALL ');

/** Everything that happened, oldest first. */
export function storyOf(db: Queryable, orderId: OrderId): Promise<StoryEvent[]> {
  return db.query(
    `SELECT at, source, what, reference, detail, facts FROM (${STORY}) story ORDER BY at, rank, seq, detail`,
    [orderId],
  );
}
