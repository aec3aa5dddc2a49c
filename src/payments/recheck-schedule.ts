import { jittered, type Random } from '../platform/jitter.ts';

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

/** Checks that are further away are spread, by a tenth and by so many seconds at most. */
const MIN_SPREAD_SEC = 20 * MINUTE;
const MAX_SPREAD_SEC = 10 * MINUTE;

/** Services retry webhooks for about three days and settle late authorisations within a week; then we stop looking. */
export const HORIZON_SEC = 8 * DAY;

/** Past the horizon an unreadable answer is asked for again daily, for three days. */
export const ASK_AGAIN_SEC = DAY;
export const LAST_ANSWER_BY_SEC = HORIZON_SEC + 3 * DAY;

/** A freshly opened checkout has not been seen by the shopper yet: the look at age 0 is for payments that nobody can open. */
export const FIRST_CHECK_AFTER_OPENING_SEC = 5;

/** The initialize call takes 10 s at most. A payment still "sending" after this has lost its process. */
export const SENDING_IS_LOST_AFTER_SEC = 60;

/**
 * Seconds that a hint waits after the last check that a hint caused, by how many such checks there were since an answer
 * last said something new. Three are made at once: a shopper who is back too early does not wait for the webhook that
 * follows. Then the pauses grow: whoever goes on hinting at a payment of which nothing new is learnt has no more calls.
 */
export const HINT_PAUSES_SEC: readonly number[] = [0, 0, 0, 10, MINUTE, 10 * MINUTE, HOUR];
/** Signed hints come from the service, so their pauses do not grow beyond this step, however many strangers have hinted. */
export const SIGNED_HINT_STEP = 3;

/** The service was not asked, for reasons of ours or because it wants a short pause: a hint is followed soon after. */
export const NOT_ASKED_PAUSE_SEC = 2;

/** When the service cannot be asked: a first pause, doubled for every check so far, up to a quarter of an hour. */
export function pauseAfterFailureSec(checks: number, random?: Random): number {
  return jittered(Math.min(5 * 2 ** Math.min(checks, 8), 15 * MINUTE), random);
}

/** @returns seconds from now until the next look at a payment of that age, or null when the horizon has passed */
export function nextCheckSec(ageSec: number, random?: Random): number | null {
  // A payment from the future: the clock was set back.
  const age = Math.max(ageSec, 0);
  const next = CHECK_AGES_SEC.find((each) => each > age + 1);
  if (next === undefined) return null;
  // Payments that were opened in one burst, or looked at after one outage, need not all be looked at in one second. While
  // a shopper may be waiting, and for a few minutes after, they are.
  const pauseSec = next - age;
  return pauseSec < MIN_SPREAD_SEC
    ? pauseSec
    : Math.min(jittered(pauseSec, random), pauseSec + MAX_SPREAD_SEC);
}
