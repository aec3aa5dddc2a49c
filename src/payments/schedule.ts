// What moves the next check (`next_check_at`) of a payment:
//
//   cause                           where                      to when
//   it is placed                    the default of the column  in 15 s: by then initialize has answered
//   initialize opened it            checkout/open-payment.ts   in 5 s
//   its result is unknown           checkout/open-payment.ts   now
//   refused, or not sent            checkout/open-payment.ts   never
//   a notification                  due.ts                     now, or the end of a pause if notifications repeat
//   a notification taught nothing   confirm.ts                 3, 10 and 30 s after the notification
//   an answer                       confirm.ts                 the next of CHECK_AGES_SEC, then daily, then never; in
//                                                              an hour where the last one could not be read; sooner
//                                                              where a notification came during the question
//   it was asked late               confirm.ts                 not before twice the delay has passed again
//   it paid its order               confirm.ts                 1, 3, 7, 14, 30, 60, 90 and 120 days after that; as
//                                                              often as a new payment while its money is missing
//   it could not be asked           confirm.ts                 after a pause that grows, or what the service asked for
//   its order is reopened           end.ts                     now
//
// Beside it, verify is asked by a return, before an order's page is handed out again or its next
// payment is made, before a decision that may pay, by a cancel, at a deadline, by a reconciliation,
// and when money is adopted.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ages in seconds at which a payment that has not paid is checked without any notification: often
 * while a shopper may be waiting, then ever more rarely, then daily as long as it may be paid. This
 * finds a payment when webhook and return are both lost.
 */
const CHECK_AGES_SEC = [5, 15, 45, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/**
 * No delay makes the next check wait longer than this, so that an outage of hours does not cost
 * days.
 */
const LONGEST_DELAY_SEC = 6 * HOUR;

/**
 * When a payment is checked next, without a notification; null: never more, what it is worth is
 * known.
 *
 * A check that came late means that more payments are due than can be asked about. The next one
 * then waits for at least twice that delay, so that many abandoned payments are asked about in ever
 * larger steps: with 4,000 of them and 20 calls a second, the last one is asked 200 s late, and
 * then not for another 400 s.
 * @param since when it was placed
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
 * tells and that the history does not reach back to, or never shows.
 */
const RECHECK_AGES_DAYS = [1, 3, 7, 14, 30, 60, 90, 120];

/** When a paid order is verified again; null: never more. */
export function nextRecheck(paidAt: Date, now: Date): Date | null {
  const times = RECHECK_AGES_DAYS.map((days) => new Date(paidAt.getTime() + days * DAY * 1_000));
  return times.find((time) => time > now) ?? null;
}

/**
 * Whether the time in which a payment may be paid is over: the answer that is asked for now is the
 * last.
 */
export function isOver(since: Date, now: Date, payableDays: number): boolean {
  return now.getTime() - since.getTime() >= payableDays * DAY * 1_000;
}

/**
 * A notification says that something happens now, and verify may know it some seconds later than
 * the webhook. If the answer teaches nothing, the payment is asked about again at these ages of the
 * notification, in seconds.
 */
const FOLLOW_UP_SEC = [3, 10, 30];
/**
 * So many notifications in a row that taught nothing are followed up. More of them are repetitions.
 */
const FOLLOWED_UP = 3;

/**
 * When to verify again after a notification whose answer brought no news. Null: the usual schedule
 * applies.
 * @param quietChecks notifications in a row that taught nothing, this one among them
 */
export function followUp(notifiedAt: Date, quietChecks: number, now: Date): Date | null {
  if (quietChecks > FOLLOWED_UP) return null;
  const times = FOLLOW_UP_SEC.map((age) => new Date(notifiedAt.getTime() + age * 1_000));
  return times.find((time) => time > now) ?? null;
}

/**
 * Three notifications in a row are followed at once. If they repeat and teach nothing, the pauses
 * between questions grow, so that a flood costs a question an hour. A signed body that was not seen
 * before never waits.
 */
export const NOTIFICATION_PAUSES_SEC = [0, 0, 0, 10, MINUTE, 10 * MINUTE, HOUR];

/**
 * When a notification is followed.
 * @param quietChecks notifications in a row that taught nothing new
 */
export function afterNotification(answeredAt: Date | null, quietChecks: number, now: Date): Date {
  const pauseSec = NOTIFICATION_PAUSES_SEC[Math.min(quietChecks, NOTIFICATION_PAUSES_SEC.length - 1)] ?? 0;
  const earliest = (answeredAt?.getTime() ?? 0) + pauseSec * 1_000;
  return new Date(Math.max(now.getTime(), earliest));
}
