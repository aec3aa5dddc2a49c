import type { Urgency } from '../gateway/traffic/rate-limiter.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { VerifyAnswer } from '../gateway/verify.ts';
import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/logger.ts';
import { decide, type Decision, type VerificationOutcome } from './decide.ts';
import type { Cause, Payment, PaymentStatus } from './payment.ts';
import { loadPayment, recordConfirmation, type CheckToWrite } from './confirm.sql.ts';
import { ASK_AGAIN_SEC, LAST_ANSWER_BY_SEC, nextCheckSec } from './check-schedule.ts';

/**
 * Asks the service, and marks the order paid if the answer is exact. Shopper, webhook, poller, reconciliation
 * and operator may each ask for it. It stores the answer as evidence and, in the same statement, moves
 * payment and order and records the release. The only other way to paid is `accept.ts`: right after this, a
 * person says that less or more is enough.
 */
export type Confirm = (payment: Payment, cause: Cause) => Promise<CheckResult>;

/** How urgent the call is, by what caused the check. */
const URGENCY: Record<Cause, Urgency> = {
  return: 'person-waits',
  operator: 'person-waits',
  webhook: 'webhook',
  hint: 'hint',
  schedule: 'background',
  reconciliation: 'background',
};

type CheckResult = {
  outcome: VerificationOutcome;
  /** Of the payment, from now on. */
  status: PaymentStatus;
  released: boolean;
  /** The payment is paid, and the answer shows neither what was asked for nor what a person accepted. */
  contradicts: boolean;
};

export type ConfirmParts = {
  database: Database;
  gateway: Gateway;
  /** The release of that payment's order, as it would be recorded now. */
  planRelease: (payment: Payment) => ReleasePlan;
  /** Called after a release was recorded: its delivery is due. */
  onReleased: () => void;
  /**
   * Called when a payment first shows money in another unit than asked for: an operator should know at once.
   * @param stopsCurrency new checkouts of its currency are stopped from now on
   */
  onUnitError?: ((payment: Payment, stopsCurrency: boolean) => void) | undefined;
  logger: Logger;
};

// A try fails only when another writer has made progress, so a handful is plenty.
const MAX_TRIES = 5;

/**
 * @returns a function that throws {@link GatewayUnavailable} or {@link GatewayKeyRefused} when the
 * service cannot be asked; nothing has changed then
 */
export function createConfirm(parts: ConfirmParts): Confirm {
  return async (payment, cause) => {
    // A process asks with the key of its own mode: test money must never pay a live order.
    if (payment.mode !== parts.gateway.mode)
      throw new Error(`Bug: ${payment.reference} is a payment of the other mode`);
    return agree(parts, payment, cause);
  };
}

/** Makes payment and order agree with the answer. Decides anew when another process moved them meanwhile. */
async function agree(
  { database, gateway, planRelease, onReleased, onUnitError, logger }: ConfirmParts,
  first: Payment,
  cause: Cause,
): Promise<CheckResult> {
  const ask = () => gateway.verify(first.reference, first.currency, URGENCY[cause]);
  let payment = first;
  let answer = await ask();
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const decision = decide(payment, answer, gateway.dialect.verify);
    const check = checkToWrite(payment, decision, answer, cause);
    const written = await recordConfirmation(database, check, planRelease(payment));
    if (written !== null) {
      if (decision.release) onReleased();
      if (written.isNewUnitError) onUnitError?.(payment, written.stopsCurrency);
      const contradicts = contradictsPaid(payment, check);
      logChange(logger, payment, check, contradicts);
      const { outcome, release: released } = decision;
      return { outcome, status: check.nextStatus, released, contradicts };
    }
    const fresh = await loadPayment(database, payment.reference, payment.mode);
    if (fresh === null) throw new Error(`Bug: payment ${first.reference} is gone`);
    // The count of before we asked: a hint that came after our question is not answered by this answer.
    payment = { ...fresh, hints: first.hints };
    // There may be a newer answer, where a process stood still for longer than its lease.
    if (cause === 'operator' || decide(payment, answer, gateway.dialect.verify).release) answer = await ask();
  }
  throw new Error(`Bug: payment ${first.reference} moved ${MAX_TRIES} times while it was confirmed`);
}

function checkToWrite(
  payment: Payment,
  decision: Decision,
  answer: VerifyAnswer,
  cause: Cause,
): CheckToWrite {
  const evidence = answer.kind === 'record' ? answer.evidence : null;
  return {
    payment,
    decision,
    cause,
    ...nextState(payment, decision),
    statusWord: evidence?.statusWord?.slice(0, 64).replace(/[\p{Cc}\p{Cs}]/gu, '?') ?? null,
    contradiction: evidence?.contradiction ?? null,
    ...provenMoney(payment, decision, answer),
    httpStatus: answer.httpStatus,
    // Most answers are ordinary waiting; their digest is enough.
    body: decision.outcome === 'pending' ? null : answer.body,
    bodySha256: answer.bodySha256,
  };
}

/** The payment's next status and next check. At the horizon, a last answer expires what still waits. */
function nextState(
  payment: Payment,
  { outcome, nextStatus }: Decision,
): Pick<CheckToWrite, 'nextStatus' | 'nextCheckSec'> {
  // A paid payment leaves the schedule, also after an answer that contradicts it: there is no way back
  // from paid, so a scheduled check could change nothing. The journal has the contradiction, a webhook
  // causes one more check, and reconciliation raises a contradiction that lasts.
  if (nextStatus === 'paid' || outcome === 'paid') return { nextStatus, nextCheckSec: null };
  const nextSec = nextCheckSec(payment.ageSec);
  if (nextSec !== null) return { nextStatus, nextCheckSec: nextSec };
  const isWaiting = nextStatus === 'open' || nextStatus === 'ambiguous' || nextStatus === 'created';
  if (!isWaiting) return { nextStatus, nextCheckSec: null };
  // An unreadable answer proves nothing, so it expires nothing. After some days of them a person must look.
  if (outcome === 'unreadable') {
    return payment.ageSec > LAST_ANSWER_BY_SEC
      ? { nextStatus: 'held', nextCheckSec: null }
      : { nextStatus, nextCheckSec: ASK_AGAIN_SEC };
  }
  return { nextStatus: 'expired', nextCheckSec: null };
}

/**
 * The money that the answer shows. If it pays, or is other money of the same currency, the expected value
 * stands for a field that may be absent.
 */
function provenMoney(
  payment: Payment,
  { outcome }: Decision,
  answer: VerifyAnswer,
): { answeredAmount: bigint | null; answeredCurrency: string | null } {
  if (outcome === 'paid') return { answeredAmount: payment.amount, answeredCurrency: payment.currency };
  if (answer.kind !== 'record') return { answeredAmount: null, answeredCurrency: null };
  const { amount, currency } = answer.evidence;
  const isOfCurrency = outcome === 'underpaid' || outcome === 'overpaid';
  return {
    answeredAmount: amount.is === 'read' ? amount.value : null,
    answeredCurrency: currency.is === 'read' ? currency.value : isOfCurrency ? payment.currency : null,
  };
}

function contradictsPaid(before: Payment, { decision, answeredAmount }: CheckToWrite): boolean {
  if (before.status !== 'paid' || decision.outcome === 'paid') return false;
  if (answeredAmount === null || before.accepted === null) return true;
  // Of less that a person accepted more may come.
  if (decision.outcome === 'underpaid') return answeredAmount < before.accepted;
  return decision.outcome !== 'overpaid' || answeredAmount !== before.accepted;
}

function logChange(log: Logger, before: Payment, check: CheckToWrite, contradicts: boolean): void {
  const { reference, orderId } = before;
  const { decision, nextStatus, cause, contradiction } = check;
  const why = contradiction === null ? {} : { contradiction };
  const fields = { reference, orderId, cause, outcome: decision.outcome, payment: nextStatus, ...why };
  if (decision.release) log.info(fields, 'order is paid');
  else if (contradicts) log.warn(fields, 'verify contradicts a paid order');
  else if (nextStatus === 'held' && before.status !== 'held') log.warn(fields, 'payment held for review');
  else if (nextStatus !== before.status) log.info(fields, 'payment changed');
  else log.debug(fields, 'payment checked');
}
