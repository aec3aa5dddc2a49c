import { classify, MISSING_MONEY, saidBySources, type Facts, type Finding } from '../cases/classes.ts';
import type { MessageType } from '../fulfilment/messages.ts';
import { book } from '../ledger/ledger.ts';
import { isOutflowLate, positionOf, returnedByItself, type Position } from '../ledger/position.ts';
import { figuresOf, ledgerOf } from '../ledger/stored.ts';
import { BY_DEADLINE, statusOf } from '../orders/order.ts';
import { isSameDigest } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import type { Case } from '../platform/prisma/client.ts';
import { currenciesOf, ledgerIn, NoCaseId, record, recordPositions, setCase, setHold, setLedger } from './change.ts';
import { setOrder, setPayment, tell, type Change, type Dossier, type DossierPayment } from './change.ts';
import { statusOfPayment } from './decide.ts';
import { isOver } from './schedule.ts';

const DAY_MS = 86_400_000;

/** Makes cases, statuses and the held message agree with the ledgers of an order. */
export function conclude(change: Change): void {
  for (const payment of change.dossier.payments) {
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
  for (const message of change.dossier.messages) setHold(change, message, hold, isNews);
  // The message of an order that becomes paid by this change is held from its beginning.
  for (const message of change.rows.newMessages) if (message.type === 'order.paid') message.heldBy = hold;
}

/** Surplus that left before anybody decided about it was returned. */
function bookReturnedByItself(change: Change, payment: DossierPayment, currency: string): void {
  const ledger = ledgerIn(payment, currency);
  const returned = returnedByItself(ledger);
  if (returned > 0n)
    setLedger(change, payment, currency, book(ledger, { returned }, change.now), { what: 'returned by itself' });
}

/** At most one case is open: the most urgent finding that no explain decision has acknowledged. */
function concludeCase(change: Change, payment: DossierPayment, currency: string): void {
  const findings = findingsOf(change, payment, currency);
  refreshAcknowledged(change, payment, currency, findings);
  const finding = findings.find((one) => !isAcknowledged(payment, currency, one));
  const open = payment.cases.find((one) => one.closedAt === null && one.currency === currency);
  // A finding of another class is told anew.
  const stays = open !== undefined && open.class === finding?.class;
  if (open !== undefined && !stays) {
    setCase(change, open, { closedAt: change.now, closedBy: change.by });
    record(change, 'case closed', payment.reference, { case: String(open.id), class: open.class });
  }
  if (finding === undefined) return;
  if (!stays) openCase(change, payment, currency, finding);
  else if (!isSameDigest(open.digest, finding.digest)) {
    setCase(change, open, seenIn(payment, currency, finding));
    record(change, 'case changed', payment.reference, { case: String(open.id), class: open.class });
  }
}

function openCase(change: Change, payment: DossierPayment, currency: string, finding: Finding): void {
  const { dossier, now, ids, rows } = change;
  const { reference } = payment;
  const id = ids.cases.shift();
  if (id === undefined) throw new NoCaseId('a case needs an id');
  const opened = {
    id,
    mode: dossier.mode,
    reference,
    orderId: dossier.id || null,
    currency,
    openedAt: now,
    closedAt: null,
    closedBy: null,
    decision: null,
    acknowledged: null,
    note: null,
    number: null,
    ...seenIn(payment, currency, finding),
  };
  payment.cases.push(opened);
  rows.cases.add(opened);
  record(change, 'case opened', reference, { case: String(id), class: opened.class });
  tell(change, 'case.opened', aboutCase(opened));
  const isPaidBy = dossier.release?.reference === reference;
  if (opened.class === 'reversed' && isPaidBy) tell(change, 'order.reversed', aboutCase(opened));
  if (opened.class === 'unit_error') rows.unitErrors.push(currency);
}

/** What a case says about its finding. */
function seenIn(payment: DossierPayment, currency: string, { class: name, held, missing, digest }: Finding) {
  const historyWord = payment.ledgers.find((one) => one.currency === currency)?.historyWord ?? null;
  const evidence = saidBySources(payment.verifications[0], ledgerIn(payment, currency), historyWord, currency);
  return { class: name, held, missing, digest, evidence };
}

/** Version 1.0.0 explained the case. Its digests are others, so the first finding that is equal takes its place. */
const EXPLAINED_BEFORE = Buffer.from('pending');

function acknowledges(one: Case, finding: Finding): boolean {
  if (one.acknowledged === null) return false;
  if (isSameDigest(one.acknowledged, finding.digest)) return true;
  return isSameDigest(one.acknowledged, EXPLAINED_BEFORE) && isSameAsBefore(one, finding);
}

/** Version 1.0.0 called some losses reversed that are contradicted now, and the other way round. */
function isSameAsBefore(one: Case, finding: Finding): boolean {
  const areLosses = [one, finding].every((each) => each.missing > 0n && each.class !== 'refund_not_shown');
  const isSameKind = one.class === finding.class || areLosses;
  return isSameKind && one.held === finding.held && one.missing === finding.missing;
}

function isAcknowledged({ cases }: DossierPayment, currency: string, finding: Finding): boolean {
  return cases.some((one) => one.currency === currency && acknowledges(one, finding));
}

/**
 * What was acknowledged stays so while it stays the same. If it comes again, it is news. A finding whose rows of the
 * history are not known since version 1.0.0 gets its digest when they have been read.
 */
function refreshAcknowledged(
  change: Change,
  payment: DossierPayment,
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

function aboutCase({ id, class: name, reference, currency, held, missing }: Case) {
  const [heldText, missingText] = [held, missing].map((amount) => formatMajor({ amount, currency }));
  return { reference, case: { id: String(id), class: name, held: heldText, missing: missingText, currency } };
}

/** All findings about a payment in a currency, the most urgent first. */
function findingsOf(change: Change, payment: DossierPayment, currency: string): Finding[] {
  const { dossier, now } = change;
  const { unreadableSince, answeredAt } = payment;
  const [newest] = payment.verifications;
  const ledger = ledgerIn(payment, currency);
  const facts: Facts = {
    position: positionIn(change, payment, currency),
    reported: ledger,
    isInHistory: payment.ledgers.some((one) => one.currency === currency && one.historyWord !== null),
    order: orderFacts(dossier),
    currency,
    isProof: dossier.release?.reference === payment.reference,
    isDecided: isDecided(payment),
    verify: newest === undefined ? null : { ...newest, shows: shownIn(newest, currency) },
    isOutflowLate: isOutflowLate(ledger, answeredAt),
    isUnreadable: unreadableSince !== null && now.getTime() - unreadableSince.getTime() > DAY_MS,
  };
  return classify(facts);
}

/** The position of a payment's ledger in a currency. */
export function positionIn({ terms }: Change, payment: DossierPayment, currency: string): Position {
  return positionOf(ledgerIn(payment, currency), terms.lagMin);
}

/** The balance that an answer of verify shows in a currency: 0 if it speaks of none. */
export function shownIn(answer: { currency: string | null; shows: bigint | null }, currency: string): bigint {
  return answer.currency === currency ? (answer.shows ?? 0n) : 0n;
}

/** A person has decided what the money is for. An explanation does not decide that. */
export const isDecided = ({ cases }: DossierPayment): boolean =>
  cases.some(({ decision }) => decision !== null && decision !== 'explain');

/** Where an order stands, as the rules look at it. Null: the payment is unmatched. */
export function orderFacts({ id, amount, currency, release, endedAt }: Dossier) {
  return id === '' ? null : { amount, currency, isPaid: release !== null, isEnded: endedAt !== null };
}

function concludePayment(change: Change, payment: DossierPayment): void {
  const { dossier, terms } = change;
  const { answeredAt, createdAt, unreadableSince } = payment;
  const status = statusOfPayment({
    status: payment.status,
    isReleased: dossier.release?.reference === payment.reference,
    hasHeldMoney: hasHeldMoney(payment),
    hasOpenCase: hasOpenCase(payment),
    outcome: payment.verifications[0]?.outcome ?? null,
    isOver: answeredAt !== null && unreadableSince === null && isOver(createdAt, answeredAt, terms.payableDays),
  });
  if (status !== payment.status) setPayment(change, payment, { status });
}

export const hasHeldMoney = ({ ledgers }: DossierPayment): boolean =>
  ledgers.some((row) => figuresOf(ledgerOf(row)).held > 0n);
export const hasOpenCase = ({ cases }: DossierPayment): boolean => cases.some(({ closedAt }) => closedAt === null);
const isDone = ({ status }: DossierPayment): boolean => ['expired', 'failed', 'refused'].includes(status);

/** What the shop may want to hear of a change of status; paid, cancelled and reopened are told where they happen. */
const TOLD: Record<string, MessageType> = { review: 'order.review', failed: 'order.failed', expired: 'order.expired' };

function concludeOrder(change: Change): void {
  const { dossier, terms, now } = change;
  if (dossier.id === '') return;
  const { payments } = dossier;
  const newest = payments.at(-1);
  const isOpen = dossier.release === null && dossier.endedAt === null && dossier.payBy === null;
  // No payment of it may be paid any more, and each was asked about after that.
  const isLast = newest?.status === 'expired' && isOver(newest.createdAt, now, terms.payableDays);
  if (isOpen && isLast && payments.every(isDone)) setOrder(change, { endedAt: now, endedBy: BY_DEADLINE });
  const status = statusOf({
    isReleased: dossier.release !== null,
    endedBy: dossier.endedBy,
    hasHeldMoney: payments.some(hasHeldMoney),
    hasOpenCase: payments.some(hasOpenCase),
    payments,
  });
  if (status === dossier.status) return;
  setOrder(change, { status });
  record(change, `order ${status}`, null);
  const type = TOLD[status];
  if (type !== undefined) tell(change, type, newest && { reference: newest.reference });
}

/**
 * Why `order.paid` must not be sent now: its money is missing, written off, or refunded whole. Null: it may be sent,
 * whether a case is open or not.
 */
export function holdOf(change: Change): string | null {
  const { payments, release, currency } = change.dossier;
  const payment = payments.find(({ reference }) => reference === release?.reference);
  if (payment === undefined) return null;
  const { captured, refunded, writtenOff } = ledgerIn(payment, currency).books;
  const { missing } = positionIn(change, payment, currency);
  return missing === 0n && writtenOff === 0n && refunded < captured ? null : MISSING_MONEY;
}
