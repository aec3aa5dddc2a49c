import { isInProof, partPaymentOf, positionIn, type AggregatePayment } from './aggregate.ts';
import { setPayment, type Change } from './change.ts';
import type { Lease } from './confirm.ts';
import { afterNotification, followUp, nextCheck, nextRecheck } from './schedule.ts';
import type { Evidence } from '../gateway/evidence.ts';

type Outcome = Evidence['outcome'];

/** Rarely, because somebody has to correct the adapter or the service first. */
const UNREADABLE_MS = 3_600_000;

/** Outcomes that change nothing. If a notification leads to one of them, it is followed up. */
const TEACH_NOTHING: readonly string[] = ['pending', 'not_found', 'unknown', 'unreadable'];

/**
 * Sets when the payment is verified next, and whether later notifications are followed at once. A
 * payment was created at 10:00:00, and a notification about it comes at 10:00:20:
 *
 *   asked at    answer     regular check    follow-up    next
 *   10:00:20    pending    10:00:45         10:00:23     10:00:23
 *   10:00:23    pending    10:00:45         10:00:30     10:00:30
 *   10:00:30    pending    10:00:45         10:00:50     10:00:45
 *   10:00:45    paid       in one day       none         in one day
 *
 * @param isNews the answer differs from the one before
 */
export function setNextCheck(
  change: Change,
  payment: AggregatePayment,
  lease: Lease,
  outcome: Outcome,
  isNews: boolean,
): void {
  const isTaught = isNews && !TEACH_NOTHING.includes(outcome);
  const { now } = change;
  const notification = notificationOf(payment, lease, now);
  // A notification counts once, and its follow-ups do not count. In a flood, `notified_at` is of a
  // newer notification than the one that was followed.
  const isFollowUp = notification !== null && payment.answeredAt !== null && payment.answeredAt >= notification.at;
  const isOfNotification = (lease.cause === 'notification' || lease.cause === 'return') && !isFollowUp;
  const quietChecks = isNews ? 0 : payment.quietChecks + (isOfNotification ? 1 : 0);
  // A notification that came after verify was asked is followed, too.
  const notified = notification?.isNewer === true ? afterNotification(lease.askedAt, quietChecks, now) : null;
  const again =
    notification !== null && !notification.isNewer && !isTaught ? followUp(notification.at, quietChecks, now) : null;
  const times = [regularCheck(change, payment, lease), notified, again].filter((time) => time !== null);
  const [earliest = null] = times.sort((a, b) => a.getTime() - b.getTime());
  // A notification stays until its follow-ups are done, so that the payment comes before payments
  // without a notification.
  const isFollowed = notified === null && again === null;
  setPayment(change, payment, {
    answeredAt: lease.askedAt,
    leasedUntil: null,
    failures: 0,
    quietChecks,
    nextCheckAt: earliest,
    notifiedAt: isFollowed ? null : (notification?.at ?? null),
    // Only the first verification after a signed notification comes before all others.
    signedNotification: notified !== null && payment.signedNotification,
  });
}

/**
 * The notification that this verification follows, or one that came after it (`isNewer`). Null:
 * there is none.
 */
function notificationOf(
  { notifiedAt }: AggregatePayment,
  { askedAt }: Lease,
  now: Date,
): { at: Date; isNewer: boolean } | null {
  // A notification of the future was stored before the database's clock was set back. This
  // verification follows it.
  if (notifiedAt === null || notifiedAt > now) return null;
  // Stored times are rounded to a millisecond.
  return { at: notifiedAt, isNewer: notifiedAt.getTime() > askedAt.getTime() + 1 };
}

/** When the payment is verified next without a notification. Null: never again. */
function regularCheck(change: Change, payment: AggregatePayment, lease: Lease): Date | null {
  const { aggregate, now, policy } = change;
  const isLate = lease.cause === 'schedule' && payment.nextCheckAt !== null;
  const delayMs = isLate ? Math.max(0, lease.askedAt.getTime() - Number(payment.nextCheckAt)) : 0;
  const planned = isInProof(aggregate, payment.reference)
    ? checkOfPaid(change, payment)
    : (nextCheck(payment.createdAt, now, policy.payableDays, delayMs) ?? checkOfPart(change, payment));
  // If an answer cannot be read, the payment is verified again, also after its last check and also
  // if its order is paid.
  return planned ?? (payment.unreadableSince && new Date(now.getTime() + UNREADABLE_MS));
}

/** A part payment is verified at the ages of a paid order until the rest is paid. */
function checkOfPart({ aggregate, now }: Change, payment: AggregatePayment): Date | null {
  return partPaymentOf(aggregate, payment) > 0n ? nextRecheck(payment.createdAt, now) : null;
}

/**
 * If a paid order's money is missing, its payment is verified as often as a new one. Otherwise it
 * is verified at growing ages.
 */
function checkOfPaid(change: Change, payment: AggregatePayment): Date | null {
  const { aggregate, now, policy } = change;
  const [said] = payment.verifications;
  const { missing } = positionIn(change, payment, aggregate.currency);
  const again = missing > 0n && said ? nextCheck(said.at, now, policy.payableDays) : null;
  return again ?? (aggregate.paidAt && nextRecheck(aggregate.paidAt, now));
}
