import { dateOf, type View } from '../custom/days.ts';
import type { Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { amountText, TOLD, totalsOf, write, type Totals } from '../reporting/words.ts';
import { dueOf } from '../orders/order.ts';
import words from './words.json' with { type: 'json' };

/** To change the words or the language, edit words.json. Names in braces are replaced by values. */
export const WORDS = words;
export type Words = typeof words;
export type State = keyof Words['states'];

/** The figures of the journal for money that left. The last two names are from version 1.0.0. */
const GONE = new Map([
  ['returned', 'returned'],
  ['refunded', 'refunded'],
  ['writtenOff', 'writtenOff'],
  ['recovered', 'recovered'],
  ['sendBack', 'returned'],
  ['lost', 'writtenOff'],
]);

const SHOWN = {
  ...TOLD,
  lines: { orderBy: { position: 'asc' } },
  journal: { where: { counter: { in: [...GONE.keys()] } }, orderBy: { id: 'asc' } },
} satisfies Prisma.OrderInclude;
export type ShownOrder = Prisma.OrderGetPayload<{ include: typeof SHOWN }>;

export function findShown(prisma: PrismaClient, mode: Mode, id: string): Promise<ShownOrder | null> {
  return prisma.order.findUnique({ where: { id, mode }, include: SHOWN });
}

/** `amount` is in minor units. */
type Row = { name: string; amount: bigint; currency: string; isSum: boolean };
/**
 * Money that left. `at` is the time when this was recorded, or null if nobody has recorded it yet.
 */
type Move = Pick<Row, 'amount' | 'currency'> & {
  what: 'refunded' | 'wentBack' | 'takenBack' | 'recovered';
  at: Date | null;
  number: string | null;
};
export type Told = {
  state: State;
  /** The values for the names in the texts. */
  values: Record<string, string>;
  /**
   * The receipt: the goods, the price, the received amount if it differs, the money that left, and
   * the final amount.
   */
  rows: Row[];
  /** The reference to ask a bank about. null: there is none, or no reason to ask. */
  reference: string | null;
};

type Sums = Totals & { currency: string };

/**
 * What the shopper reads about an order. It follows from the ledger, whether a case is open or not.
 * Pure.
 */
export function tell(order: ShownOrder, words: Words, view: View): Told {
  const { refunds, language } = words;
  const currencies = [...new Set([order.currency, ...order.payments.flatMap(receivedIn)])];
  const sums = currencies.map((currency): Sums => ({ currency, ...totalsOf(order.payments, currency) }));
  const moves = sums.flatMap((one) => movesOf(order, one));
  const state = stateOf(order, sums, moves);
  const money = (figure: (one: Sums) => bigint): string => {
    const one = sums.find((some) => figure(some) > 0n);
    return one === undefined ? '' : amountText({ amount: figure(one), currency: one.currency });
  };
  const told = ({ at, number }: Pick<Move, 'at' | 'number'>) => ({
    day: at === null ? '' : dayText(at, language, view),
    number: number === null ? '' : write(refunds.number, { number }),
  });
  const back = moves.filter(({ what }) => what === 'refunded');
  const last = told(back.at(-1) ?? { at: null, number: null });
  const amount = money(({ currency }) =>
    back.reduce((sum, one) => sum + (one.currency === currency ? one.amount : 0n), 0n),
  );
  return {
    state,
    values: {
      price: amountText(order),
      number: last.number,
      due: amountText({ amount: dueOf(order), currency: order.currency }),
      captured: money((one) => one.captured),
      held: money((one) => one.held),
      kept: money((one) => one.retained),
      over: money((one) => one.held - order.amount),
      extra: money((one) => one.returned),
      gone: money((one) => one.missing + one.writtenOff || one.returned),
      refunds: write(back.length === 1 ? refunds.one : refunds.several, { amount, ...last }),
    },
    rows: [
      ...goodsOf(order, words),
      ...sums.flatMap((one) => {
        const went = moves.filter(({ currency }) => currency === one.currency);
        const rows = went.map((move) => ({ name: write(words.order[move.what], told(move)), amount: -move.amount }));
        return moneyRows(order, words, one, rows);
      }),
    ],
    reference: state === 'paid' ? null : askedAbout(order),
  };
}

/** The goods and their total. */
function goodsOf({ lines, amount, currency }: ShownOrder, words: Words): Row[] {
  const goods = lines.map(({ quantity, description, unitAmount }) => {
    return { name: `${quantity} × ${description}`, amount: unitAmount * BigInt(quantity), currency, isSum: false };
  });
  return [...goods, { name: words.order.total, amount, currency, isSum: true }];
}

/**
 * The rows of a currency: the received money if it differs from the price, the money that left, and
 * the net amount.
 */
function moneyRows(order: ShownOrder, words: Words, sums: Sums, went: Pick<Row, 'name' | 'amount'>[]): Row[] {
  const { currency, received, held, ours } = sums;
  const price = currency === order.currency ? order.amount : 0n;
  const row = (name: string, amount: bigint, isSum = false): Row => ({ name, amount, currency, isSum });
  const rows = went.map(({ name, amount }) => row(name, amount));
  if (received > 0n && received !== price) rows.unshift(row(words.order.came, received));
  if (went.length > 0) rows.push(row(words.order.inTheEnd, held + ours, true));
  return rows;
}

/** `26 November`, with the year if it is another one. */
function dayText(at: Date, language: string, { now, timeZone }: View): string {
  const year = dateOf(at, timeZone).slice(0, 4) === dateOf(now, timeZone).slice(0, 4) ? undefined : 'numeric';
  return new Intl.DateTimeFormat(language, { timeZone, day: 'numeric', month: 'long', year }).format(at);
}

/** `26 November, 13:33`. */
export function momentText(at: Date, language: string, view: View): string {
  const time = new Intl.DateTimeFormat(language, { timeZone: view.timeZone, timeStyle: 'short' }).format(at);
  return `${dayText(at, language, view)}, ${time}`;
}

/** The currencies in which a payment received money. */
function receivedIn(payment: ShownOrder['payments'][number]): string[] {
  const currencies = payment.ledgers.map(({ currency }) => currency);
  return currencies.filter((currency) => totalsOf([payment], currency).received > 0n);
}

function movesOf({ journal }: ShownOrder, { currency, missing, cameAndWent }: Sums): Move[] {
  const written = journal.flatMap(({ counter, amount, at, data, ...row }): Move[] => {
    if (row.currency !== currency || amount === null) return [];
    const { number = null } = data as { number?: string | null };
    // Held money that left before a decision was not refunded by the shop.
    const figure = GONE.get(counter ?? '');
    const isOurs = figure === 'refunded' || row.what === 'decided';
    const returned = isOurs ? 'refunded' : 'wentBack';
    // A refund that did not leave after all is money that stayed.
    if (figure === 'recovered') return [{ what: 'recovered', amount: -amount, currency, at, number }];
    const what = figure === 'writtenOff' ? 'takenBack' : returned;
    return [{ what, amount, currency, at, number }];
  });
  const unwritten = { currency, at: null, number: null };
  if (cameAndWent > 0n) written.push({ ...unwritten, what: 'wentBack', amount: cameAndWent });
  if (missing > 0n) written.push({ ...unwritten, what: 'takenBack', amount: missing });
  return written;
}

function stateOf(order: ShownOrder, sums: readonly Sums[], moves: readonly Move[]): State {
  const { status, proof, payments } = order;
  const has = (...figures: (keyof Sums)[]) => sums.some((one) => figures.some((figure) => BigInt(one[figure]) > 0n));
  const isRefunded = moves.some(({ what }) => what === 'refunded');
  if (has('missing', 'writtenOff')) return has('ours', 'held') ? 'partTakenBack' : 'takenBack';
  if (proof !== null) {
    if (has('held')) return 'twice';
    if (has('refunded')) return has('ours') ? 'partRefunded' : 'refunded';
    if (has('returned')) return isRefunded ? surplusState(order) : 'extraBack';
    return has('retained') ? 'extraKept' : 'paid';
  }
  if (has('held') || status === 'review') return heldState(order, sums);
  // A payment page that was never handed out cannot have been paid.
  const isOpen = payments.some((one) => one.checkoutUrl !== null && one.status === 'open');
  const isTried = payments.some((one) => one.status === 'failed' || one.status === 'expired');
  if (status === 'pending' && isOpen) return 'waiting';
  if (status === 'pending') return isTried ? 'notPaid' : 'unpaid';
  if (has('retained')) return 'kept';
  if (has('returned')) return isRefunded ? 'refunded' : 'takenBack';
  if (status === 'cancelled') return 'cancelled';
  return status === 'expired' ? 'over' : 'notPaid';
}

/** Tells whether the surplus came with the payment that paid the order or with another one. */
function surplusState({ payments, paidReference }: ShownOrder): State {
  const paid = payments.find(({ reference }) => reference === paidReference);
  return paid?.ledgers.some(({ returned }) => returned > 0n) ? 'muchRefunded' : 'twiceRefunded';
}

function heldState(order: ShownOrder, [own, ...others]: readonly Sums[]): State {
  const { payments, amount, endedAt, partPaid, status } = order;
  if (others.some(({ held }) => held > 0n)) return 'otherCurrency';
  const held = own?.held ?? 0n;
  if (held > 0n && endedAt !== null) return 'late';
  if (partPaid > 0n && status !== 'review') return 'rest';
  // Only the class of the case tells whether the shopper paid another amount or the program
  // misreads the amount.
  const why = new Set(payments.flatMap(({ cases }) => cases.flatMap((one) => (one.held > 0n ? one.class : []))));
  if (why.has('underpaid') && held < amount) return 'little';
  return why.has('overpaid') && held > amount ? 'much' : 'review';
}

function askedAbout({ payments, paidReference }: ShownOrder): string | null {
  const odd = payments.findLast((payment) =>
    payment.ledgers.some(({ currency }) => {
      const { received, captured, outflow } = totalsOf([payment], currency);
      return received > captured || outflow > 0n;
    }),
  );
  const paid = payments.find(({ reference }) => reference === paidReference);
  return (odd ?? paid ?? payments.at(-1))?.reference ?? null;
}
