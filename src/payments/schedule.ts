// The events that set the next check (`next_check_at`) of a payment:
//
//   cause                          where                     to when
//   it is created                  the column's default      in 15 s: by then initialize has answered
//   initialize opened it           checkout/open-payment.ts  in 5 s
//   its result is unknown          checkout/open-payment.ts  now
//   refused, or not sent           checkout/open-payment.ts  never
//   a notification                 due.ts                    now; if repeated, after a pause
//   no news after a notification   next-check.ts             3, 10 and 30 s after the notification
//   an answer                      next-check.ts             the next of CHECK_AGES_SEC, then daily
//                                                            then never
//   a notification during verify   next-check.ts             now; if repeated, after a pause
//   an unreadable answer           next-check.ts             as after an answer; hourly, not never
//   it was verified late           next-check.ts             not before twice the delay has passed
//   it paid its order              next-check.ts             1, 3, 7, 14, 30, 60, 90 and 120 days
//                                                            after that
//   its money is missing           next-check.ts             as often as a new payment
//   it is a part payment           next-check.ts             as a new payment, then as a paid order
//   verify could not be asked      confirm.ts                after a growing pause, or at the time
//                                                            that the service names
//   its order is reopened          end.ts                    now
//
// Verify is also asked when a shopper returns, before a hosted page is handed out again or its
// next payment is created, before a decision that may pay the order, before another payment pays
// the rest beside a part payment, by a cancel, at a deadline, by a history run, and when a person
// assigns an unmatched payment to an order.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ages in seconds at which an unpaid payment is verified without a notification: often while a
 * shopper may be waiting, then more and more rarely, then daily while it can be paid. This finds a
 * payment whose webhook and return were both lost.
 */
const CHECK_AGES_SEC = [5, 15, 45, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/** A delayed check postpones the next one by at most this, so that an outage does not cost days. */
const LONGEST_DELAY_SEC = 6 * HOUR;

/**
 * When a payment is verified next without a notification. Null: never again.
 *
 * If a check is late, more payments are due than can be verified. The next check of this payment
 * then waits for at least twice the delay, so that many abandoned payments are verified in growing
 * steps. With 4,000 of them and 20 calls a second, the last one is verified 200 s late, and not
 * again for another 400 s.
 * @param since when the payment was created
 * @param delayMs how much later than planned this check was made
 */
export function nextCheck(since: Date, now: Date, payableDays: number, delayMs = 0): Date | null {
  const ageSec = (now.getTime() - since.getTime()) / 1_000;
  if (ageSec >= payableDays * DAY) return null;
  const planned = CHECK_AGES_SEC.find((age) => age > ageSec + 1) ?? (Math.floor(ageSec / DAY) + 1) * DAY;
  const relieved = ageSec + Math.min((2 * delayMs) / 1_000, LONGEST_DELAY_SEC);
  return new Date(since.getTime() + Math.min(Math.max(planned, relieved), payableDays * DAY) * 1_000);
}

/**
 * Ages in days at which a paid order is verified again. This finds a chargeback that no webhook
 * announces and that the history does not reach back to or never shows.
 */
const RECHECK_AGES_DAYS = [1, 3, 7, 14, 30, 60, 90, 120];

/** When a paid order is verified again. Null: never again. */
export function nextRecheck(paidAt: Date, now: Date): Date | null {
  const times = RECHECK_AGES_DAYS.map((days) => new Date(paidAt.getTime() + days * DAY * 1_000));
  return times.find((time) => time > now) ?? null;
}

/** Whether a payment can no longer be paid, so that the next verification is the last one. */
export function isOver(since: Date, now: Date, payableDays: number): boolean {
  return now.getTime() - since.getTime() >= payableDays * DAY * 1_000;
}

/**
 * Verify may know of an event some seconds later than the webhook. If the answer after a
 * notification brings nothing new, the payment is verified again at these ages of the notification,
 * in seconds.
 */
const FOLLOW_UP_SEC = [3, 10, 30];
/** Up to this many notifications in a row without news are followed up. Further ones count as repetitions. */
const FOLLOWED_UP = 3;

/**
 * When to verify again after a notification whose answer brought no news. Null: the usual schedule
 * applies.
 * @param quietChecks notifications in a row that brought no news, including this one
 */
export function followUp(notifiedAt: Date, quietChecks: number, now: Date): Date | null {
  if (quietChecks > FOLLOWED_UP) return null;
  const times = FOLLOW_UP_SEC.map((age) => new Date(notifiedAt.getTime() + age * 1_000));
  return times.find((time) => time > now) ?? null;
}

/**
 * Pauses in seconds before a notification is followed, by the number of notifications before it
 * that brought no news. The first three are followed at once. A flood of repetitions then costs one
 * verification an hour. A signed webhook with a new body never waits.
 */
export const NOTIFICATION_PAUSES_SEC = [0, 0, 0, 10, MINUTE, 10 * MINUTE, HOUR];

/**
 * When a notification is followed.
 * @param quietChecks notifications in a row that brought no news
 */
export function afterNotification(answeredAt: Date | null, quietChecks: number, now: Date): Date {
  const pauseSec = NOTIFICATION_PAUSES_SEC[Math.min(quietChecks, NOTIFICATION_PAUSES_SEC.length - 1)] ?? 0;
  const earliest = (answeredAt?.getTime() ?? 0) + pauseSec * 1_000;
  return new Date(Math.max(now.getTime(), earliest));
}
