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
    )
    INSERT INTO webhooks (body, body_sha256, content_type, authenticity, reference, outcome)
    SELECT $1, $2, $3, $4, $5, CASE WHEN EXISTS (SELECT FROM hinted) THEN 'hinted' ELSE 'ignored' END
    ON CONFLICT (body_sha256) DO UPDATE
      SET deliveries = webhooks.deliveries + 1, last_received_at = now(), outcome = EXCLUDED.outcome
    RETURNING outcome`,
};

/** Keeps a webhook. @returns whether it named a payment of ours, which is now due */
export async function storeWebhook(db: Queryable, w: ReceivedWebhook): Promise<'hinted' | 'ignored'> {
  const values = [w.body, w.bodySha256, w.contentType, w.authenticity, w.reference, w.mode];
  const [row] = await db.query<{ outcome: 'hinted' | 'ignored' }>(STORE, values);
  return row?.outcome ?? 'ignored';
}
