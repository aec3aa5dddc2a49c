import { classify, MISSING_MONEY, sourcesOf, type Facts, type Finding } from '../cases/classes.ts';
import { goneBy, shortfall, showsIn } from '../cases/predicate.ts';
import type { MessageType } from '../fulfilment/messages.ts';
import { BY_DEADLINE, statusOf } from '../orders/order.ts';
import { digestOf, isSameDigest } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import type { Case } from '../platform/prisma/client.ts';
import { moneyOf, NoCaseId, record, setCase, setHold, setOrder, setPayment, tell } from './change.ts';
import type { Change, Dossier, DossierPayment, MoneyRow } from './change.ts';
import { statusOfPayment } from './decide.ts';
import { standingOf } from './money.ts';
import { isOver } from './schedule.ts';

const DAY_MS = 86_400_000;

/** Makes cases, statuses and the held message agree with the ledger of an order as it stands. */
export function conclude(change: Change): void {
  for (const payment of change.dossier.payments) {
    const currencies = new Set([payment.currency, ...payment.money.map(({ currency }) => currency)]);
    for (const currency of currencies) concludeCase(change, payment, moneyOf(payment, currency));
    concludePayment(change, payment);
  }
  concludeOrder(change);
  const isNews = change.rows.journal.some(({ what }) => what === 'case opened' || what === 'case changed');
  const hold = holdOf(change);
  for (const message of change.dossier.messages) setHold(change, message, hold, isNews);
}

/** One open case at most: the first finding that no decision covers. */
function concludeCase(change: Change, payment: DossierPayment, money: MoneyRow): void {
  endCovers(change, payment, money);
  const finding = findingOf(change, payment, money);
  const open = payment.cases.find((one) => one.closedAt === null && one.currency === money.currency);
  // An answer that may be about other money closes nothing.
  if (finding === undefined && shortfallOf(change, payment, money).unclearUntil !== null) return;
  // What is of another class now is told anew.
  if (open !== undefined && open.class !== finding?.class) {
    setCase(change, open, { closedAt: change.now, closedBy: change.by });
    record(change, 'case closed', payment.reference, { case: String(open.id), class: open.class });
  }
  if (finding === undefined) return;
  if (open?.closedAt !== null) openCase(change, payment, money, finding);
  else if (!isSameDigest(open.digest, finding.digest)) {
    setCase(change, open, seenIn(payment, money, finding));
    record(change, 'case changed', payment.reference, { case: String(open.id), class: open.class });
  }
}

function openCase(change: Change, payment: DossierPayment, money: MoneyRow, finding: Finding): void {
  const { dossier, now, ids, rows } = change;
  const { reference } = payment;
  const id = ids.cases.shift();
  if (id === undefined) throw new NoCaseId('a case needs an id');
  const about = { mode: dossier.mode, reference, orderId: dossier.id || null, currency: money.currency };
  const open = {
    openedAt: now,
    closedAt: null,
    closedBy: null,
    decision: null,
    covers: null,
    note: null,
    number: null,
  };
  const opened = { id, ...about, ...open, ...seenIn(payment, money, finding) };
  payment.cases.push(opened);
  rows.cases.add(opened);
  record(change, 'case opened', reference, { case: String(id), class: opened.class });
  tell(change, 'case.opened', aboutCase(opened));
  const isPaidBy = dossier.release?.reference === reference;
  if (opened.class === 'reversed' && isPaidBy) tell(change, 'order.reversed', aboutCase(opened));
  if (opened.class === 'unit_error') rows.unitErrors.push(money.currency);
}

/** What a case says about its finding. */
function seenIn(payment: DossierPayment, money: MoneyRow, { class: name, held, missing, digest }: Finding) {
  return { class: name, held, missing, digest, evidence: sourcesOf(payment.verifications[0], money) };
}

export const NOTHING_LEFT = digestOf('nothing is left');

/** A decision covers what it left for as long as that stands. What comes again is news. */
function endCovers(change: Change, payment: DossierPayment, money: MoneyRow): void {
  const covering = payment.cases.filter(({ covers, currency }) => covers !== null && currency === money.currency);
  if (covering.length === 0 || shortfallOf(change, payment, money).unclearUntil !== null) return;
  const digests = [NOTHING_LEFT, ...findingsOf(change, payment, money).map(({ digest }) => digest)];
  for (const one of covering.filter(({ covers }) => !digests.some((digest) => covers && isSameDigest(covers, digest))))
    setCase(change, one, { covers: NOTHING_LEFT });
}

function aboutCase({ id, class: name, reference, currency, held, missing }: Case) {
  const [heldText, missingText] = [held, missing].map((amount) => formatMajor({ amount, currency }));
  return { reference, case: { id: String(id), class: name, held: heldText, missing: missingText, currency } };
}

/** The loudest finding about a payment in a currency that no decision covers. */
export function findingOf(change: Change, payment: DossierPayment, money: MoneyRow): Finding | undefined {
  const covers = payment.cases.flatMap((one) => (one.currency === money.currency && one.covers ? [one.covers] : []));
  return findingsOf(change, payment, money).find(({ digest }) => !covers.some((one) => isSameDigest(one, digest)));
}

/** All of them, the loudest first. */
export function findingsOf(change: Change, payment: DossierPayment, money: MoneyRow): Finding[] {
  const { dossier, now } = change;
  const [newest] = payment.verifications;
  const facts: Facts = {
    standing: standingOf(money),
    beyond: money.listBeyond,
    order: orderFacts(dossier),
    isRefundLate: isRefundLate(change, payment, money),
    currency: money.currency,
    isReleased: dossier.release?.reference === payment.reference,
    isDecided: isDecided(payment),
    short: shortfallOf(change, payment, money).short,
    verify: newest === undefined ? null : { ...newest, shows: showsIn(newest, money.currency) },
    isUnreadable: payment.unreadableSince !== null && now.getTime() - payment.unreadableSince.getTime() > DAY_MS,
  };
  return classify(facts);
}

const REFUND_MS = 10 * DAY_MS;

/** So long after the newest refund, the list must show it. Of a write-off nobody expects that. */
function isRefundLate({ dossier }: Change, payment: DossierPayment, { listHeardAt }: MoneyRow): boolean {
  const decided = payment.cases.flatMap((one) => (one.decision === 'refund' && one.closedAt ? [one.closedAt] : []));
  const refunds = dossier.refunds.filter((one) => !one.elsewhere && dossier.release?.reference === payment.reference);
  const newest = Math.max(0, ...[...refunds.map(({ at }) => at), ...decided].map(Number));
  return newest > 0 && listHeardAt !== null && listHeardAt.getTime() >= newest + REFUND_MS;
}

/** A person has given its money up or taken it. Who only explained has not. */
export const isDecided = ({ cases }: DossierPayment): boolean =>
  cases.some(({ decision }) => decision !== null && decision !== 'explain');

/** A list within its lag may be heard about it: nobody booked a refund, and of a paid order nothing went back. */
export function isUntouched({ dossier: { release } }: Change, { money }: DossierPayment): boolean {
  return money.every((m) => standingOf(m).expected === 0n && (release === null || m.sendBack + m.lost === 0n));
}

/** Where an order stands, as the rules look at it; null: it is a stranger's payment, and there is none. */
export function orderFacts({ id, amount, currency, release, endedAt }: Dossier) {
  return id === '' ? null : { amount, currency, isReleased: release !== null, isEnded: endedAt !== null };
}

/** The predicate of a payment in a currency: nothing falls short unless it released its order in that currency. */
export function shortfallOf(change: Change, payment: DossierPayment, money: MoneyRow): ReturnType<typeof shortfall> {
  const { now, terms } = change;
  const { release } = change.dossier;
  if (release?.reference !== payment.reference || release.currency !== money.currency)
    return { short: [], unclearUntil: null };
  const [newest] = payment.verifications;
  // A doubted answer proves nothing, unless a person accepted this doubt.
  const isProof =
    newest?.doubt === null || (release.acceptedBy !== null && newest?.doubt === release.verification.doubt);
  const verify = newest && { ...newest, shows: isProof ? showsIn(newest, money.currency) : 0n, gone: goneBy(newest) };
  const listShows = money.listDoubted && release.acceptedBy === null ? 0n : money.listShows;
  const list = { word: money.listWord, shows: listShows, gone: money.listGone, heardAt: money.listHeardAt };
  const refunded = money.refunded - money.refundedElsewhere;
  const standing = { ...standingOf(money), lost: money.lost };
  const released = { standing, refunded, release, verify: verify ?? null, list };
  return shortfall(released, now, terms.lagMin);
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

export const hasHeldMoney = ({ money }: DossierPayment): boolean => money.some((row) => standingOf(row).held > 0n);
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
 * Why `order.paid` must not go out now: its money is missing, unclear or given back whole. null: it may, case or not.
 */
export function holdOf(change: Change): string | null {
  const { payments, release, currency } = change.dossier;
  const payment = payments.find(({ reference }) => reference === release?.reference);
  if (payment === undefined) return null;
  const money = moneyOf(payment, currency);
  const { short, unclearUntil } = shortfallOf(change, payment, money);
  const isSound = short.length === 0 && unclearUntil === null && standingOf(money).reversed === 0n;
  return isSound && money.lost === 0n && money.refunded < money.earned ? null : MISSING_MONEY;
}
