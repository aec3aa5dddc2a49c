import { z } from 'zod';
import { changeOrder } from '../payments/change-order.ts';
import { record } from '../payments/change.ts';
import { bookPages, bookTotals, isMonth, textOfTotals } from '../reporting/books.ts';
import { whenText } from '../custom/days.ts';
import { explain, textOfStory } from '../reporting/explain.ts';
import { csvOf, exportCsv, EXPORTS } from '../reporting/export.ts';
import { proofPage } from '../reporting/proof.ts';
import { amountText } from '../reporting/words.ts';
import { DAY, findOrder, spanOf, viewOf } from './named.ts';
import { OWN_NAMES } from '../platform/ids.ts';
import { action, FLAG, refused, TEXT } from './registry.ts';

/** The journal's names for acts of persons. Their consequences have other names. */
const ACTS = [
  ...['accepted', 'decided', 'refunded', 'adopted', 'erased', 'order ended', 'order reopened', 'proof made'],
  ...['message sent again', 'message held', 'checkouts stopped', 'checkouts resumed'],
  ...['verification asked', 'comparison started'],
];

const MONTH = z.string().refine(isMonth);

export const REPORTS = [
  action('viewer', 'books MONTH', { month: MONTH, totals: FLAG }, async (parts, { month, totals }) => {
    const about = [parts.prisma, parts.policy.mode, month, parts.config.SHOP_TIME_ZONE] as const;
    if (!totals) return { sentence: csvOf(bookPages(...about)) };
    const data = await bookTotals(...about);
    return { data, sentence: textOfTotals(month, data) };
  }),
  action('viewer', 'export WHAT', { what: z.enum(EXPORTS) }, (parts, { what }) =>
    Promise.resolve({ sentence: exportCsv(parts.prisma, parts.policy.mode, what, viewOf(parts)) }),
  ),
  action('viewer', 'explain ORDER', { order: TEXT, evidence: FLAG }, async (parts, { order, evidence }) => {
    const [{ prisma, gateway }, { mode }, view] = [parts, parts.policy, viewOf(parts)];
    // An unmatched payment has no order.
    const where = { mode, reference: gateway.references.parse(order) ?? '', orderId: null };
    const unmatched = await prisma.payment.findFirst({ where, select: { reference: true } });
    const subject = unmatched ?? { orderId: (await findOrder(parts, order)).id };
    const data = await explain(prisma, mode, subject, view, evidence);
    if (data === null) throw refused('unknown-order');
    return { data, sentence: textOfStory(data, view), exitCode: data.chain.brokenAt === null ? 0 : 1 };
  }),
  action('clerk', 'proof ORDER', { order: TEXT }, async (parts, { order }) => {
    const { id } = await findOrder(parts, order);
    await changeOrder(parts, id, parts.by, (change) => {
      record(change, 'proof made', null);
    });
    return { sentence: (await proofPage(parts.prisma, parts.policy.mode, id, viewOf(parts))) ?? '' };
  }),
  action('viewer', 'activity DAY', { day: DAY }, async (parts, { day }) => {
    const view = viewOf(parts);
    const isOurs = { OR: [{ order: { mode: parts.policy.mode } }, { orderId: null }] };
    const where = { at: spanOf(day, view), by: { notIn: OWN_NAMES }, what: { in: ACTS }, ...isOurs };
    const data = await parts.prisma.journalEntry.findMany({ where, orderBy: { id: 'asc' }, omit: { hash: true } });
    const lines = data.map(({ at, by, orderId, what, amount, currency, data: said }) => {
      const money = amount && currency && amountText({ amount, currency });
      const told = Object.entries(said as object).filter(([, value]) => value !== null);
      const about = [what, money, ...told.map((one) => one.join(' '))].filter(Boolean).join(', ');
      return `${whenText(at, view)}  ${by}  ${orderId?.slice(0, 8) ?? '-'}  ${about}`;
    });
    return { data, sentence: lines.join('\n') || 'There was no activity.' };
  }),
];
