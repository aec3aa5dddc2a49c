import { max, min } from '../ledger/sources.ts';
import { formatMajor } from '../platform/money.ts';
import type { JournalEntry, Mode, PrismaClient } from '../platform/prisma/client.ts';
import { dateOf, startOfDay, timeOf } from '../custom/days.ts';
import { masked } from './words.ts';

/**
 * The types of movements, as the books name them. The first six change what the shop has earned.
 * `returned` and `held` change only held money.
 */
export const TYPES = ['paid', 'kept', 'recovered', 'refunded', 'reversed', 'written off', 'returned', 'held'] as const;
export type MovementType = (typeof TYPES)[number];

/** One line of the journal about money. `amount` is the change of one figure, in minor units. */
type Line = Pick<JournalEntry, 'at' | 'by' | 'data'> &
  Record<'reference' | 'counter' | 'currency', string> &
  Record<'order' | 'own_number' | 'email' | 'what', string | null> & { amount: bigint };

/** One movement of money, in minor units with its sign: the changes of earned and of held money. */
type Movement = Line & { type: MovementType; earned: bigint; held: bigint };

/**
 * How a figure of the journal counts: its type, and its sign in the earned and in the held money.
 * The last five names are from version 1.0.0, which had no figure for held money: it was what came,
 * less what was earned, kept or sent back.
 */
const COUNTERS: Record<string, { type: MovementType; earned: bigint; held: bigint }> = {
  captured: { type: 'paid', earned: 1n, held: 0n },
  retained: { type: 'kept', earned: 1n, held: 0n },
  recovered: { type: 'recovered', earned: 1n, held: 0n },
  refunded: { type: 'refunded', earned: -1n, held: 0n },
  missing: { type: 'reversed', earned: -1n, held: 0n },
  writtenOff: { type: 'written off', earned: -1n, held: 0n },
  returned: { type: 'returned', earned: 0n, held: 0n },
  held: { type: 'held', earned: 0n, held: 1n },
  came: { type: 'held', earned: 0n, held: 1n },
  earned: { type: 'paid', earned: 1n, held: -1n },
  kept: { type: 'kept', earned: 1n, held: -1n },
  sendBack: { type: 'returned', earned: 0n, held: -1n },
  lost: { type: 'written off', earned: -1n, held: 0n },
};

/** Whether a text is a month like `2026-10`. */
export const isMonth = (text: string): boolean => /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/.test(text);
export const monthAfter = (month: string, months: number): string =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + months)).toISOString().slice(0, 7);

export type Span = { gte: Date; lt: Date };
export function monthSpan(month: string, timeZone: string): Span {
  return { gte: startOfDay(`${month}-01`, timeZone), lt: startOfDay(`${monthAfter(month, 1)}-01`, timeZone) };
}

/**
 * Lifts the time limit of statements in this transaction, because reading the whole journal may
 * take longer than a request may.
 */
const unhurried = (prisma: PrismaClient) => prisma.$executeRaw`SET LOCAL statement_timeout = 0`;

/** The lines of a period about earned and held money. The lines of one change stand together. */
function linesOf(prisma: PrismaClient, mode: Mode, { gte, lt }: Span) {
  // Raw: the mode is a column of payments, which the journal names without a key.
  return prisma.$queryRaw<Line[]>`
    SELECT j.at, j."by", j.data, j.reference, j.counter, j.amount, j.currency, o.id AS order,
      external_id AS own_number, email, (SELECT string_agg(quantity || ' × ' || description, ', ' ORDER BY position)
        FROM order_lines WHERE order_id = o.id) AS what
    FROM journal j JOIN payments p USING (reference) LEFT JOIN orders o ON o.id = p.order_id
    WHERE p.mode = ${mode}::mode AND j.at >= ${gte} AND j.at < ${lt} AND counter = ANY(${Object.keys(COUNTERS)})
    ORDER BY j.at, j.reference, j.currency, j.id`;
}

/** The movements of a period, the oldest first. */
export async function movementsOf(prisma: PrismaClient, mode: Mode, span: Span): Promise<Movement[]> {
  const [, lines] = await prisma.$transaction([unhurried(prisma), linesOf(prisma, mode, span)]);
  return changesIn(lines).flatMap(movementsIn);
}

/** Groups the lines by change: they have the same time, payment and currency. */
function changesIn(lines: readonly Line[]): Line[][] {
  const changes: Line[][] = [];
  for (const line of lines) {
    const [last] = changes.at(-1) ?? [];
    const isSame =
      last?.at.getTime() === line.at.getTime() && last.reference === line.reference && last.currency === line.currency;
    if (isSame) changes.at(-1)?.push(line);
    else changes.push([line]);
  }
  return changes;
}

/**
 * The movements of one change: one for each figure. Held money that the change releases counts at
 * the movement that it became.
 *
 * An order costs 50, and 75 came. The first change has the line held +75; the decision to refund 25
 * has the lines held −75, captured +50, returned +25:
 *
 *                   earned   held
 *     held               0    +75
 *     paid             +50    −50
 *     returned           0    −25
 */
function movementsIn(change: readonly Line[]): Movement[] {
  const movements: Movement[] = [];
  let held = 0n;
  for (const line of change) {
    const counter = COUNTERS[line.counter];
    if (counter === undefined) continue;
    held += counter.held * line.amount;
    if (counter.type !== 'held')
      movements.push({ ...line, type: counter.type, earned: counter.earned * line.amount, held: 0n });
  }
  for (const type of ['paid', 'kept', 'returned'])
    for (const one of movements.filter((some) => some.type === type)) {
      one.held = min(0n, max(held, -one.amount));
      held -= one.held;
    }
  // The rest came and is held now, or left without a decision.
  const [line] = change;
  if (line !== undefined && held !== 0n)
    movements.push({ ...line, type: held > 0n ? 'held' : 'returned', earned: 0n, held });
  return movements.filter((one) => one.earned !== 0n || one.held !== 0n);
}

const PAGE = 500;

/**
 * The movements of a month in pages, the oldest first, with masked addresses.
 * @param month like `2026-10`
 */
export async function* bookPages(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const movements = await movementsOf(prisma, mode, monthSpan(month, timeZone));
  for (let first = 0; first < movements.length; first += PAGE)
    yield movements.slice(first, first + PAGE).map((one) => {
      const { at, by, type, order, own_number, reference, what, currency, earned, held } = one;
      const said = one.data as Record<string, string | null>;
      return {
        date: dateOf(at, timeZone),
        time: timeOf(at, timeZone),
        type,
        order,
        own_number,
        reference,
        customer: masked(one.email ?? ''),
        what,
        currency,
        earned: formatMajor({ amount: earned, currency }),
        held: formatMajor({ amount: held, currency }),
        number: said.number ?? null,
        by,
        why: said.note ?? said.reason ?? null,
      };
    });
}

const countersWith = (sign: bigint): string[] =>
  Object.keys(COUNTERS).filter((counter) => COUNTERS[counter]?.held === sign);
/** The figures of the journal that add to the held money, and those that take from it. */
const [ADDING, TAKING] = [countersWith(1n), countersWith(-1n)];

/** The held money at a time, by currency, in minor units. */
async function heldAt(prisma: PrismaClient, mode: Mode, at: Date) {
  // Raw: the mode is a column of payments, which the journal names without a key.
  const reading = prisma.$queryRaw<{ currency: string; held: bigint }[]>`
    SELECT j.currency, sum(CASE WHEN counter = ANY(${ADDING}) THEN j.amount ELSE -j.amount END)::bigint AS held
    FROM journal j JOIN payments p USING (reference)
    WHERE p.mode = ${mode}::mode AND j.at < ${at} AND counter = ANY(${[...ADDING, ...TAKING]})
    GROUP BY j.currency ORDER BY j.currency`;
  const [, held] = await prisma.$transaction([unhurried(prisma), reading]);
  return held;
}

/**
 * The totals of a month by currency, in major units. Each total is the sum of the month's movements
 * of that type. `earned` is the sum of the first six, and `held` is the held money at the end of
 * the month.
 */
export async function bookTotals(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const span = monthSpan(month, timeZone);
  const movements = await movementsOf(prisma, mode, span);
  const held = new Map((await heldAt(prisma, mode, span.lt)).map((one) => [one.currency, one.held]));
  const currencies = [...new Set([...held.keys(), ...movements.map(({ currency }) => currency)])].sort();
  return currencies.map((currency) => {
    const own = movements.filter((one) => one.currency === currency);
    const total = (types: readonly string[], figure: 'earned' | 'held' = 'earned'): string => {
      const some = own.filter(({ type }) => types.includes(type));
      return formatMajor({ amount: some.reduce((sum, one) => sum + one[figure], 0n), currency });
    };
    return {
      currency,
      paid: total(['paid']),
      kept: total(['kept']),
      recovered: total(['recovered']),
      refunded: total(['refunded']),
      reversed: total(['reversed']),
      written_off: total(['written off']),
      earned: total(TYPES),
      returned: total(['returned'], 'held'),
      held: formatMajor({ amount: held.get(currency) ?? 0n, currency }),
    };
  });
}

export function textOfTotals(month: string, totals: Awaited<ReturnType<typeof bookTotals>>): string {
  if (totals.length === 0) return `No money moved until the end of ${month}.`;
  const cells = (one: object): string[] => Object.entries(one).map((cell) => cell.join(' '));
  return [month, ...totals.map((one) => cells(one).join(', '))].join('\n');
}
