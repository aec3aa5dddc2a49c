import { HINT_PAUSES_SEC, TRUSTED_HINT_STEP } from './check-schedule.ts';

/** Seconds that a lease gives a payment to one process: longer than a check, or two would run at once. */
export const LEASE_SEC = 30;

// A time further ahead than the code ever sets was written before the clock was set back, and counts
// as over. The slack is for times that another transaction has just written: they may lie a little
// after this one's `now()`.
const SLACK_SEC = 60;
const ahead = (seconds: number): string => `now() + interval '${seconds + SLACK_SEC} s'`;
/** A service may ask for an hour of silence at most; see postponeCheck. */
const LONGEST_SILENCE_SEC = 3_600;

const untilSql = (column: string, longestSec: number): string =>
  `CASE WHEN ${column} > now() AND ${column} < ${ahead(longestSec)} THEN ${column} END`;

/** Until when a process is asking the service about a payment `p`; null: none is. */
const LEASED_UNTIL = untilSql('p.leased_until', LEASE_SEC);
/** Until when a payment `p` is left alone, by a lease or a silence; null where it is free. */
export const LEASED_OR_SILENT_UNTIL = `GREATEST(${LEASED_UNTIL},
  ${untilSql('p.silent_until', LONGEST_SILENCE_SEC)})`;
/** Whether a process is asking the service about a payment `p`. */
export const IS_BEING_CHECKED = `${LEASED_UNTIL} IS NOT NULL`;

/** Seconds that a hint waits, by the number of checks that hints have caused in vain. */
export const hintPauseSql = (checks: string): string =>
  `(ARRAY[${HINT_PAUSES_SEC.join(', ')}])[least(${checks}, ${HINT_PAUSES_SEC.length - 1}) + 1]`;

/**
 * Checks that count for a hint at a payment `p`.
 * @param isTrusted the column that says whether it is a signed webhook's or an operator's
 */
const checksSql = (isTrusted: string): string =>
  `CASE WHEN ${isTrusted} THEN least(p.hint_checks, ${TRUSTED_HINT_STEP}) ELSE p.hint_checks END`;

const pausedUntilSql = (isTrusted: string): string => `CASE WHEN p.last_hinted_at < ${ahead(0)}
  THEN p.last_hinted_at + make_interval(secs => ${hintPauseSql(checksSql(isTrusted))}) END`;

/**
 * Whether a hint may have a payment `p` checked now: no lease, no silence and no pause is left.
 * @param isTrusted the column that says so
 */
export const isFreeSql = (isTrusted: string): string =>
  `${LEASED_OR_SILENT_UNTIL} IS NULL AND coalesce(${pausedUntilSql(isTrusted)}, '-infinity') <= now()`;

/**
 * What a hint writes into a payment `p`. It counts even when the payment is not leased for a check: then
 * the payment is due as soon as the pause is over and no lease holds it. When it is leased, it is due
 * before the lease ends, so that the poller finds it if this process dies before the check is recorded.
 * If it is due sooner than that anyway, `next_check_at` stays as it is: changing it would cost an entry
 * in every index of the table.
 * @param isLeased the column that says so
 * @param isTrusted the column that says so
 */
export function hintedSql(isLeased: string, isTrusted: string): string {
  const lease = `now() + interval '${LEASE_SEC} s'`;
  return `hints = p.hints + 1, checks = p.checks + ${isLeased}::int,
      hint_checks = ${checksSql(isTrusted)} + ${isLeased}::int,
      leased_until = CASE WHEN ${isLeased} THEN ${lease} ELSE p.leased_until END,
      last_hinted_at = CASE WHEN ${isLeased} THEN now() ELSE p.last_hinted_at END,
      next_check_at = LEAST(p.next_check_at, CASE WHEN NOT ${isLeased}
        THEN GREATEST(now(), ${pausedUntilSql(isTrusted)}, ${LEASED_OR_SILENT_UNTIL})
        WHEN p.next_check_at < ${lease} THEN p.next_check_at ELSE now() END)`;
}
