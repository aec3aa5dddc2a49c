// What moves the next check (`next_check_at`) of a payment:
//
//   cause                           where                      to when
//   it is placed                    the default of the column  in 15 s: by then initialize has answered
//   initialize opened it            checkout/open-payment.ts   in 5 s
//   its result is unknown           checkout/open-payment.ts   now
//   refused, or not sent            checkout/open-payment.ts   never
//   a hint                          due.ts                     now, or the end of a pause
//   an answer                       confirm.ts                 the next of CHECK_AGES_SEC, then daily, then never; in
//                                                              an hour where the last one could not be read; sooner
//                                                              where a hint came during the question
//   it released its order           confirm.ts                 never, or when an unclear answer falls short
//   it could not be asked           confirm.ts                 after a pause that grows, or what the service asked for
//   its order is reopened           end.ts                     now
//
// Beside it, verify is asked by a return, before an order's page is handed out again or its next payment is made,
// before a decision that may pay, by a cancel, at a deadline, by a reconciliation, and when money is adopted.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Ages in seconds at which a payment that has not paid is checked without any hint: often while a shopper may be
 * waiting, then ever more rarely, then daily as long as it may be paid. This finds a payment when webhook and return
 * are both lost.
 */
const CHECK_AGES_SEC = [5, 15, 45, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/**
 * When a payment is checked next, without a hint; null: never more, what it is worth is known.
 * @param since when it was placed
 */
export function nextCheck(since: Date, now: Date, payableDays: number): Date | null {
  const ageSec = (now.getTime() - since.getTime()) / 1_000;
  if (ageSec >= payableDays * DAY) return null;
  const next = CHECK_AGES_SEC.find((age) => age > ageSec + 1) ?? (Math.floor(ageSec / DAY) + 1) * DAY;
  return new Date(since.getTime() + Math.min(next, payableDays * DAY) * 1_000);
}

/** Whether the time in which a payment may be paid is over: the answer that is asked for now is the last. */
export function isOver(since: Date, now: Date, payableDays: number): boolean {
  return now.getTime() - since.getTime() >= payableDays * DAY * 1_000;
}

/**
 * Three hints are followed at once; where they teach nothing new, the pauses grow: a flood costs a question an hour.
 */
export const HINT_PAUSES_SEC = [0, 0, 0, 10, MINUTE, 10 * MINUTE, HOUR];

/** When a hint is followed. @param quietChecks checks that hints caused since something new was learnt */
export function afterHint(answeredAt: Date | null, quietChecks: number, now: Date): Date {
  const pauseSec = HINT_PAUSES_SEC[Math.min(quietChecks, HINT_PAUSES_SEC.length - 1)] ?? 0;
  const earliest = (answeredAt?.getTime() ?? 0) + pauseSec * 1_000;
  return new Date(Math.max(now.getTime(), earliest));
}
