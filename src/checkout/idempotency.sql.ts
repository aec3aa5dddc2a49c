import type { Queryable, Statement } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { IdempotencyKey } from './idempotency-key.ts';

/** Longer than a request takes (initialize: 10 s at most). After this the next one with the key goes on. */
export const KEY_LOCK_SEC = 30;

/** What is stored of an idempotency key: its order, and the payment whose checkout was its last answer. */
type KnownKey = {
  fingerprint: Buffer;
  orderId: OrderId;
  reference: Reference | null;
  isLocked: boolean;
};

export async function findKey(db: Queryable, mode: Mode, key: string): Promise<KnownKey | null> {
  const [row] = await db.query<KnownKey>(
    {
      name: 'find-idempotency-key',
      text: `SELECT fingerprint, order_id AS "orderId", reference,
             coalesce(locked_until > now(), false) AS "isLocked"
             FROM idempotency_keys WHERE mode = $1 AND key = $2`,
    },
    [mode, key],
  );
  return row ?? null;
}

const BIND: Statement = {
  name: 'bind-idempotency-key',
  text: `
    INSERT INTO idempotency_keys AS known (mode, key, fingerprint, order_id, reference, locked_until)
    SELECT $1, $2, $3, $4, $5::text, CASE WHEN $5::text IS NULL THEN now() + interval '${KEY_LOCK_SEC} s' END
    ON CONFLICT (mode, key) DO UPDATE SET reference = EXCLUDED.reference, locked_until = EXCLUDED.locked_until
      WHERE known.fingerprint = EXCLUDED.fingerprint AND known.order_id = EXCLUDED.order_id
        AND coalesce(known.locked_until <= now(), true)
    RETURNING key`,
};

/**
 * Ties a key to an order that exists, and to its next answer when it had one before. For an order that is
 * placed with it, `CLAIMED` in checkout.sql.ts stops the second of two requests. Called with the order
 * locked. `answer`: the payment whose open checkout is the answer; null while one is opened.
 * @returns false when another request has the key
 */
export async function bindKey(
  tx: Queryable,
  mode: Mode,
  { key, fingerprint }: IdempotencyKey,
  orderId: OrderId,
  answer: string | null,
): Promise<boolean> {
  const rows = await tx.query(BIND, [mode, key, fingerprint, orderId, answer]);
  return rows.length === 1;
}

/** Forgets keys after 72 hours. @returns how many */
export async function forgetOldKeys(db: Queryable): Promise<number> {
  const rows = await db.query(
    `DELETE FROM idempotency_keys WHERE created_at < now() - interval '72 hours' RETURNING 1 AS gone`,
  );
  return rows.length;
}
