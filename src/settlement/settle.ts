import { createHash } from 'node:crypto';
import type { Gateway } from '../gateway/client.ts';
import { NOBODY_WAITS, PERSON_WAITS, type VerifyAnswer } from '../gateway/verify.ts';
import type { ReleasePlan } from '../fulfilment/release.ts';
import type { Database } from '../platform/database.ts';
import type { Logger } from '../platform/logger.ts';
import { decide, type Decision, type VerificationOutcome } from './decide.ts';
import type { Cause, Payment, PaymentStatus } from './payment.ts';
import { loadPayment, recordSettlement, type Settlement } from './repository.ts';
import { nextCheckSec } from './schedule.ts';

/**
 * The one room. Shopper, webhook, clock and reconciliation may each ask for settlement; this function is the only
 * one that may mark an order paid, and it asks the service first. It stores the answer as evidence and, in the
 * same statement, moves payment and order and records the release.
 */
export type Settle = (payment: Payment, cause: Cause) => Promise<Settled>;

export type Settled = { outcome: VerificationOutcome; payment: PaymentStatus; released: boolean };

export type SettleParts = {
  database: Database;
  gateway: Gateway;
  /** How a release of now would be delivered. */
  planRelease: () => ReleasePlan;
  /** Called after a release was recorded: its delivery is due. */
  onReleased: () => void;
  logger: Logger;
};

// Each try loses to a writer that made progress, so a handful is plenty.
const MAX_TRIES = 5;

/**
 * @returns a function that throws {@link GatewayUnavailable} or {@link GatewayKeyRefused} when the service cannot be
 * asked; nothing has changed then
 */
export function createSettle(parts: SettleParts): Settle {
  return async (payment, cause) => {
    const log = parts.logger.child({ reference: payment.reference, orderId: payment.orderId, cause });
    const deadline = cause === 'return' ? PERSON_WAITS : NOBODY_WAITS;
    const answer = await parts.gateway.verify(payment.reference, payment.currency, deadline);
    return agree(parts, payment, answer, cause, log);
  };
}

/** Makes payment and order agree with the answer. Decides anew when somebody else moved them meanwhile. */
async function agree(
  { database, gateway, planRelease, onReleased }: SettleParts,
  first: Payment,
  answer: VerifyAnswer,
  cause: Cause,
  log: Logger,
): Promise<Settled> {
  let payment = first;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const decision = decide(payment, answer, gateway.dialect.verify);
    const settlement = settlementOf(payment, decision, answer, cause);
    if (await recordSettlement(database, settlement, planRelease())) {
      if (decision.release) onReleased();
      logChange(log, payment, settlement);
      return { outcome: decision.outcome, payment: settlement.status, released: decision.release };
    }
    const fresh = await loadPayment(database, payment.reference);
    if (fresh === null) break;
    payment = { ...fresh, hints: payment.hints };
  }
  throw new Error(`Bug: payment ${first.reference} moved ${MAX_TRIES} times while it was settled`);
}

function settlementOf(payment: Payment, decision: Decision, answer: VerifyAnswer, cause: Cause): Settlement {
  const next = nextCheckSec(payment.ageSec);
  const evidence = answer.kind === 'record' ? answer.evidence : null;
  const isFinal = decision.outcome === 'paid';
  return {
    payment,
    decision,
    cause,
    status: next === null ? atHorizon(decision) : decision.payment,
    nextCheckSec: isFinal ? null : next,
    statusWord: evidence?.statusWord?.slice(0, 64) ?? null,
    ...provenMoney(payment, decision, answer),
    httpStatus: answer.httpStatus,
    // Ordinary waiting is the bulk of all answers; its digest is enough.
    body: decision.outcome === 'pending' ? null : answer.body,
    bodySha256: createHash('sha256').update(answer.body).digest(),
  };
}

/** What the answer says in money. Where the dialect allows a field to be absent, the expected value stands for it. */
function provenMoney(
  payment: Payment,
  { outcome }: Decision,
  answer: VerifyAnswer,
): { answeredAmount: bigint | null; answeredCurrency: string | null } {
  if (outcome === 'paid') return { answeredAmount: payment.amount, answeredCurrency: payment.currency };
  if (answer.kind !== 'record') return { answeredAmount: null, answeredCurrency: null };
  const { amount, currency } = answer.evidence;
  return {
    answeredAmount: amount.is === 'read' ? amount.value : null,
    answeredCurrency: currency.is === 'read' ? currency.value : null,
  };
}

/** The last look has been taken: what is still waiting expires. What is held stays for a person. */
function atHorizon({ payment }: Decision): PaymentStatus {
  return payment === 'open' || payment === 'ambiguous' || payment === 'created' ? 'expired' : payment;
}

function logChange(log: Logger, before: Payment, { decision, status }: Settlement): void {
  const fields = { outcome: decision.outcome, payment: status };
  if (decision.release) log.info(fields, 'order is paid');
  else if (status === 'held' && before.status !== 'held')
    log.warn(fields, 'payment is held for a person to look at');
  else if (status !== before.status) log.info(fields, 'payment changed');
  else log.debug(fields, 'payment looked at');
}
