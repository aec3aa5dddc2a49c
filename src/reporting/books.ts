import { formatMajor } from '../platform/money.ts';
import type { JournalEntry, Mode, PrismaClient } from '../platform/prisma/client.ts';
import { dateOf, startOfDay, timeOf } from '../custom/days.ts';
import { masked } from './words.ts';

/**
 * One change of a ledger, in minor units. `change` is the change of what is ours, without missing
 * money. `held` is the change of held money.
 */
type Movement = Pick<JournalEntry, 'at' | 'by' | 'data'> &
  Record<'reference' | 'counter' | 'currency', string> &
  Record<'order' | 'own_number' | 'email' | 'what', string | null> & { change: bigint; held: bigint };

/** The type of a movement by its ledger figure, including the names of version 1.0.0. */
const TYPES: Record<string, string> = {
  captured: 'paid',
  earned: 'paid',
  retained: 'kept',
  recovered: 'kept',
  kept: 'kept',
  refunded: 'refunded',
};

/** The type follows from the booking. Without a booking, money was taken back or came back. */
export function typeOf({ counter, change }: Movement): string {
  return TYPES[counter] ?? (change < 0n ? 'taken back' : 'came back');
}

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

/**
 * How each figure of the journal counts in `ours` and in `held`. The lowest rank names the
 * movement. The second half has the names of version 1.0.0, where held money is what came, less
 * what was earned, kept or sent back.
 */
const SIGNS = JSON.stringify([
  { counter: 'captured', ours: 1, held: 0, rank: 1 },
  { counter: 'retained', ours: 1, held: 0, rank: 1 },
  { counter: 'recovered', ours: 1, held: 0, rank: 1 },
  { counter: 'refunded', ours: -1, held: 0, rank: 2 },
  { counter: 'writtenOff', ours: -1, held: 0, rank: 3 },
  { counter: 'missing', ours: -1, held: 0, rank: 4 },
  { counter: 'held', ours: 0, held: 1, rank: 5 },
  { counter: 'earned', ours: 1, held: -1, rank: 1 },
  { counter: 'kept', ours: 1, held: -1, rank: 1 },
  { counter: 'lost', ours: -1, held: 0, rank: 3 },
  { counter: 'came', ours: 0, held: 1, rank: 5 },
  { counter: 'sendBack', ours: 0, held: -1, rank: 5 },
]);

/**
 * The movements of a period, the oldest first. All movements together add up to `ours`, which
 * excludes missing money.
 */
export function movementsOf(prisma: PrismaClient, mode: Mode, { gte, lt }: Span) {
  // Raw: the lines of one change have the same time and are one movement. The line with the lowest
  // rank names it.
  return prisma.$queryRaw<Movement[]>`
    WITH movements AS (
      SELECT min(j.id) AS id, j.at, j.reference, j.currency, sum(j.amount * ours)::bigint AS change,
        sum(j.amount * held)::bigint AS held, (array_agg(j.id ORDER BY rank, j.id))[1] AS first_id
      FROM journal j JOIN payments p USING (reference)
        JOIN jsonb_to_recordset(${SIGNS}::jsonb) AS signs (counter text, ours int, held int, rank int) USING (counter)
      WHERE p.mode = ${mode}::mode AND j.at >= ${gte} AND j.at < ${lt} GROUP BY j.at, j.reference, j.currency)
    SELECT m.at, j."by", j.data, m.reference, j.counter, m.currency, change, held, o.id AS order,
      external_id AS own_number, email, (SELECT string_agg(quantity || ' × ' || description, ', ' ORDER BY position)
        FROM order_lines WHERE order_id = o.id) AS what
    FROM movements m JOIN journal j ON j.id = first_id JOIN payments p ON p.reference = m.reference
      LEFT JOIN orders o ON o.id = p.order_id
    WHERE change <> 0 OR held <> 0 ORDER BY m.at, m.id`;
}

const PAGE = 500;

/**
 * The movements of a month in pages, the oldest first, with masked addresses.
 * @param month like `2026-10`
 */
export async function* bookPages(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const span = monthSpan(month, timeZone);
  const [, read] = await prisma.$transaction([unhurried(prisma), movementsOf(prisma, mode, span)]);
  const movements = read.filter(({ change }) => change !== 0n);
  for (let first = 0; first < movements.length; first += PAGE)
    yield movements.slice(first, first + PAGE).map((one) => {
      const { at, by, order, own_number, reference, what, currency, change } = one;
      const said = one.data as Record<string, string | null>;
      return {
        date: dateOf(at, timeZone),
        time: timeOf(at, timeZone),
        type: typeOf(one),
        order,
        own_number,
        reference,
        customer: masked(one.email ?? ''),
        what,
        currency,
        amount: formatMajor({ amount: change, currency }),
        number: said.number ?? null,
        by,
        why: said.note ?? said.reason ?? null,
      };
    });
}

/**
 * The totals of a month by currency, in major units. `earned` is the sum of the month's rows.
 * `held` is the held money at the end of the month.
 */
export async function bookTotals(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const span = monthSpan(month, timeZone);
  // Raw: the mode is a column of payments, not of the journal.
  const holding = prisma.$queryRaw<{ currency: string; held: bigint }[]>`
    SELECT j.currency, sum(j.amount * held)::bigint AS held
    FROM journal j JOIN payments p USING (reference)
        JOIN jsonb_to_recordset(${SIGNS}::jsonb) AS signs (counter text, ours int, held int, rank int) USING (counter)
    WHERE p.mode = ${mode}::mode AND j.at < ${span.lt} GROUP BY j.currency ORDER BY j.currency`;
  const [, balances, moved] = await prisma.$transaction([unhurried(prisma), holding, movementsOf(prisma, mode, span)]);
  return balances.map(({ currency, held }) => {
    const sum = (type = ''): string => {
      const some = moved.filter((one) => one.currency === currency && typeOf(one).startsWith(type));
      return formatMajor({ amount: some.reduce((all, { change }) => all + change, 0n), currency });
    };
    const back = { taken_back: sum('taken back'), came_back: sum('came back') };
    const sums = { paid: sum('paid'), refunded: sum('refunded'), ...back, kept: sum('kept'), earned: sum() };
    return { currency, ...sums, held: formatMajor({ amount: held, currency }) };
  });
}

export function textOfTotals(month: string, totals: Awaited<ReturnType<typeof bookTotals>>): string {
  if (totals.length === 0) return `No money moved until the end of ${month}.`;
  const cells = (one: object): string[] => Object.entries(one).map((cell) => cell.join(' '));
  return [month, ...totals.map((one) => cells(one).join(', '))].join('\n');
}
