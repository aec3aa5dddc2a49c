import { stringify } from 'csv-stringify/sync';
import { formatMajor } from '../platform/money.ts';
import type { Mode, PrismaClient, Run } from '../platform/prisma/client.ts';
import type { Report } from '../reconciliation/report.ts';
import type { View } from '../custom/days.ts';
import { groupOf } from './groups.ts';
import { caseWords, masked, orderWords, TOLD, TOLD_CASE, totalsOf, type Told, type ToldCase } from './words.ts';

export const EXPORTS = ['orders', 'cases', 'runs'] as const;
export type ExportName = (typeof EXPORTS)[number];

type Row = Record<string, string | number | bigint | boolean | Date | null>;
/** A page is small, because the reports of runs may be long. */
const PAGE = 100;

/**
 * Escapes spreadsheet formulas in texts. Amounts are texts too, but are not escaped, so that a
 * spreadsheet can sum them.
 */
const cast = {
  string: (value: string) => ({ value, escape_formulas: !/^-\d+(\.\d+)?$/.test(value) }),
  date: (at: Date): string => at.toISOString(),
  boolean: String,
};

/** Turns pages of rows into pieces of CSV under one header. */
export async function* csvOf(pages: AsyncIterable<Row[]>): AsyncGenerator<string> {
  let header = true;
  for await (const page of pages) {
    yield stringify(page, { header, cast });
    header = false;
  }
}

async function* pagesOf<One>(read: (last?: One) => Promise<One[]>, row: (one: One, view: View) => Row, view: View) {
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)))
    yield page.map((one) => row(one, view));
}

const after = (mode: Mode, last?: { id: bigint }) =>
  ({ where: { mode, id: { gt: last?.id ?? 0n } }, orderBy: { id: 'asc' }, take: PAGE }) as const;

/** All rows as pieces of CSV, the oldest first. Only one page is in memory at a time. */
export function exportCsv(prisma: PrismaClient, mode: Mode, name: ExportName, view: View): AsyncGenerator<string> {
  const casesAfter = (last?: ToldCase) => prisma.case.findMany({ ...after(mode, last), include: TOLD_CASE });
  const pages = {
    orders: () => pagesOf((last?: Told) => ordersAfter(prisma, mode, last), orderRow, view),
    cases: () => pagesOf(casesAfter, caseRow, view),
    runs: () => pagesOf((last?: Run) => prisma.run.findMany(after(mode, last)), runRow, view),
  };
  return csvOf(pages[name]());
}

function ordersAfter(prisma: PrismaClient, mode: Mode, last: Told | undefined): Promise<Told[]> {
  const { createdAt, id } = last ?? { createdAt: new Date(0), id: '' };
  // The first condition is sufficient. The second one lets PostgreSQL start at that place in its
  // index.
  const isAfter = { OR: [{ createdAt: { gt: createdAt } }, { id: { gt: id } }], createdAt: { gte: createdAt } };
  const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
  return prisma.order.findMany({ where: { mode, ...isAfter }, orderBy, include: TOLD, take: PAGE });
}

function orderRow(order: Told, view: View): Row {
  const { id, externalId, createdAt, status, email, currency, paidAt, paidReference } = order;
  const { received, held, ours } = totalsOf(order.payments, currency);
  const major = (amount: bigint): string => formatMajor({ amount, currency });
  const { badge, sentence } = orderWords(order, view);
  return {
    id,
    own_number: externalId,
    created_at: createdAt,
    status,
    badge,
    group: groupOf(order, badge),
    customer: masked(email),
    currency,
    amount: major(order.amount),
    received: major(received),
    held: major(held),
    ours: major(ours),
    paid_at: paidAt,
    reference: paidReference,
    sentence,
  };
}

function caseRow(one: ToldCase, view: View): Row {
  const { id, reference, currency, decision, number, note } = one;
  const major = (amount: bigint): string => formatMajor({ amount, currency });
  const amounts = { currency, held: major(one.held), missing: major(one.missing) };
  return {
    id,
    class: one.class,
    reference,
    order: one.orderId,
    opened_at: one.openedAt,
    ...amounts,
    closed_at: one.closedAt,
    closed_by: one.closedBy,
    decision,
    number,
    note,
    sentence: caseWords(one, view).sentence,
  };
}

function runRow({ id, startedAt, endedAt, full, verdict, report }: Run): Row {
  const { reason = null, payments = null, matched = null, findings = {} } = (report ?? {}) as Partial<Report>;
  const times = { id, started_at: startedAt, ended_at: endedAt, full, verdict, reason };
  return { ...times, payments, matched, findings: JSON.stringify(findings) };
}
