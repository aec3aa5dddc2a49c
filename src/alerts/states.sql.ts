import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import type { Alert } from './alert.ts';

/** Which state of which event. `key` is empty where there is only one. */
export type StateName = { mode: Mode; event: Alert['event']; key: string };

/** An alert to send now. `changes` distinguishes it from a later alert of the same state. */
export type ToSend = StateName & { alert: Alert; since: Date; isOver: boolean; changes: number };

/**
 * Longer than the hook may take. An alert that it has not taken by then is sent again, then after twice that.
 */
const RETRY = `interval '5 minutes'`;
/**
 * An alert of a state that goes on is sent again after this long, and what the hook never takes at least as
 * often.
 */
const REMIND = `interval '24 hours'`;
/**
 * Causes may alternate, or name another order each time: an alert of another cause is sent after this long.
 */
const STEADY = `interval '1 hour'`;

const TO_SEND = `s.mode, s.event, s.key, s.alert, s.since, s.changes,
  coalesce((s.alert ->> 'over')::boolean, false) AS "isOver"`;
const IS_NEWS = `(s.ended_at IS NOT NULL OR s.cause <> excluded.cause
  AND ($7 OR s.news_at <= now() - ${STEADY}))`;
const ifNews = (column: string, value: string): string =>
  `${column} = CASE WHEN ${IS_NEWS} THEN ${value} ELSE s.${column} END`;
const SEEN_AGAIN = `
  seen_at = clock_timestamp(), ended_at = excluded.ended_at,
  since = CASE WHEN s.ended_at IS NULL THEN s.since ELSE now() END,
  ${ifNews('cause', 'excluded.cause')}, ${ifNews('alert', 'excluded.alert')},
  ${ifNews('changes', 's.changes + 1')}, ${ifNews('news_at', 'now()')},
  ${ifNews('tell_at', 'excluded.tell_at')}`;

/** What is noted; `sendNow`: by the caller, not by the next worker that looks. */
type Noted = { alert: Alert; cause: string; isState: boolean; isEachNews: boolean; sendNow: boolean };

/**
 * Notes that a state holds, or that an event happened: one statement, so of processes that see it at the
 * same moment one is to tell. Another cause is news after an hour, or at once if `isEachNews`.
 * @returns the alert to send; null when the same was sent
 */
export async function noteAlert(
  db: Queryable,
  { mode, event, key }: StateName,
  { alert, cause, isState, isEachNews, sendNow }: Noted,
): Promise<ToSend | null> {
  const [row] = await db.query<ToSend & { isNews: boolean }>(
    `INSERT INTO alert_states AS s (mode, event, key, cause, alert, ended_at, tell_at)
     VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 THEN NULL ELSE now() END,
       CASE WHEN $8 THEN now() + ${RETRY} ELSE now() END)
     ON CONFLICT (mode, event, key) DO UPDATE SET ${SEEN_AGAIN}
     RETURNING ${TO_SEND}, s.news_at = now() AS "isNews"`,
    [mode, event, key, cause, JSON.stringify(alert), isState, isEachNews, sendNow],
  );
  return row?.isNews === true ? row : null;
}

/**
 * Notes that a state is over.
 * @param quietSec seconds for which no process may have seen it
 * @param sendNow the caller tells it, not the next worker that looks
 * @returns the alert to send; null when it did not hold, or holds on
 */
export async function endAlert(
  db: Queryable,
  { mode, event, key }: StateName,
  quietSec: number,
  sendNow: boolean,
): Promise<ToSend | null> {
  const [row] = await db.query<ToSend>(
    `UPDATE alert_states s SET ended_at = now(), alert = alert || '{"over": true}', changes = changes + 1,
       news_at = now(), tell_at = CASE WHEN $5 THEN now() + ${RETRY} ELSE now() END
     WHERE mode = $1 AND event = $2 AND key = $3 AND ended_at IS NULL
       AND seen_at <= now() - make_interval(secs => $4)
     RETURNING ${TO_SEND}`,
    [mode, event, key, quietSec, sendNow],
  );
  return row ?? null;
}

/** The states of these events that hold, as far as is known. */
export function openStates(
  db: Queryable,
  mode: Mode,
  events: readonly Alert['event'][],
): Promise<StateName[]> {
  return db.query(
    'SELECT mode, event, key FROM alert_states WHERE mode = $1 AND event = ANY($2) AND ended_at IS NULL',
    [mode, events],
  );
}

const IS_TOLD = 's.told_at >= s.news_at';

/**
 * Takes the alerts to send again: what the hook has not taken, after pauses that double, and states that
 * went on for a day.
 */
export function takeDueAlerts(db: Queryable, mode: Mode, limit: number): Promise<ToSend[]> {
  return db.query(
    `UPDATE alert_states s SET changes = s.changes + 1,
       news_at = CASE WHEN ${IS_TOLD} THEN now() ELSE s.news_at END,
       tell_at = now() + CASE WHEN ${IS_TOLD} THEN ${RETRY}
         ELSE greatest(${RETRY}, least(now() - s.news_at, ${REMIND})) END
     FROM (SELECT event, key FROM alert_states WHERE mode = $1 AND tell_at <= now()
           ORDER BY tell_at LIMIT $2 FOR UPDATE SKIP LOCKED) due
     WHERE s.mode = $1 AND s.event = due.event AND s.key = due.key
     RETURNING ${TO_SEND}`,
    [mode, limit],
  );
}

/** Notes that it was sent, unless there is something newer to send. */
export async function noteSent(db: Queryable, { mode, event, key, changes }: ToSend): Promise<void> {
  await db.query(
    `UPDATE alert_states SET told_at = now(), tell_at = CASE WHEN ended_at IS NULL THEN now() + ${REMIND} END
     WHERE mode = $1 AND event = $2 AND key = $3 AND changes = $4`,
    [mode, event, key, changes],
  );
}
