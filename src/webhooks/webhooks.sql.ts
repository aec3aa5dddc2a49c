import type { Queryable, Statement } from '../platform/database/database.ts';
import { asRows, createBatcher } from '../platform/batcher.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Reserve } from '../platform/poller.ts';
import { hintedSql, isFreeSql } from '../payments/hint.sql.ts';
import type { DuePayment } from '../payments/checks.sql.ts';
import { LOCK_ORDER } from '../payments/lock-order.ts';
import { PAYMENT_COLUMNS } from '../payments/confirm.sql.ts';

export type ReceivedWebhook = {
  mode: Mode;
  body: Buffer;
  bodySha256: Buffer;
  contentType: string;
  authenticity: 'signed' | 'unsigned';
  /** Fits our grammar, or null. Whether it is a payment of ours, the statement finds out. */
  reference: Reference | null;
};

/** A service sends a few webhooks about a payment. More unsigned ones only fill the disk; they still hint. */
const MAX_UNSIGNED_OF_PAYMENT = 20;
const MAX_UNSIGNED_BYTES_OF_PAYMENT = 64 * 1_024;

// Payments of ours, locked. Where this process has a slot free, and its sender has not had many hints
// followed at once, the payment is leased for it, as the poller would a moment later.
const KNOWN = `
  SELECT p.reference, g.authenticity = 'signed' AS is_signed,
    g.position < $3 AND g.is_urgent AND ${isFreeSql("(g.authenticity = 'signed')")} AS is_leased
  FROM given g JOIN payments p ON p.reference = g.reference
  WHERE p.mode = g.mode ORDER BY ${LOCK_ORDER} FOR NO KEY UPDATE OF p`;

// The hint counts even while a check is in flight. Many hints for one payment change the same row and cause
// a few checks, then one per pause.
const HINTED = `
  UPDATE payments p SET ${hintedSql('known.is_leased', 'known.is_signed')}
  FROM known, orders o WHERE p.reference = known.reference AND o.id = p.order_id
  RETURNING known.is_leased, p.checks, ${PAYMENT_COLUMNS}`;

const HAS_ROOM = `
  (SELECT count(*) < ${MAX_UNSIGNED_OF_PAYMENT}
    AND coalesce(sum(octet_length(w.body)), 0) < ${MAX_UNSIGNED_BYTES_OF_PAYMENT}
    FROM webhooks w WHERE w.reference = g.reference)
  OR EXISTS (SELECT FROM webhooks w WHERE w.body_sha256 = g.body_sha256)`;

// The same bytes again are the same row. An unsigned webhook is kept only while there is room.
const STORED = `
  INSERT INTO webhooks (mode, body, body_sha256, content_type, authenticity, reference, outcome)
  SELECT g.mode, g.body, g.body_sha256, g.content_type, g.authenticity, g.reference,
    CASE WHEN h.reference IS NULL THEN 'ignored' ELSE 'hinted' END
  FROM given g LEFT JOIN hinted h ON h.reference = g.reference
  WHERE g.authenticity = 'signed' OR CASE WHEN h.reference IS NULL THEN g.keeps_unknown ELSE ${HAS_ROOM} END
  ORDER BY g.body_sha256
  ON CONFLICT (body_sha256) DO UPDATE
    SET deliveries = webhooks.deliveries + 1, last_received_at = now(),
      outcome = EXCLUDED.outcome, mode = EXCLUDED.mode
  RETURNING body_sha256`;

// One statement: the webhook is kept and its payment is due, or neither. Webhooks that come at the same time
// share it (see createBatcher).
const STORE: Statement = {
  name: 'store-webhook',
  text: `
    WITH given AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1) AS g (position int, mode text, body bytea, body_sha256 bytea,
        content_type text, authenticity text, reference text, keeps_unknown boolean, is_urgent boolean)
      WHERE g.mode = $2
    ), known AS MATERIALIZED (${KNOWN}), hinted AS (${HINTED}), stored AS (${STORED})
    SELECT h.*, g.position, h.reference IS NOT NULL AS "isHinted", s.body_sha256 IS NOT NULL AS "isStored",
      coalesce(h.is_leased, false) AS "isLeased"
    FROM given g LEFT JOIN hinted h ON h.reference = g.reference
      LEFT JOIN stored s ON s.body_sha256 = g.body_sha256`,
};

/** Whether it named a payment of ours, whether that is leased here or else due, and whether it was kept. */
type StoredWebhook = { isHinted: boolean; isLeased: boolean; isStored: boolean };
/**
 * Keeps a webhook; an unsigned one only while there is room for it.
 * @param keepsUnknown whether an unsigned one that names no payment of ours is kept
 * @param isUrgent whether its payment may be leased for this process; otherwise it is due
 */
type StoreWebhook = (
  webhook: ReceivedWebhook,
  keepsUnknown: boolean,
  isUrgent?: boolean,
) => Promise<StoredWebhook>;

type ToStore = { webhook: ReceivedWebhook; keepsUnknown: boolean; isUrgent: boolean };
type Row = StoredWebhook & DuePayment & { position: number };

/** @param reserve slots for checks in this process */
export function createWebhookStore(db: Queryable, reserve: Reserve<DuePayment>): StoreWebhook {
  const store = createBatcher<ToStore, StoredWebhook>(db, {
    // Webhooks about one payment run one after the other: each is a hint. The same bytes
    // name the same payment.
    keyOf: ({ webhook }) => webhook.reference ?? webhook.bodySha256.toString('hex'),
    run: (_db, items) => storeAll(db, items, reserve),
  });
  return (webhook, keepsUnknown, isUrgent = true) => store({ webhook, keepsUnknown, isUrgent });
}

async function storeAll(
  db: Queryable,
  items: readonly ToStore[],
  reserve: Reserve<DuePayment>,
): Promise<StoredWebhook[]> {
  const { slots, take } = reserve(items.length);
  const leased: DuePayment[] = [];
  try {
    const values = [asRows(items.map(rowOf)), items[0]?.webhook.mode, slots];
    const rows = await db.query<Row>(STORE, values);
    leased.push(...rows.filter(({ isLeased }) => isLeased));
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    return items.map((_item, at) => byPosition.get(at) ?? NOT_STORED);
  } finally {
    // After the requests that brought the webhooks have their results: they are the cause of these checks.
    setImmediate(take, leased);
  }
}

const NOT_STORED: StoredWebhook = { isHinted: false, isLeased: false, isStored: false };

function rowOf({ webhook: w, keepsUnknown, isUrgent }: ToStore, position: number): Record<string, unknown> {
  return {
    position,
    mode: w.mode,
    body: w.body,
    body_sha256: w.bodySha256,
    content_type: w.contentType,
    authenticity: w.authenticity,
    reference: w.reference,
    keeps_unknown: keepsUnknown,
    is_urgent: isUrgent,
  };
}
