import {
  acknowledges,
  classify,
  DEPENDS_ON_DUE,
  MISSING_MONEY,
  saidBySources,
  type Facts,
  type Finding,
} from '../cases/classes.ts';
import type { MessageType } from '../platform/message-types.ts';
import { book } from '../ledger/ledger.ts';
import { isOutflowLate, returnedByItself } from '../ledger/position.ts';
import { sum } from '../ledger/sources.ts';
import { BY_DEADLINE, statusOf } from '../orders/order.ts';
import { isSameDigest } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import type { Case } from '../platform/prisma/client.ts';
import {
  balanceIn,
  currenciesOf,
  hasHeldMoney,
  hasOpenCase,
  isDecided,
  isInProof,
  ledgerIn,
  orderFacts,
  partPaid,
  partPaymentOf,
  positionIn,
  type Aggregate,
  type AggregatePayment,
} from './aggregate.ts';
import {
  NoCaseId,
  record,
  recordPositions,
  setCase,
  setHold,
  setLedger,
  setOrder,
  setPayment,
  tell,
  writeMessages,
  type Change,
} from './change.ts';
import { statusOfPayment } from './decide.ts';
import { isOver } from './schedule.ts';

const DAY_MS = 86_400_000;

/** Makes cases, statuses and the held message agree with the ledgers of an order. */
export function conclude(change: Change): void {
  for (const payment of change.aggregate.payments) {
    for (const currency of currenciesOf(payment)) {
      bookReturnedByItself(change, payment, currency);
      concludeCase(change, payment, currency);
    }
    concludePayment(change, payment);
  }
  concludeOrder(change);
  recordPositions(change);
  const isNews = change.rows.journal.some(({ what }) => what === 'case opened' || what === 'case changed');
  const hold = holdOf(change);
  for (const message of change.aggregate.messages) setHold(change, message, hold, isNews);
  writeMessages(change, hold);
}

/** Surplus that left before anybody decided about it was returned. */
function bookReturnedByItself(change: Change, payment: AggregatePayment, currency: string): void {
  const ledger = ledgerIn(payment, currency);
  const returned = returnedByItself(ledger);
  if (returned > 0n)
    setLedger(change, payment, currency, book(ledger, { returned }, change.now), { what: 'returned by itself' });
}

/**
 * At most one case per payment and currency is open: the most urgent finding that no `explain`
 * decision has acknowledged. An order of 8500 was paid, and then:
 *
 *   what happens                     finding                  case
 *   verify reports 8500 as gone      reversed 8500            1 opens
 *   3500 of it come back             reversed 5000            1 changes, and so does its digest
 *   a person writes off 5000         none                     1 is closed by the decision
 *   the 5000 come back, too          refund_not_shown 5000    2 opens
 */
function concludeCase(change: Change, payment: AggregatePayment, currency: string): void {
  const findings = findingsOf(change, payment, currency);
  refreshAcknowledged(change, payment, currency, findings);
  refreshAskedRest(change, payment, findings);
  const isPartPayment = partPaymentOf(change.aggregate, payment) > 0n;
  const isExpected = (one: Finding): boolean => isPartPayment && one.class === 'underpaid';
  const finding = findings.find((one) => !isExpected(one) && !isAcknowledged(payment, currency, one));
  const open = payment.cases.find((one) => one.closedAt === null && one.currency === currency);
  // A finding of another class opens a new case, so that people are told about it.
  const stays = open !== undefined && open.class === finding?.class;
  if (open !== undefined && !stays) {
    setCase(change, open, { closedAt: change.now, closedBy: change.by });
    record(change, 'case closed', payment.reference, { case: String(open.id), class: open.class });
  }
  if (finding === undefined) return;
  if (!stays) openCase(change, payment, currency, finding);
  else if (!isSameDigest(open.digest, finding.digest)) {
    setCase(change, open, seenIn(change.aggregate, payment, currency, finding));
    record(change, 'case changed', payment.reference, { case: String(open.id), class: open.class });
  }
}

function openCase(change: Change, payment: AggregatePayment, currency: string, finding: Finding): void {
  const { aggregate, now, ids, rows } = change;
  const { reference } = payment;
  const id = ids.cases.shift();
  if (id === undefined) throw new NoCaseId('a case needs an id');
  const opened = {
    id,
    mode: aggregate.mode,
    reference,
    orderId: aggregate.id || null,
    currency,
    openedAt: now,
    closedAt: null,
    closedBy: null,
    decision: null,
    acknowledged: null,
    note: null,
    number: null,
    ...seenIn(aggregate, payment, currency, finding),
  };
  payment.cases.push(opened);
  rows.cases.add(opened);
  record(change, 'case opened', reference, { case: String(id), class: opened.class });
  tell(change, 'case.opened', aboutCase(opened));
  if (opened.class === 'reversed' && isInProof(aggregate, reference)) tell(change, 'order.reversed', aboutCase(opened));
  if (opened.class === 'unit_error') rows.unitErrors.push(currency);
}

/** What a case says about its finding. `due`: what this payment would have to pay, in decimals. */
function seenIn(aggregate: Aggregate, payment: AggregatePayment, currency: string, finding: Finding) {
  const { class: name, held, missing, digest } = finding;
  const historyWord = payment.ledgers.find((one) => one.currency === currency)?.historyWord ?? null;
  const said = saidBySources(payment.verifications[0], ledgerIn(payment, currency), historyWord, currency);
  const facts = DEPENDS_ON_DUE.includes(name) ? orderFacts(aggregate, payment) : null;
  const due = facts === null ? null : formatMajor({ amount: facts.due, currency: facts.currency });
  return { class: name, held, missing, digest, evidence: { ...said, due } };
}

function isAcknowledged({ cases }: AggregatePayment, currency: string, finding: Finding): boolean {
  return cases.some((one) => one.currency === currency && acknowledges(one, finding));
}

/**
 * A finding stays acknowledged while it stays the same. If it disappears and comes again, it opens
 * a case again. After an upgrade from version 1.0.0, a finding gets its digest when the rows of the
 * history have been read.
 */
function refreshAcknowledged(
  change: Change,
  payment: AggregatePayment,
  currency: string,
  findings: readonly Finding[],
): void {
  const isSum = ledgerIn(payment, currency).history.transactions.some((one) => one.isSum === true);
  for (const one of payment.cases) {
    if (one.currency !== currency || one.acknowledged === null) continue;
    const finding = findings.find((some) => acknowledges(one, some));
    if (finding === undefined) setCase(change, one, { acknowledged: null });
    else if (!isSum && !isSameDigest(one.acknowledged, finding.digest))
      setCase(change, one, { acknowledged: finding.digest });
  }
}

/**
 * While a part payment waits for the rest, its closed `ask-rest` case is kept up to date with the
 * money that is held.
 */
function refreshAskedRest(change: Change, payment: AggregatePayment, findings: readonly Finding[]): void {
  const asked = payment.cases.findLast(({ decision }) => decision === 'ask-rest');
  const finding = findings.find((one) => one.class === 'underpaid');
  if (asked === undefined || finding === undefined || isSameDigest(asked.digest, finding.digest)) return;
  if (partPaymentOf(change.aggregate, payment) > 0n)
    setCase(change, asked, seenIn(change.aggregate, payment, asked.currency, finding));
}

function aboutCase({ id, class: name, reference, currency, held, missing }: Case) {
  const [heldText, missingText] = [held, missing].map((amount) => formatMajor({ amount, currency }));
  return { reference, case: { id: String(id), class: name, held: heldText, missing: missingText, currency } };
}

/** All findings about a payment in a currency, the most urgent first. */
function findingsOf(change: Change, payment: AggregatePayment, currency: string): Finding[] {
  const { aggregate, now } = change;
  const { unreadableSince, answeredAt } = payment;
  const [newest] = payment.verifications;
  const ledger = ledgerIn(payment, currency);
  const facts: Facts = {
    position: positionIn(change, payment, currency),
    reported: ledger,
    isInHistory: payment.ledgers.some((one) => one.currency === currency && one.historyWord !== null),
    order: orderFacts(aggregate, payment),
    currency,
    asked: payment.amount,
    isInProof: isInProof(aggregate, payment.reference),
    isDecided: isDecided(payment),
    verify: newest === undefined ? null : { ...newest, balance: balanceIn(newest, currency) },
    isOutflowLate: isOutflowLate(ledger, answeredAt),
    isUnreadable: unreadableSince !== null && now.getTime() - unreadableSince.getTime() > DAY_MS,
  };
  return classify(facts);
}

function concludePayment(change: Change, payment: AggregatePayment): void {
  const { aggregate, policy } = change;
  const { answeredAt, createdAt, unreadableSince } = payment;
  const status = statusOfPayment({
    status: payment.status,
    isPaidBy: isInProof(aggregate, payment.reference),
    hasHeldMoney: hasHeldMoney(payment),
    hasOpenCase: hasOpenCase(payment),
    outcome: payment.verifications[0]?.outcome ?? null,
    isOver: answeredAt !== null && unreadableSince === null && isOver(createdAt, answeredAt, policy.payableDays),
  });
  if (status !== payment.status) setPayment(change, payment, { status });
}

const isDone = ({ status }: AggregatePayment): boolean => ['expired', 'failed', 'refused'].includes(status);

/** Messages about a change of status. Paid, cancelled and reopened are sent where they happen. */
const TOLD: Record<string, MessageType> = { review: 'order.review', failed: 'order.failed', expired: 'order.expired' };

function concludeOrder(change: Change): void {
  const { aggregate, policy, now } = change;
  if (aggregate.id === '') return;
  const { payments } = aggregate;
  const newest = payments.at(-1);
  const isOpen = aggregate.proof === null && aggregate.endedAt === null && aggregate.payBy === null;
  // None of its payments can be paid any more, and each was verified after that.
  const isLast = newest?.status === 'expired' && isOver(newest.createdAt, now, policy.payableDays);
  if (isOpen && isLast && payments.every(isDone)) setOrder(change, { endedAt: now, endedBy: BY_DEADLINE });
  const partPaidBefore = aggregate.partPaid;
  if (partPaid(aggregate) !== partPaidBefore) concludePartPaid(change);
  concludeStatus(change);
  if (aggregate.partPaid > partPaidBefore) tell(change, 'order.part_paid');
}

/** Other held money may now be exactly the amount due. Verifying it again then pays the order. */
function concludePartPaid(change: Change): void {
  const { aggregate, now } = change;
  setOrder(change, { partPaid: partPaid(aggregate) });
  if (aggregate.proof !== null) return;
  const others = aggregate.payments.filter((one) => hasHeldMoney(one) && partPaymentOf(aggregate, one) === 0n);
  for (const payment of others) setPayment(change, payment, { nextCheckAt: now });
}

function concludeStatus(change: Change): void {
  const { aggregate } = change;
  const { payments } = aggregate;
  const newest = payments.at(-1);
  // Part payments are held, too, but the order waits for the rest and not for a person.
  const isUnexpected = (one: AggregatePayment): boolean => hasHeldMoney(one) && partPaymentOf(aggregate, one) === 0n;
  const status = statusOf({
    isPaid: aggregate.proof !== null,
    endedBy: aggregate.endedBy,
    hasHeldMoney: payments.some(isUnexpected),
    hasOpenCase: payments.some(hasOpenCase),
    isRestDue: aggregate.partPaid > 0n,
    payments,
  });
  if (status === aggregate.status) return;
  setOrder(change, { status });
  record(change, `order ${status}`, null);
  const type = TOLD[status];
  if (type !== undefined) tell(change, type, newest && { reference: newest.reference });
}

/**
 * Why `order.paid` must not be sent now: some of its money is missing, written off, or all of it
 * refunded. Null: it may be sent, whether a case is open or not.
 */
export function holdOf(change: Change): string | null {
  const { payments, proof, currency } = change.aggregate;
  if (proof === null) return null;
  const paying = payments.filter(({ reference }) => isInProof(change.aggregate, reference));
  const books = paying.map((payment) => ledgerIn(payment, currency).books);
  const isMissing = paying.some((payment) => positionIn(change, payment, currency).missing > 0n);
  const isWrittenOff = books.some(({ writtenOff }) => writtenOff > 0n);
  const captured = sum(books.map((one) => one.captured));
  const refunded = sum(books.map((one) => one.refunded));
  return isMissing || isWrittenOff || refunded >= captured ? MISSING_MONEY : null;
}
