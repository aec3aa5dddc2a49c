import type { Queryable } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';

export type RefusalReason = 'bad-signature' | 'malformed' | 'too-many';

/** One refused webhook. */
export type RefusedSample = {
  /** ISO 8601. */
  at: string;
  /** The network of the client that sent it. */
  address: string;
  /** As its sender wrote it, if it could be one of ours. */
  reference: Reference | null;
};

/** What was refused for one reason: how often, and the newest few, newest first. */
type Refused = { reason: RefusalReason; times: number; samples: RefusedSample[] };

const SAMPLES_OF_MINUTE = 5;
const KEPT_DAYS = 7;

/** Adds to the rows of this minute: a flood of any size writes three rows a minute. */
export async function noteRefused(db: Queryable, mode: Mode, refused: readonly Refused[]): Promise<void> {
  await db.query(
    `INSERT INTO refused_webhooks AS r (minute, mode, reason, times, samples)
     SELECT date_trunc('minute', now()), $1, g.reason, g.times, g.samples
     FROM json_to_recordset($2) AS g (reason text, times int, samples jsonb) ORDER BY g.reason
     ON CONFLICT (minute, mode, reason) DO UPDATE SET times = r.times + EXCLUDED.times, last_at = now(),
       samples = jsonb_path_query_array(EXCLUDED.samples || r.samples, '$[0 to ${SAMPLES_OF_MINUTE - 1}]')`,
    [mode, JSON.stringify(refused)],
  );
}

/** Forgets the refusals of last week, with the addresses of their senders. */
export async function forgetOldRefusals(db: Queryable): Promise<void> {
  await db.query(`DELETE FROM refused_webhooks WHERE minute < now() - make_interval(days => $1)`, [
    KEPT_DAYS,
  ]);
}

/** What was refused lately for one reason, and the newest of it. */
export type RefusedLately = {
  reason: RefusalReason;
  times: number;
  lastAt: Date;
  newest: RefusedSample | null;
};

/** What was refused in the last so many seconds, to the minute, by reason. */
export function refusedLately(db: Queryable, mode: Mode, sec: number): Promise<RefusedLately[]> {
  return db.query(
    `SELECT DISTINCT ON (reason) reason, (sum(times) OVER (PARTITION BY reason))::int AS times,
       last_at AS "lastAt", samples -> 0 AS newest
     FROM refused_webhooks WHERE mode = $1 AND minute > now() - make_interval(secs => $2)
     ORDER BY reason, minute DESC`,
    [mode, sec],
  );
}

export type RefusedMinute = Refused & {
  /** Where the next page begins after it. */
  key: string;
};

export const REFUSED_ROWS = 50;

/** Refusals by minute, newest first. @param before the key of the row after which the page begins */
export function refusedByMinute(db: Queryable, mode: Mode, before: string | null): Promise<RefusedMinute[]> {
  const older =
    before === null
      ? ''
      : `AND (minute, reason) < (split_part($2, ' ', 1)::timestamptz, split_part($2, ' ', 2))`;
  return db.query(
    `SELECT to_char(minute AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') || ' ' || reason AS key,
       reason, times, samples
     FROM refused_webhooks WHERE mode = $1 ${older}
     ORDER BY minute DESC, reason DESC LIMIT ${REFUSED_ROWS + 1}`,
    before === null ? [mode] : [mode, before],
  );
}
