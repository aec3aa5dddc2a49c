import words from '../custom/words.json' with { type: 'json' };
import { dueSeen, MISSING_MONEY } from '../cases/classes.ts';
import { BOOK_FIGURES } from '../ledger/books.ts';
import { BY_DEADLINE, restOf } from '../orders/order.ts';
import { figuresOf, ledgerOf, oursOf } from '../ledger/stored.ts';
import { isInProof } from '../payments/aggregate.ts';
import { formatMajor } from '../platform/money.ts';
import type { Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { atText, whenText, type View } from '../custom/days.ts';

/**
 * The words about an order or a case, the same on a page, on a terminal and in a CSV. Each text has
 * at most 140 letters.
 */
export type Words = { badge: string; sentence: string; next: string };

type Texts = Record<'states' | 'cases', Record<string, Words>> &
  Record<'happened' | 'who' | 'decisions' | 'roles', Record<string, string>>;
/**
 * To change the words or the language, edit src/custom/words.json. Names in braces are replaced by
 * values.
 */
export const TEXTS: Texts = words;

/**
 * The rows that the words of a payment, an order and a case need: `prisma.order.findMany({ include:
 * TOLD })`.
 */
export const TOLD_PAYMENT = { ledgers: true, cases: { orderBy: { id: 'asc' } } } satisfies Prisma.PaymentInclude;
export const TOLD = {
  payments: { include: TOLD_PAYMENT, orderBy: { createdAt: 'asc' } },
  refunds: { orderBy: { id: 'asc' } },
  proof: { include: { payments: true } },
  messages: { where: { type: 'order.paid' }, omit: { body: true } },
} satisfies Prisma.OrderInclude;
export const TOLD_CASE = { payment: { include: TOLD_PAYMENT }, order: { include: TOLD } } satisfies Prisma.CaseInclude;

export type ToldPayment = Prisma.PaymentGetPayload<{ include: typeof TOLD_PAYMENT }>;
export type Told = Prisma.OrderGetPayload<{ include: typeof TOLD }>;
export type ToldCase = Prisma.CaseGetPayload<{ include: typeof TOLD_CASE }>;

export function amountText({ amount, currency }: { amount: bigint; currency: string }): string {
  const [whole = '', ...fraction] = formatMajor({ amount, currency }).replace('-', '−').split('.');
  return `${currency} ${[whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.')}`;
}

/**
 * `o***1@example.com` for olu1: enough to tell customers apart, and not to write to them. A name of
 * up to three letters shows only the first one.
 */
export function masked(email: string): string {
  const [, first = '', rest = '', host = ''] = /^(.?)(.*)(@[^@]*)$/su.exec(email) ?? [];
  const [last = ''] = rest.length < 3 ? [] : (/.$/su.exec(rest) ?? []);
  return host === '' ? email : `${first}***${last}${host}`;
}

type Maybe<Value> = Value | null | undefined;
const clip = (text: Maybe<string>, letters = 24): string =>
  text && text.length > letters ? `${text.slice(0, letters - 1).trimEnd()}…` : (text ?? '');
export const whoText = (by: Maybe<string>): string => clip(TEXTS.who[by ?? ''] ?? by);

/** Replaces each name in braces by its value, and cuts the text to 140 letters. */
export function write(text: string, values: Record<string, string>): string {
  const filled = text.replace(/\{(\w+)\}/g, (_, one: string) => values[one] ?? '');
  const [first = '', ...rest] = filled.trim().replace(/\s+/g, ' ');
  return clip(first.toUpperCase() + rest.join(''), 140);
}

/** The words of a state or a class. They are empty if the key is unknown. */
export function wordsOf(texts: Record<string, Words>, key: string, values: Record<string, string> = {}): Words {
  const { badge = '', sentence = '', next = '' } = texts[key] ?? {};
  return { badge: write(badge, values), sentence: write(sentence, values), next: write(next, values) };
}

/**
 * The words for a balance that differs from the history.
 * @param amount minor units; above 0: the balance is higher
 */
export function balanceWords({ amount, currency }: { amount: bigint; currency: string }): Words {
  const [side, size] = amount < 0n ? ['lower', -amount] : ['higher', amount];
  return wordsOf(TEXTS.cases, 'balance', { side, size: amountText({ amount: size, currency }) });
}

const SHOWN = ['received', 'outflow', 'held', 'missing', 'notShown', 'cameAndWent', 'ours'] as const;
const FIGURES = [...SHOWN, ...BOOK_FIGURES] as const;
export type Totals = Record<(typeof FIGURES)[number], bigint>;

/**
 * The figures of the payments' ledgers, summed in one currency, in minor units. `ours` excludes
 * missing money.
 */
export function totalsOf(payments: readonly Pick<ToldPayment, 'ledgers'>[], currency: string): Totals {
  const rows = payments.flatMap(({ ledgers }) => ledgers).filter((row) => row.currency === currency);
  const all = rows.map((row) => {
    const ledger = ledgerOf(row);
    const figures = figuresOf(ledger);
    // Money that came and went before a decision counts as returned, although nothing is booked.
    const returned = ledger.books.returned + figures.cameAndWent;
    return { ...figures, ...ledger.books, returned, ours: oursOf(ledger, figures.missing) };
  });
  const sums = FIGURES.map((one) => [one, all.reduce((sum, row) => sum + row[one], 0n)]);
  return Object.fromEntries(sums) as Totals;
}

/**
 * The words of an order, by its ledgers. Missing or held money comes first, whether a case is open
 * or not.
 */
export function orderWords(order: Told, view: View): Words {
  const [trouble] = order.payments.flatMap(troublesOf).sort((a, b) => a.rank - b.rank);
  if (trouble !== undefined) return caseWords({ ...trouble, order }, view);
  // An unpaid order may have received money in another currency.
  const rows = order.payments.flatMap(({ ledgers }) => ledgers);
  const shown = rows.find((row) => figuresOf(ledgerOf(row)).received > 0n);
  const currency = (order.proof === null ? shown?.currency : null) ?? order.currency;
  return wordsOf(TEXTS.states, stateOf(order, currency), valuesOf(order, currency, view));
}

type Trouble = Pick<ToldCase, 'class' | 'held' | 'missing' | 'currency' | 'evidence'> & { payment: ToldPayment };

/**
 * The missing and held money of a payment, by its ledgers, and its open cases. A case gives the
 * reason.
 */
function troublesOf(payment: ToldPayment): (Trouble & { rank: number })[] {
  const open = payment.cases.filter(({ closedAt, held }) => closedAt === null && held === 0n);
  const booked = payment.ledgers.flatMap((row) => {
    const { currency } = row;
    const { held, missing } = figuresOf(ledgerOf(row));
    const about = { evidence: {}, missing, currency, payment, held };
    if (missing > 0n) return { ...about, class: 'reversed', rank: 0 };
    const why = payment.cases.findLast((one) => one.currency === currency && one.held > 0n);
    const trouble = { ...about, class: why?.class ?? 'unproven', evidence: why?.evidence ?? {} };
    // A part payment that waits for the rest needs no person.
    return held > 0n ? { ...trouble, rank: isRestAsked(payment) ? 4 : 2 } : [];
  });
  return [...booked, ...open.map((one) => ({ ...one, payment, rank: one.missing > 0n ? 1 : 3 }))];
}

/**
 * The customer was asked to pay the rest, and no later decision or open case is about the held money.
 */
export function isRestAsked({ cases }: ToldPayment): boolean {
  const relevant = cases.filter(
    ({ held, decision, closedAt }) => held > 0n && (decision !== null || closedAt === null),
  );
  return relevant.at(-1)?.decision === 'ask-rest';
}

export function caseWords({ order, ...one }: Trouble & { order: Told | null }, view: View): Words {
  const { payment, currency, held, missing } = one;
  const said = one.evidence as Record<string, Maybe<string>>;
  const money = (amount: bigint): string => amountText({ amount, currency });
  const totals = totalsOf([payment], currency);
  const received = totals.received > held ? totals.received : held;
  const rest = order === null ? 0n : restOf(order);
  const due = dueSeen(said, currency) ?? order?.amount ?? 0n;
  const isAsked = isRestAsked(payment) && (order?.partPaid ?? 0n) > 0n;
  const isPaidBy = order !== null && isInProof(order, payment.reference);
  const more = held > 0n ? ', held' : '';
  const keptOrNot = isPaidBy ? '' : ', kept';
  const ofReversed = isExplained(payment, currency) ? ', explained' : keptOrNot;
  const kinds: Record<string, string> = { contradicted: more, unproven: more, reversed: ofReversed };
  if (isAsked) kinds.underpaid = ', asked';
  return wordsOf(TEXTS.cases, one.class + (kinds[one.class] ?? ''), {
    ...(order && valuesOf({ ...order, payments: [payment] }, currency, view)),
    held: money(held),
    missing: money(missing),
    short: money(isAsked ? rest : due - held),
    over: money(held - due),
    received: money(received),
    ratio: ratioText(received, payment.amount),
    reference: clip(payment.reference, 9),
    paidBy: clip(order?.paidReference, 9),
    ended: order?.endedBy === BY_DEADLINE ? 'was over' : 'was cancelled',
    word: clip(said.verifyWord ?? said.historyWord, 30),
    doubt: clip(said.verifyDoubt, 70),
  });
}

/** `100 times as much` or `1/100 of it`, of two amounts that are a power of ten apart. */
function ratioText(received: bigint, asked: bigint): string {
  return received > asked ? `${received / (asked || 1n)} times as much` : `1/${asked / (received || 1n)} of it`;
}

function stateOf(order: Told, currency: string): string {
  const { payments, proof, endedBy, status } = order;
  const [message] = order.messages;
  const { ours, writtenOff, retained, returned, refunded, notShown } = totalsOf(payments, currency);
  if (writtenOff > 0n) return 'lost';
  if (proof === null) {
    if (status === 'pending') return payments.some((one) => one.checkoutUrl !== null) ? 'waiting' : 'unopened';
    if (retained > 0n) return 'kept';
    if (returned > 0n) return notShown > 0n ? 'notShown' : 'refunded';
    if (endedBy === null) return 'failed';
    return endedBy === BY_DEADLINE ? 'tooLate' : 'cancelled';
  }
  if (ours > 0n && message?.sentAt === null) {
    if (message.heldBy !== null) return 'heldBack';
    if (message.tries > 0 && message.nextTryAt === null) return 'givenUp';
    if (message.lastError !== null) return 'silent';
  }
  if (notShown > 0n) return 'notShown';
  if (refunded > 0n) return ours > 0n ? 'partRefunded' : 'refunded';
  if (explanationIn(order) !== undefined) return 'explained';
  // Returned surplus was never part of the price, so the order stays paid.
  if (returned > 0n) return 'surplusBack';
  if (proof.acceptedBy !== null) return 'accepted';
  return message?.sentAt === null && message.nextTryAt === null ? 'unconnected' : 'sent';
}

/** The badge while a refund is not shown yet. Returned surplus leaves a paid order paid. */
function partBadge({ proof }: Told, { refunded, ours }: Totals): string {
  if (proof !== null && refunded === 0n) return 'Paid';
  return ours > 0n ? 'Part refunded' : 'Refunded';
}

/** A person explained the newest case about this loss, and the loss is still as it was then. */
function isExplained({ cases }: ToldPayment, currency: string): boolean {
  const newest = cases.findLast((one) => one.currency === currency);
  const isLoss = newest !== undefined && newest.class !== 'refund_not_shown';
  return isLoss && newest.decision === 'explain' && newest.acknowledged !== null;
}

/** The newest case that a person explained, and that is still as it was then. */
function explanationIn({ payments }: Told) {
  return payments
    .flatMap(({ cases }) => cases)
    .findLast((one) => one.decision === 'explain' && one.acknowledged !== null);
}

const REFUND_SHOWS_MS = 10 * 86_400_000;

function valuesOf(order: Told, currency: string, view: View): Record<string, string> {
  const { payments, refunds, proof } = order;
  const sums = totalsOf(payments, currency);
  const booked = sums.captured + sums.retained;
  const money = (amount: bigint): string => amountText({ amount, currency });
  const decided = payments.flatMap(({ cases }) => cases).filter(({ decision }) => decision !== null);
  const back = decided.findLast(({ decision }) => decision === 'refund');
  const ending =
    decided.findLast((one) => one.decision === (sums.writtenOff > 0n ? 'write-off' : 'keep')) ?? decided.at(-1);
  const number = refunds.at(-1)?.externalId ?? back?.number;
  const gone = [...refunds.map((one) => one.at), ...decided.map((one) => one.closedAt)].map(Number);
  const [nextCheck] = payments.flatMap((one) => one.nextCheckAt ?? []).sort((a, b) => Number(a) - Number(b));
  return {
    ...Object.fromEntries(FIGURES.map((one) => [one, money(sums[one])])),
    ...messageValues(order.messages[0], view),
    price: amountText(order),
    booked: money(booked),
    got: money(booked + sums.returned),
    back: money(sums.refunded + sums.returned),
    part: partBadge(order, sums),
    refunded: refunds.length > 0 || back ? 'refunded' : 'reversed',
    number: number ? `, number ${clip(number)}` : '',
    showBy: whenText(new Date(Math.max(...gone, 0) + REFUND_SHOWS_MS), view),
    paidAt: at(order.paidAt, view),
    nextCheck: nextCheck === undefined || nextCheck < view.now ? 'in a moment' : atText(nextCheck, view),
    acceptedBy: clip(proof?.acceptedBy),
    acceptedOn: at(proof?.at, view),
    explainedBy: clip(explanationIn(order)?.closedBy),
    explainedOn: at(explanationIn(order)?.closedAt, view),
    decidedBy: clip(ending?.closedBy),
    decidedOn: at(ending?.closedAt, view),
    deadline: at(order.payBy ?? order.endedAt, view).replace(/^on /, ''),
    endedBy: whoText(order.endedBy),
    endedOn: at(order.endedAt, view),
    endReason: clip(order.endReason, 70),
  };
}

const at = (time: Maybe<Date>, view: View): string => (time ? atText(time, view) : '');

type ToldMessage = Told['messages'][number] | undefined;

/** The values about the message that sends the order to shipping. */
function messageValues(message: ToldMessage, view: View): Record<string, string> {
  const isMissing = message?.heldBy === MISSING_MONEY;
  return {
    shipping: shippingText(message, view),
    tries: String(message?.tries),
    nextTry: at(message?.nextTryAt, view),
    holder: isMissing ? 'its money is not surely shown' : `${clip(message?.heldBy)} holds it`,
    stop: message?.nextTryAt === null ? 'stop the parcel' : 'send nothing',
  };
}

function shippingText(message: ToldMessage, view: View): string {
  if (message?.sentAt != null) return `Sent to shipping ${atText(message.sentAt, view)}.`;
  if (message?.tries === 0 && message.nextTryAt === null) return 'No shipping system is connected.';
  return message?.heldBy === null ? 'It is not sent to shipping yet.' : 'Nothing was sent.';
}

/** One sentence for each case. */
export async function caseSentences(prisma: PrismaClient, ids: bigint[], timeZone: string): Promise<string[]> {
  const cases = await prisma.case.findMany({ where: { id: { in: ids } }, include: TOLD_CASE, orderBy: { id: 'asc' } });
  return cases.map((one) => caseWords(one, { now: new Date(), timeZone }).sentence);
}
