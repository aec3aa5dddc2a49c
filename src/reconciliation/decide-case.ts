import type { CaseClass } from '../cases/classes.ts';
import { effectOf, type Decision, type Effect, type CaseSituation } from '../cases/decisions.ts';
import { acceptDoubts, book } from '../ledger/ledger.ts';
import { isNumberUsed, writeRefund, type ActParts } from '../payments/acts.ts';
import { changeOrder, changeUnmatched } from '../payments/change-order.ts';
import {
  hasHeldMoney,
  ledgerIn,
  orderFacts,
  partPaymentOf,
  verifyBalanceIn,
  type AggregatePayment,
} from '../payments/aggregate.ts';
import { record, setCase, setLedger, setOrder, setPayment, type Change } from '../payments/change.ts';
import { findPaidBy, isIdOfPart } from '../payments/used-id.ts';
import { askNow } from '../payments/due.ts';
import { hasStalePart, markPaid } from '../payments/mark-paid.ts';
import { deadlineFrom, priceEndsAt } from '../orders/order.ts';
import { isSameDigest } from '../platform/ids.ts';
import type { Case } from '../platform/prisma/client.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';

type Texts = Record<'by' | 'note', string>;
/** `number`: of the refund. `seen`: the digest of the case that the person saw. */
type Deciding = Texts & { id: bigint; as: Decision; number: string | null; elsewhere: boolean; seen: Uint8Array };

/**
 * Applies a person's decision about a case, once. If the decision may pay the order, verify is
 * asked first.
 * @returns whether the order is paid by it
 * @throws {UserFacingError} why it is not allowed, or that the case has changed since the person
 * looked at it
 */
export async function decideCase(parts: ActParts, deciding: Deciding): Promise<boolean> {
  const { id, as, by } = deciding;
  const found = await parts.prisma.case.findUnique({ where: { id, mode: parts.policy.mode } });
  if (found === null) throw refused(id, 'does not exist');
  const mayPay = found.orderId !== null && (as === 'accept' || (as === 'refund' && found.class === 'overpaid'));
  if (mayPay && !(await askNow(parts, found.reference, 'person')))
    throw refused(id, 'is not decided: verify must show the money first, and it could not be asked');
  const { reference, orderId } = found;
  const paidBy = mayPay ? await findOrderPaidBy(parts, reference) : null;
  const work = (change: Change) => applyDecision(change, reference, deciding, paidBy);
  const isPaid = await (orderId === null
    ? changeUnmatched(parts, reference, by, work)
    : changeOrder(parts, orderId, by, work));
  parts.onMessage();
  if (isPaid === null) throw refused(id, CHANGED);
  return isPaid;
}

/**
 * The order that was paid by the provider transaction in verify's newest answer. Null: none. A
 * provider transaction pays one order. If two decisions use one at the same moment, a key of
 * `proof_payments` refuses the second.
 */
async function findOrderPaidBy({ prisma, policy }: ActParts, reference: string): Promise<string | null> {
  const where = { reference, outcome: { not: 'unreadable' as const } };
  const newest = await prisma.verification.findFirst({ where, orderBy: { id: 'desc' }, select: { serviceId: true } });
  return newest?.serviceId == null ? null : findPaidBy(prisma, policy.mode, newest.serviceId);
}

const CHANGED = 'has changed since you looked at it: look at it again';
const refused = (id: bigint, why: string): UserFacingError => new UserFacingError(`case ${id} ${why}`);

function applyDecision(change: Change, reference: string, deciding: Deciding, paidBy: string | null): boolean {
  const { aggregate } = change;
  const { id, as, note, number, elsewhere } = deciding;
  const payment = aggregate.payments.find((one) => one.reference === reference);
  const open = payment?.cases.find((one) => one.id === id && isDecidable(change, payment, one));
  if (payment === undefined || open === undefined || !isSameDigest(open.digest, deciding.seen))
    throw refused(id, CHANGED);
  if (isNumberUsed(aggregate, number))
    throw refused(id, `is not decided: the refund ${number ?? ''} of this order is written down already`);
  const effect = effectOf(situationOf(change, payment, open, as, elsewhere));
  if (typeof effect === 'string') throw refused(id, `is not decided: ${effect}`);
  record(change, 'decided', reference, { case: String(id), decision: as, note, number });
  bookEffect(change, payment, open, effect, deciding, paidBy);
  if (effect.endsOrder) endUnpaidOrder(change, deciding);
  // Only an explanation acknowledges what was seen. After any other decision, what is left opens a
  // case.
  const acknowledged = as === 'explain' ? open.digest : null;
  setCase(change, open, { decision: as, acknowledged, closedAt: change.now, closedBy: change.by, note, number });
  // Only now the case says `ask-rest`. The error rolls the whole change back.
  if (as === 'ask-rest' && partPaymentOf(aggregate, payment) === 0n)
    throw refused(
      id,
      'is not decided: verify’s newest answer must be readable, and must show all of the held money as paid',
    );
  return effect.marksPaid;
}

/** A case is open, or it asked for the rest and its part payment still waits. */
function isDecidable(
  { aggregate }: Change,
  payment: AggregatePayment,
  { closedAt, decision, currency }: Case,
): boolean {
  if (closedAt === null) return true;
  const isOther = payment.cases.some((one) => one.closedAt === null && one.currency === currency);
  return decision === 'ask-rest' && !isOther && partPaymentOf(aggregate, payment) > 0n;
}

function situationOf(
  { aggregate }: Change,
  payment: AggregatePayment,
  open: Case,
  as: Decision,
  elsewhere: boolean,
): CaseSituation {
  const { currency } = open;
  const facts = orderFacts(aggregate, payment);
  return {
    as,
    elsewhere,
    case: open as Case & { class: CaseClass },
    ledger: ledgerIn(payment, currency),
    order: facts && { ...facts, isOurCurrency: currency === facts.currency },
    verifyBalance: verifyBalanceIn(payment, currency),
  };
}

/** What the decision books, and the proof of payment if it pays the order. */
function bookEffect(
  change: Change,
  payment: AggregatePayment,
  { id, currency }: Case,
  { booking, marksPaid }: Effect,
  { as, by, note, number }: Deciding,
  paidBy: string | null,
): void {
  if (booking.refunded !== undefined)
    writeRefund(change, [{ payment, amount: booking.refunded }], {
      amount: booking.refunded,
      elsewhere: false,
      reason: note,
      externalId: number,
      by,
    });
  else if (as === 'ask-rest') waitForRest(change, payment);
  else {
    const before = ledgerIn(payment, currency);
    // The person accepts the money in spite of any doubt about it.
    const known = as === 'accept' ? acceptDoubts(before) : before;
    const data = { case: String(id), decision: as, note, number };
    const what = as === 'accept' ? 'accepted' : 'decided';
    setLedger(change, payment, currency, book(known, booking, change.now), { what, data });
  }
  if (!marksPaid) return;
  if (hasStalePart(change, payment, booking.captured ?? 0n))
    throw refused(id, 'is not decided: verify must show the part payments of the order first. Try again');
  const [answer] = payment.verifications;
  if (answer?.serviceId != null && isIdOfPart(change.aggregate, payment, answer.serviceId))
    throw refused(
      id,
      'is not decided: the service’s id of it is that of another payment of this order. Ask the service which charge it is, and refund what came twice',
    );
  if (paidBy !== null) throw refused(id, `is not decided: the service’s id of it has paid the order ${paidBy}`);
  markPaid(change, payment, booking.captured ?? 0n, { by, note });
}

/**
 * The customer gets at least as many days for the rest as for a new order. Then the order ends in
 * any case, and a person is told about the held money again. Until then the part payment is
 * verified, even if its checks had ended.
 */
function waitForRest(change: Change, payment: AggregatePayment): void {
  const { aggregate, now, policy } = change;
  setPayment(change, payment, { nextCheckAt: payment.nextCheckAt ?? now });
  const end = priceEndsAt(aggregate, policy.payableDays);
  const payBy = deadlineFrom(now, policy.payableDays);
  if (end === null || end < payBy) setOrder(change, { payBy });
}

/** An unpaid order ends with the decision about its last held money. */
function endUnpaidOrder(change: Change, { by, note }: Deciding): void {
  const { aggregate, now } = change;
  const isOpen = aggregate.id !== '' && aggregate.proof === null && aggregate.endedAt === null;
  if (isOpen && !aggregate.payments.some(hasHeldMoney))
    setOrder(change, { endedAt: now, endedBy: by, endReason: note });
}
