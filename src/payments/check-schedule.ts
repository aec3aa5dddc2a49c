// What moves the next check (`next_check_at`) of a payment:
//
//   cause                           file                         to when
//   it is being sent                checkout.sql.ts, attempts.sql.ts and further-payment.sql.ts in
//                                   src/checkout                 SENDING_IS_LOST_AFTER_SEC
//   initialize was called           src/checkout/attempts.sql.ts opened: FIRST_CHECK_AFTER_OPENING_SEC;
//                                                                ambiguous: now; refused: never; not sent: in
//                                                                an hour, when it expires (UNSENT_LIVES_SEC)
//   the next attempt takes its      src/checkout/attempts.sql.ts now
//   place, as its result is unknown
//   it was never sent, and expires  checks.sql.ts                never
//   a hint                          hint.sql.ts                  now, or the end of a pause, lease or silence
//   an answer that does not pay     confirm.ts                   the next of CHECK_AGES_SEC, then never;
//                                                                while unreadable, ASK_AGAIN_SEC for three
//                                                                days more
//   a hint came during that check   record.sql.ts                now, or the end of a pause
//   an answer that pays             confirm.ts                   never
//   an acceptance                   accept.sql.ts                never
//   the service could not be asked  postponeCheck,               pauseAfterFailureSec or what the service
//                                   checks.sql.ts                asked for, however old the payment is
//   a person gave it to its order   adopt.sql.ts                 now
//
// Beside it verify is asked at a deadline and by a cancel (end-order.ts), by reconciliation
// (verify-payments.ts), and before an acceptance (accept.ts).

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ages in seconds, since it was created, at which a payment that has not paid (open, ambiguous, failed,
 * expired, held) is checked without any hint: often while a shopper may be waiting, then ever more rarely.
 * Webhooks and returns add checks; this schedule finds a payment when both are lost.
 */
export const CHECK_AGES_SEC: readonly number[] = [
  5,
  15,
  45,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  3 * DAY,
  4 * DAY,
  5 * DAY,
  6 * DAY,
  7 * DAY,
  8 * DAY,
];

/** Pauses from MIN_SPREAD_SEC on are lengthened at random, by a tenth and by MAX_SPREAD_SEC at most. */
const MIN_SPREAD_SEC = 20 * MINUTE;
const MAX_SPREAD_SEC = 10 * MINUTE;

/**
 * When the last scheduled check is made. Services retry webhooks for some three days and confirm late
 * authorisations within a week.
 */
export const HORIZON_SEC = CHECK_AGES_SEC.at(-1) ?? 0;

/** Past the horizon an unreadable answer is asked for again daily, for three days. */
export const ASK_AGAIN_SEC = DAY;
export const LAST_ANSWER_BY_SEC = HORIZON_SEC + 3 * DAY;

/** No shopper has seen a freshly opened checkout yet. */
export const FIRST_CHECK_AFTER_OPENING_SEC = 5;

/** The initialize call takes 10 s at most. Its process has died if a payment is "sending" for longer. */
export const SENDING_IS_LOST_AFTER_SEC = 60;

/**
 * Seconds that a hint waits after the last check that a hint caused, by the number of such checks since
 * an answer last said something new. Three are made at once: when a shopper comes back too early, the
 * webhook that follows causes a check without a pause. Then the pauses grow, so that repeated hints at a
 * payment of which nothing new is learnt cost hardly any calls.
 */
export const HINT_PAUSES_SEC: readonly number[] = [0, 0, 0, 10, MINUTE, 10 * MINUTE, HOUR];
/**
 * Signed hints come from the service, and an operator's from a person: the pauses of these two do not grow
 * beyond this step, however many unsigned ones came.
 */
export const TRUSTED_HINT_STEP = 3;

/** The service was not asked, by our own limits or its wish for a short pause: a hint is followed soon. */
export const NOT_ASKED_PAUSE_SEC = 2;
/**
 * The service fails, or asked for a pause, and was not asked by schedule: the shortest pause until the next
 * try.
 */
export const NOT_ASKED_SCHEDULED_PAUSE_SEC = MINUTE;

/**
 * Seconds until the next try when the service could not be asked: 5, doubled for every check so far, up to
 * 15 minutes. A payment that was checked often is old: its shopper no longer waits.
 */
export function pauseAfterFailureSec(checks: number, random?: Random): number {
  return jittered(Math.min(5 * 2 ** Math.min(checks, 8), 15 * MINUTE), random);
}

/** @returns seconds until the next check of a payment of that age; null when the horizon has passed */
export function nextCheckSec(ageSec: number, random?: Random): number | null {
  // A negative age: the database's clock was set back.
  const age = Math.max(ageSec, 0);
  const next = CHECK_AGES_SEC.find((each) => each > age + 1);
  if (next === undefined) return null;
  // Payments that were opened in one burst, or checked after one outage, should not all be checked in
  // one second. Short pauses stay exact: a shopper may be waiting, or was a few minutes ago.
  const pauseSec = next - age;
  return pauseSec < MIN_SPREAD_SEC
    ? pauseSec
    : Math.min(jittered(pauseSec, random), pauseSec + MAX_SPREAD_SEC);
}

/** A number from 0 to below 1. */
export type Random = () => number;

const MAX_SHARE = 0.1;

/** Up to a tenth longer, so that clients that begin to wait together do not all come back together. */
export function jittered(pause: number, random: Random = Math.random): number {
  return pause * (1 + MAX_SHARE * random());
}
