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
import { currenciesOf, isDecided, ledgerIn, orderFacts, type AggregatePayment, type Policy } from './aggregate.ts';
import { record, setLedger, setPayment, type Change } from './change.ts';
import { decide, type AnswerSituation } from './decide.ts';
import { verifyPartPayments } from './due.ts';
import { hasStalePart, markPaid } from './mark-paid.ts';
import { doubtIdOfPart, doubtUsedId } from './used-id.ts';
import { setNextCheck } from './next-check.ts';

/** The exclusive right to verify a payment, for half a minute. */
export type Lease = {
  reference: string;
  orderId: string;
  /** The database's time before verify was asked. Later notifications need another verification. */
  askedAt: Date;
  /** Distinguishes this lease from a later one of the same payment. */
  leasedUntil: Date;
  /** Part payments of the order waited for its rest when the lease was taken. */
  isRestDue: boolean;
  /** Another payment of the order is being verified, and this one for its sake. */
  isNested?: boolean;
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

/** What of an answer decides whether it pays. */
type Proving = AnswerSituation['evidence'];

/** `onMessage`: a message may be due now. */
type ConfirmParts = { prisma: PrismaClient; gateway: Gateway; policy: Policy; logger: Logger; onMessage: () => void };

export function createConfirm(parts: ConfirmParts): Confirm {
  const { gateway, logger, onMessage } = parts;
  const confirm: Confirm = async (lease, priority, withinMs, alongside) => {
    const { reference, orderId, cause } = lease;
    const endMs = performance.now() + (withinMs ?? Infinity);
    try {
      const said = await gateway.verify(reference, priority, withinMs);
      const evidence = await doubtUsedId(parts, orderId, said);
      const leftMs = withinMs === undefined ? undefined : endMs - performance.now();
      if (lease.isRestDue && lease.isNested !== true)
        await verifyPartPayments({ ...parts, confirm }, lease, evidence, { priority, withinMs: leftMs });
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
 * @throws {Unanswered} a part payment must be verified first
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
  setNextCheck(change, payment, lease, evidence.outcome, isNews);
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

/**
 * Captures the money of a payment and marks its order paid, if the answer proves it.
 * @throws {Unanswered} a part payment must be verified first
 */
export function markPaidIfProven(change: Change, payment: AggregatePayment, evidence: Proving): void {
  const { currency } = change.aggregate;
  const shown = evidence.balance ?? 0n;
  const before = ledgerIn(payment, currency);
  const isLeft = historyLeaves(before, shown) && before.books.captured === 0n;
  const order = orderFacts(change.aggregate, payment);
  if (decide({ evidence, order, isDecided: isDecided(payment), isLeft }) === 'hold') return;
  // For example, a person asked for the rest while verify was asked. The payment is verified again.
  if (hasStalePart(change, payment, shown))
    throw new Unanswered('a part payment of its order must be verified first', { sent: false });
  setLedger(change, payment, currency, book(before, { captured: shown }, change.now), { what: 'captured' });
  markPaid(change, payment, shown, null);
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
