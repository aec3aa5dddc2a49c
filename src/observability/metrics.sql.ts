import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { TRUSTED_HINT_STEP } from '../payments/check-schedule.ts';

type LastHour = { currency: string; placed: number; confirmed: number };

/** Orders placed and orders confirmed within the last hour: is money arriving? */
export function lastHour(db: Queryable, mode: Mode): Promise<LastHour[]> {
  return db.query(
    `SELECT currency, sum(placed)::int AS placed, sum(confirmed)::int AS confirmed FROM (
       SELECT currency, 1 AS placed, 0 AS confirmed
       FROM orders WHERE mode = $1 AND created_at > now() - interval '1 hour'
       UNION ALL
       SELECT currency, 0, 1 FROM releases WHERE mode = $1 AND released_at > now() - interval '1 hour'
     ) seen GROUP BY currency`,
    [mode],
  );
}

/** Seconds since an order was confirmed; null: none ever was. */
export async function sinceConfirmed(db: Queryable, mode: Mode): Promise<number | null> {
  const [row] = await db.query<{ sec: number }>(
    `SELECT extract(epoch FROM now() - released_at)::float8 AS sec FROM releases WHERE mode = $1
     ORDER BY released_at DESC LIMIT 1`,
    [mode],
  );
  return row?.sec ?? null;
}

/**
 * The oldest unanswered webhook is searched among at most this many payments; when there are more,
 * there are worse problems.
 */
const MAX_UNANSWERED = 1_000;

/**
 * Seconds since the oldest webhook came that no answer of the service has followed; 0: every one is
 * answered. Webhooks that wait because recent hints at their payment brought nothing new are left out:
 * they are no reason for an alarm.
 */
export async function oldestUnansweredHint(db: Queryable, mode: Mode): Promise<number> {
  const [row] = await db.query<{ sec: number }>(
    `SELECT coalesce(max(extract(epoch FROM now() - came)), 0)::float8 AS sec FROM (
       SELECT (SELECT min(w.received_at) FROM webhooks w
         WHERE w.reference = p.reference AND w.received_at > coalesce(p.last_answer_at, '-infinity')) AS came
       FROM payments p WHERE p.next_check_at IS NOT NULL AND p.mode = $1 AND p.hints > p.hints_answered
         AND p.hint_checks <= ${TRUSTED_HINT_STEP} LIMIT ${MAX_UNANSWERED}
     ) unanswered`,
    [mode],
  );
  return row?.sec ?? 0;
}

/** Seconds since the oldest open item of suspense was opened; 0: none is open. */
export async function oldestSuspense(db: Queryable, mode: Mode): Promise<number> {
  const [row] = await db.query<{ sec: number }>(
    `SELECT coalesce(extract(epoch FROM now() - min(opened_at)), 0)::float8 AS sec
     FROM suspense_items WHERE mode = $1 AND closed_at IS NULL`,
    [mode],
  );
  return row?.sec ?? 0;
}
