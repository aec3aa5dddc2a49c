import { dateOf, type View } from '../custom/days.ts';
import type { Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { amountText, TOLD, totalsOf, write } from '../reporting/words.ts';
import words from './words.json' with { type: 'json' };

/** Who wants other words, or another language, edits words.json; what stands in braces is filled in. */
export const WORDS = words;
export type Words = typeof words;
export type State = keyof Words['states'];

const SHOWN = {
  ...TOLD,
  lines: { orderBy: { position: 'asc' } },
  journal: { where: { counter: { in: ['sendBack', 'refunded', 'lost'] } }, orderBy: { id: 'asc' } },
} satisfies Prisma.OrderInclude;
export type ShownOrder = Prisma.OrderGetPayload<{ include: typeof SHOWN }>;

export function findShown(prisma: PrismaClient, mode: Mode, id: string): Promise<ShownOrder | null> {
  return prisma.order.findUnique({ where: { id, mode }, include: SHOWN });
}

/** `amount` is in minor units. */
type Row = { name: string; amount: bigint; currency: string; isSum: boolean };
/** Money that went. `at`: when it was written down; null: nobody has yet. */
type Move = Pick<Row, 'amount' | 'currency'> & {
  what: 'refunded' | 'wentBack' | 'takenBack';
  at: Date | null;
  number: string | null;
};
export type Told = {
  state: State;
  /** What may be filled into a text, by name. */
  values: Record<string, string>;
  /** What was bought, its price, what came where it is another amount, what went, and what is paid in the end. */
  rows: Row[];
  /** The payment that a bank would be asked about; null: none, or nobody needs to ask. */
  reference: string | null;
};

type Sums = ReturnType<typeof totalsOf> & { currency: string };

/** What the shopper is told of an order: by its ledger, whether a case is open or not. Pure. */
export function tell(order: ShownOrder, words: Words, view: View): Told {
  const { refunds, language } = words;
  const came = order.payments.flatMap(({ money }) => money.filter((row) => row.came > 0n));
  const currencies = [...new Set([order.currency, ...came.map((row) => row.currency)])];
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
      ...{ price: amountText(order), number: last.number },
      ...{ earned: money((one) => one.earned), held: money((one) => one.held), kept: money((one) => one.kept) },
      ...{ over: money((one) => one.held - order.amount), extra: money((one) => one.sendBack) },
      gone: money((one) => one.reversed + one.lost || one.sendBack),
      refunds: write(back.length === 1 ? refunds.one : refunds.several, { amount, ...last }),
    },
    rows: sums.flatMap(({ currency, came, held, ours }, index) => {
      const row = (name: string, amount: bigint, isSum = false): Row => ({ name, amount, currency, isSum });
      const price = index === 0 ? order.amount : 0n;
      const goods = order.lines.map(({ quantity: n, description, unitAmount }) =>
        row(`${n} × ${description}`, unitAmount * BigInt(n)),
      );
      const went = moves.filter((one) => one.currency === currency);
      return [
        ...(index === 0 ? [...goods, row(words.order.total, price, true)] : []),
        ...(came > 0n && came !== price ? [row(words.order.came, came)] : []),
        ...went.map((move) => row(write(words.order[move.what], told(move)), -move.amount)),
        ...(went.length > 0 ? [row(words.order.inTheEnd, held + ours, true)] : []),
      ];
    }),
    reference: state === 'paid' ? null : askedAbout(order),
  };
}

/** `26 November`, and with the year where it is another one. */
function dayText(at: Date, language: string, { now, timeZone }: View): string {
  const year = dateOf(at, timeZone).slice(0, 4) === dateOf(now, timeZone).slice(0, 4) ? undefined : 'numeric';
  return new Intl.DateTimeFormat(language, { timeZone, day: 'numeric', month: 'long', year }).format(at);
}

/** `26 November, 13:33`. */
export function momentText(at: Date, language: string, view: View): string {
  const time = new Intl.DateTimeFormat(language, { timeZone: view.timeZone, timeStyle: 'short' }).format(at);
  return `${dayText(at, language, view)}, ${time}`;
}

function movesOf({ journal }: ShownOrder, { currency, reversed }: Sums): Move[] {
  const written = journal.flatMap(({ counter, amount, at, data, ...row }): Move[] => {
    if (row.currency !== currency || amount === null) return [];
    const { number = null } = data as { number?: string | null };
    // Held money that went before anybody decided about it was refunded by nobody.
    const isOurs = counter === 'refunded' || row.what === 'decided';
    const what = counter === 'lost' ? 'takenBack' : isOurs ? 'refunded' : 'wentBack';
    return [{ what, amount, currency, at, number }];
  });
  const unwritten = { what: 'takenBack', amount: reversed, currency, at: null, number: null } as const;
  return reversed > 0n ? [...written, unwritten] : written;
}

function stateOf(order: ShownOrder, sums: readonly Sums[], moves: readonly Move[]): State {
  const { status, release, payments } = order;
  const has = (...figures: (keyof Sums)[]) => sums.some((one) => figures.some((figure) => BigInt(one[figure]) > 0n));
  const isRefunded = moves.some(({ what }) => what === 'refunded');
  if (has('reversed', 'lost')) return has('ours', 'held') ? 'partTakenBack' : 'takenBack';
  if (release !== null) {
    if (has('held')) return 'twice';
    if (has('refunded')) return has('ours') ? 'partRefunded' : 'refunded';
    if (has('sendBack')) return isRefunded ? surplusState(order) : 'extraBack';
    return has('kept') ? 'extraKept' : 'paid';
  }
  if (has('held') || status === 'review') return heldState(order, sums);
  // A page that was never handed out cannot have been paid.
  const isOpen = payments.some((one) => one.checkoutUrl !== null && one.status === 'open');
  const isTried = payments.some((one) => one.status === 'failed' || one.status === 'expired');
  if (status === 'pending') return isOpen ? 'waiting' : isTried ? 'notPaid' : 'unpaid';
  if (has('kept')) return 'kept';
  if (has('sendBack')) return isRefunded ? 'refunded' : 'takenBack';
  return status === 'cancelled' ? 'cancelled' : status === 'expired' ? 'over' : 'notPaid';
}

/** The surplus of the payment that paid the order, or another payment. */
function surplusState({ payments, releasedReference }: ShownOrder): State {
  const paid = payments.find(({ reference }) => reference === releasedReference);
  return paid?.money.some(({ sendBack }) => sendBack > 0n) ? 'muchRefunded' : 'twiceRefunded';
}

function heldState({ payments, amount, endedAt }: ShownOrder, [own, ...others]: readonly Sums[]): State {
  if (others.some(({ held }) => held > 0n)) return 'otherCurrency';
  const held = own?.held ?? 0n;
  if (held > 0n && endedAt !== null) return 'late';
  // Only the class knows whether it is the shopper who paid another amount, or the program that misreads it.
  const why = new Set(payments.flatMap(({ cases }) => cases.flatMap((one) => (one.held > 0n ? one.class : []))));
  if (why.has('underpaid') && held < amount) return 'little';
  return why.has('overpaid') && held > amount ? 'much' : 'review';
}

function askedAbout({ payments, releasedReference }: ShownOrder): string | null {
  const odd = payments.findLast(({ money }) => money.some((row) => row.came > row.earned || row.went > 0n));
  const paid = payments.find(({ reference }) => reference === releasedReference);
  return (odd ?? paid ?? payments.at(-1))?.reference ?? null;
}
