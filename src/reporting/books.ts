import { formatMajor } from '../platform/money.ts';
import type { JournalEntry, Mode, PrismaClient } from '../platform/prisma/client.ts';
import { dateOf, startOfDay, timeOf } from '../custom/days.ts';
import { masked } from './words.ts';

/** A line of the journal that changes what is ours and not taken back, or what is held; by how much, in minor units. */
type Movement = Pick<JournalEntry, 'at' | 'by' | 'data'> &
  Record<'reference' | 'counter' | 'currency', string> &
  Record<'order' | 'own_number' | 'email' | 'what', string | null> & { change: bigint; held: bigint };

/** By the counter that grew; what another one changes was taken back, or came back. */
export function typeOf({ counter, change }: Movement) {
  if (counter.startsWith('refunded')) return 'refunded';
  return counter === 'earned' ? 'paid' : counter === 'kept' ? 'kept' : change < 0n ? 'taken back' : 'came back';
}

/** Whether a text is a month like `2026-10`. */
export const isMonth = (text: string): boolean => /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/.test(text);
export const monthAfter = (month: string, months: number): string =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + months)).toISOString().slice(0, 7);

export type Span = { gte: Date; lt: Date };
export function monthSpan(month: string, timeZone: string): Span {
  return { gte: startOfDay(`${month}-01`, timeZone), lt: startOfDay(`${monthAfter(month, 1)}-01`, timeZone) };
}

/** In the transaction of what reads all of the journal: that may take longer than what somebody waits for. */
const unhurried = (prisma: PrismaClient) => prisma.$executeRaw`SET LOCAL statement_timeout = 0`;

/** The movements of some time, the oldest first. All there ever were add up to `ours - reversed` of money.ts. */
export function movementsOf(prisma: PrismaClient, mode: Mode, { gte, lt }: Span) {
  // Raw: sums up to each line. What goes back by itself is written right behind what went or came, and counts with it.
  return prisma.$queryRaw<Movement[]>`
    WITH signs (counter, ours, gone, back, held) AS (VALUES ('came', 0, 0, 0, 1), ('went', 0, 1, 0, 0),
      ('earned', 1, 0, 0, -1), ('kept', 1, 0, 0, -1), ('sendBack', 0, 0, 1, -1), ('refunded', -1, -1, 0, 0),
      ('lost', -1, -1, 0, 0), ('refundedElsewhere', 0, 1, 0, 0), ('sendBackElsewhere', 0, 1, 0, 0)),
    lines AS (
      SELECT j.*, j.amount * held AS held, sum(j.amount * ours) OVER so_far
        - greatest(0, sum(j.amount * gone) OVER so_far - sum(j.amount * back) OVER with_next) AS ours
      FROM journal j JOIN signs USING (counter) JOIN payments p USING (reference)
      WHERE p.mode = ${mode}::mode AND j.counter IS NOT NULL AND reference IN (
        SELECT reference FROM journal WHERE counter IS NOT NULL AND at >= ${gte} AND at < ${lt})
      WINDOW so_far AS (PARTITION BY reference, j.currency ORDER BY j.id),
        with_next AS (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)),
    changes AS (
      SELECT *, ours - lag(ours, 1, 0::numeric) OVER (PARTITION BY reference, currency ORDER BY id) AS change
      FROM lines)
    SELECT at, "by", data, reference, counter, c.currency, change::bigint, held::bigint, o.id AS order,
      external_id AS own_number, email, (SELECT string_agg(quantity || ' × ' || description, ', ' ORDER BY position)
        FROM order_lines WHERE order_id = o.id) AS what
    FROM changes c JOIN payments USING (reference) LEFT JOIN orders o ON o.id = payments.order_id
    WHERE (change <> 0 OR held <> 0) AND at >= ${gte} AND at < ${lt} ORDER BY c.id`;
}

const PAGE = 500;

/** The movements of a month in pages, the oldest first, with masked addresses. @param month like `2026-10` */
export async function* bookPages(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const span = monthSpan(month, timeZone);
  const [, read] = await prisma.$transaction([unhurried(prisma), movementsOf(prisma, mode, span)]);
  const movements = read.filter(({ change }) => change !== 0n);
  for (let first = 0; first < movements.length; first += PAGE)
    yield movements.slice(first, first + PAGE).map((one) => {
      const { at, by, order, own_number, reference, what, currency, change } = one;
      const said = one.data as Record<string, string | null>;
      return {
        ...{ date: dateOf(at, timeZone), time: timeOf(at, timeZone), type: typeOf(one), order, own_number, reference },
        ...{ customer: masked(one.email ?? ''), what, currency, amount: formatMajor({ amount: change, currency }) },
        ...{ number: said.number ?? null, by, why: said.note ?? said.reason ?? null },
      };
    });
}

/** By currency, in major units: what the rows of a month add up to, which is `earned`; `held` at the month's end. */
export async function bookTotals(prisma: PrismaClient, mode: Mode, month: string, timeZone: string) {
  const span = monthSpan(month, timeZone);
  // Raw: the mode stands with the payment.
  const holding = prisma.$queryRaw<{ currency: string; held: bigint }[]>`
    SELECT j.currency, sum(CASE counter WHEN 'came' THEN j.amount ELSE -j.amount END)::bigint AS held
    FROM journal j JOIN payments p USING (reference) WHERE p.mode = ${mode}::mode AND at < ${span.lt}
      AND counter IN ('came', 'earned', 'kept', 'sendBack') GROUP BY j.currency ORDER BY j.currency`;
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
