import type { Logger } from 'pino';
import { Unanswered } from '../gateway/errors.ts';
import type { Evidence } from '../gateway/evidence.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Priority } from '../gateway/traffic.ts';
import { book, observeVerify } from '../ledger/ledger.ts';
import { historyLeaves } from '../ledger/position.ts';
import type { Answer } from '../ledger/sources.ts';
import { constraintOf, isDatabaseAway } from '../platform/db.ts';
import { digestOf, isSameDigest } from '../platform/ids.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { changeOrder } from './change-order.ts';
import {
  currenciesOf,
  isDecided,
  isInProof,
  ledgerIn,
  orderFacts,
  partPaymentOf,
  positionIn,
  type AggregatePayment,
  type Policy,
} from './aggregate.ts';
import { record, setLedger, setPayment, type Change } from './change.ts';
import { decide } from './decide.ts';
import { verifyPartPayments } from './due.ts';
import { markPaid } from './mark-paid.ts';
import { doubtIdOfPart, doubtUsedId } from './used-id.ts';
import { afterNotification, followUp, nextCheck, nextRecheck } from './schedule.ts';

/** The exclusive right to verify a payment, for half a minute. */
export type Lease = {
  reference: string;
  orderId: string;
  /** The database's time before verify was asked. Later notifications need another verification. */
  askedAt: Date;
  /** Distinguishes this lease from a later one of the same payment. */
  leasedUntil: Date;
  /** Part payments of the order wait for its rest. */
  isRestDue: boolean;
  cause: 'notification' | 'schedule' | 'return' | 'checkout' | 'cancel' | 'deadline' | 'person' | 'reconciliation';
};

/**
 * Asks verify about a payment and makes the order agree with the answer. This is the only function
 * that marks an order paid on evidence. Webhooks, returns, the schedule and people may all cause
 * it, and none of them proves anything.
 * @param withinMs milliseconds for the call
 * @param alongside changes the order together with the answer: a history run applies its rows
 * @returns the outcome of the answer. Null: there is none or it was not stored, and the payment is
 * verified later
 */
export type Confirm = (
  lease: Lease,
  priority: Priority,
  withinMs?: number,
  alongside?: Alongside,
) => Promise<Evidence['outcome'] | null>;
export type Alongside = (change: Change) => void;

/** `onMessage`: a message may be due now. */
type ConfirmParts = { prisma: PrismaClient; gateway: Gateway; policy: Policy; logger: Logger; onMessage: () => void };

export function createConfirm(parts: ConfirmParts): Confirm {
  const { gateway, logger, onMessage } = parts;
  const confirm: Confirm = async (lease, priority, withinMs, alongside) => {
    const { reference, orderId, cause } = lease;
    try {
      const said = await gateway.verify(reference, priority, withinMs);
      const evidence = await doubtUsedId(parts, orderId, said);
      if (lease.isRestDue) await verifyPartPayments({ ...parts, confirm }, lease, evidence);
      const work = (change: Change): boolean => confirmPayment(change, lease, evidence, alongside);
      const isKept = await changeOrder(parts, orderId, 'service', work);
      onMessage();
      logger.debug({ reference, orderId, cause, outcome: evidence.outcome }, 'payment checked');
      return isKept ? evidence.outcome : null;
    } catch (error) {
      await putOff(parts, lease, error);
      return null;
    }
  };
  return confirm;
}

/**
 * Applies an answer while the order's lock is held: stores it, updates the ledgers, and marks the
 * order paid if the answer proves it.
 * @returns false if the lease has ended
 */
function confirmPayment(change: Change, lease: Lease, said: Evidence, alongside?: Alongside): boolean {
  const payment = change.aggregate.payments.find(({ reference }) => reference === lease.reference);
  if (payment === undefined) throw new Error(`${lease.reference} is no payment of its order`);
  // Only the newest lease may write its answer. If a process stood still for longer than its lease,
  // its answer is old, and another process has asked since. Leases order the answers, because the
  // database's clock may be set back.
  if (payment.leasedUntil?.getTime() !== lease.leasedUntil.getTime()) {
    setPayment(change, payment, { nextCheckAt: change.now });
    return false;
  }
  const evidence = doubtIdOfPart(change.aggregate, payment, said);
  const isNews = storeAnswer(change, payment, lease, evidence);
  if (evidence.outcome !== 'unreadable') observe(change, payment, evidence);
  alongside?.(change);
  markPaidIfProven(change, payment, evidence);
  schedule(change, payment, lease, isNews && !TEACH_NOTHING.includes(evidence.outcome), isNews);
  return true;
}

/**
 * Stores the answer unless it repeats the newest one. Of several unreadable answers in a row, it
 * stores the first.
 * @returns whether the answer is new
 */
function storeAnswer(change: Change, payment: AggregatePayment, lease: Lease, said: Evidence): boolean {
  const { now, ids, rows } = change;
  const { reference, unreadableSince: since } = payment;
  const { outcome, word, amount, refunded, balance, currency, serviceId, doubt, httpStatus } = said;
  setPayment(change, payment, { unreadableSince: outcome === 'unreadable' ? (since ?? now) : null });
  const digest = digestOf([outcome, word, amount, refunded, balance, currency, serviceId, doubt]);
  const [newest] = payment.verifications;
  const isSame = newest !== undefined && isSameDigest(newest.digest, digest);
  if (outcome === 'unreadable' ? since !== null : isSame) return false;
  const facts = { outcome, word, amount, refunded, balance, currency, serviceId, doubt, httpStatus, digest };
  const { cause, askedAt } = lease;
  const stored = { id: ids.verification, ...facts, reference, cause, askedAt, at: now };
  rows.verifications.push({ ...stored, body: new Uint8Array(Buffer.from(said.body)) });
  if (outcome !== 'unreadable') payment.verifications = [stored];
  record(change, 'answer', reference, { verification: String(stored.id), outcome, word });
  return true;
}

/** Applies an answer to the ledgers of a payment. The same answer again changes nothing. */
function observe(change: Change, payment: AggregatePayment, evidence: Evidence): void {
  const isAboutMoney = evidence.balance !== null && evidence.currency !== null;
  const currencies = new Set(
    isAboutMoney ? [...currenciesOf(payment), evidence.currency ?? ''] : currenciesOf(payment),
  );
  for (const currency of currencies) {
    const before = ledgerIn(payment, currency);
    const answer = answerIn(change, payment, evidence, currency);
    const hasLedger = payment.ledgers.some((one) => one.currency === currency);
    // An answer without money creates no ledger.
    if (!hasLedger && !(answer.isHere && isAboutMoney)) continue;
    setLedger(change, payment, currency, observeVerify(before, answer), { what: 'reported by verify' });
  }
}

/**
 * The part of an answer that concerns one currency. A doubt that a person accepted with the order's
 * proof no longer counts.
 */
function answerIn(change: Change, payment: AggregatePayment, evidence: Evidence, currency: string): Answer {
  const { outcome, serviceId, balance, outflow, currency: named, doubt } = evidence;
  const { proof } = change.aggregate;
  const contribution = proof?.payments.find(({ reference }) => reference === payment.reference);
  const isAccepted = proof?.acceptedBy != null && contribution?.verification.doubt === doubt;
  const speaks = outcome === 'paid' || outcome === 'reversed' || outcome === 'failed' || outcome === 'expired';
  return {
    outcome: speaks ? outcome : 'unproven',
    id: serviceId,
    isHere: named === null || named === currency,
    received: balance === null || outflow === null ? null : balance + outflow,
    balance: balance ?? 0n,
    isDoubted: doubt !== null && !isAccepted,
  };
}

function markPaidIfProven(change: Change, payment: AggregatePayment, evidence: Evidence): void {
  const { currency } = change.aggregate;
  const shown = evidence.balance ?? 0n;
  const before = ledgerIn(payment, currency);
  const isLeft = historyLeaves(before, shown) && before.books.captured === 0n;
  const order = orderFacts(change.aggregate, payment);
  if (decide({ evidence, order, isDecided: isDecided(payment), isLeft }) === 'hold') return;
  setLedger(change, payment, currency, book(before, { captured: shown }, change.now), { what: 'captured' });
  markPaid(change, payment, shown, null);
}

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
 * @param isTaught the answer is new, and its outcome is none of TEACH_NOTHING
 */
function schedule(change: Change, payment: AggregatePayment, lease: Lease, isTaught: boolean, isNews: boolean): void {
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

/**
 * Verify could not be asked, or its answer could not be written: the payment waits, longer each
 * time.
 */
async function putOff({ prisma, logger }: ConfirmParts, lease: Lease, error: unknown): Promise<void> {
  const { reference, orderId, leasedUntil, askedAt } = lease;
  const retryAfterSec = error instanceof Unanswered ? error.retryAfterSec : null;
  if (error instanceof Unanswered)
    logger.warn({ reference, orderId, reason: error.message }, 'payment could not be checked');
  else {
    const alert = isDatabaseAway(error) ? undefined : 'answer_refused';
    const about = { alert, reference, orderId, constraint: constraintOf(error), err: error };
    logger.error(about, 'an answer could not be written');
  }
  // By the database's time: after 5 s, doubled each time up to an hour, and not before the service
  // allows it. A notification that came meanwhile resets the pause.
  await prisma.$executeRaw`
    UPDATE payments SET failures = failures + 1, leased_until = NULL, next_check_at = clock_timestamp()
      + make_interval(secs => greatest(${retryAfterSec ?? 0}::int,
          least(5 * 2 ^ (CASE WHEN notified_at > ${askedAt}::timestamptz + interval '1 ms' THEN 0
            ELSE least(failures, 10) END), 3600)))
    WHERE reference = ${reference} AND leased_until = ${leasedUntil}`;
}
