const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ages in seconds at which an open payment is looked at although nobody called: often while a shopper may be
 * waiting, then ever more rarely. Webhooks and returns come on top; this is what finds a payment when both are lost.
 */
export const CHECK_AGES_SEC: readonly number[] = [
  0,
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

/** Services retry webhooks for about three days and settle late authorisations within a week; then we stop looking. */
export const HORIZON_SEC = 8 * DAY;

/** Past the horizon an unreadable answer is asked for again daily, for three days. */
export const ASK_AGAIN_SEC = DAY;
export const LAST_ANSWER_BY_SEC = HORIZON_SEC + 3 * DAY;

/** A freshly opened checkout has not been seen by the shopper yet: the look at age 0 is for payments that nobody can open. */
export const FIRST_CHECK_AFTER_OPENING_SEC = 5;

/** The initialize call takes 10 s at most. A payment still "sending" after this has lost its process. */
export const SENDING_IS_LOST_AFTER_SEC = 60;

/** A flood of hints costs one call: after a check that a hint caused, the next one waits this long. */
export const HINT_PAUSE_SEC = 10;

/** When the service cannot be asked: a first pause, doubled for every check so far, up to a quarter of an hour. */
export function pauseAfterFailureSec(checks: number): number {
  return Math.min(5 * 2 ** Math.min(checks, 8), 15 * MINUTE);
}

/** @returns seconds from now until the next look at a payment of that age, or null when the horizon has passed */
export function nextCheckSec(ageSec: number): number | null {
  const next = CHECK_AGES_SEC.find((age) => age > ageSec + 1);
  return next === undefined ? null : next - ageSec;
}
