import type { Queryable, Statement } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';
import { HINT_PAUSE_SEC } from '../settlement/schedule.ts';

export type ReceivedWebhook = {
  mode: Mode;
  body: Buffer;
  bodySha256: Buffer;
  contentType: string;
  authenticity: 'signed' | 'unsigned';
  /** Fits our grammar, or null. Whether it is ours, the statement finds out. */
  reference: string | null;
};

/** A service tells of a payment a few times. Whoever tells more, unsigned, only fills the disk; the hint counts anyway. */
const MAX_UNSIGNED_OF_PAYMENT = 20;

// One statement: the webhook is kept and its payment is due, or neither. The hint counts even while a check is in flight;
// many hints for one payment move the same row and cause one check per pause.
const STORE: Statement = {
  name: 'store-webhook',
  text: `
    WITH hinted AS (
      UPDATE payments SET hints = hints + 1,
        next_check_at = LEAST(next_check_at, GREATEST(now(), last_hinted_at + interval '${HINT_PAUSE_SEC} s'))
      WHERE reference = $5 AND mode = $6
      RETURNING reference
    ), stored AS (
      INSERT INTO webhooks (body, body_sha256, content_type, authenticity, reference, outcome)
      SELECT $1, $2, $3, $4, $5, CASE WHEN EXISTS (SELECT FROM hinted) THEN 'hinted' ELSE 'ignored' END
      WHERE $4 = 'signed' OR CASE WHEN EXISTS (SELECT FROM hinted)
        THEN (SELECT count(*) FROM webhooks w WHERE w.reference = $5) < ${MAX_UNSIGNED_OF_PAYMENT}
          OR EXISTS (SELECT FROM webhooks w WHERE w.body_sha256 = $2)
        ELSE $7 END
      ON CONFLICT (body_sha256) DO UPDATE
        SET deliveries = webhooks.deliveries + 1, last_received_at = now(), outcome = EXCLUDED.outcome
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM hinted) AS "isHinted", EXISTS (SELECT FROM stored) AS "isStored"`,
};

/**
 * Keeps a webhook; an unsigned one only while there is room for it.
 * @param keepsUnknown whether an unsigned one that names no payment of ours is kept
 * @returns whether it named a payment of ours, which is now due, and whether it was kept
 */
export async function storeWebhook(
  db: Queryable,
  w: ReceivedWebhook,
  keepsUnknown: boolean,
): Promise<{ isHinted: boolean; isStored: boolean }> {
  const values = [w.body, w.bodySha256, w.contentType, w.authenticity, w.reference, w.mode, keepsUnknown];
  const [row] = await db.query<{ isHinted: boolean; isStored: boolean }>(STORE, values);
  return row ?? { isHinted: false, isStored: false };
}
