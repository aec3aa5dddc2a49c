import { dueSeen } from '../cases/classes.ts';
import { storable } from '../gateway/evidence.ts';
import { EMPTY } from '../ledger/ledger.ts';
import { positionOf } from '../ledger/position.ts';
import { ledgerOf } from '../ledger/stored.ts';
import { formatMajor } from '../platform/money.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { proveCash, type Cash } from './cash.ts';
import type { Comparison } from './compare.ts';
import type { Identity } from './identity.ts';
import type { Counts } from './import.ts';
import type { Running } from './run.ts';

/** More unmatched payments than that mean an account with older payments, or a wrong account. */
export const MOST_UNMATCHED = 100;

/**
 * The report of a run, as it is stored and printed. Amounts are texts in major units, times ISO
 * 8601.
 */
export type Report = {
  mode: Mode;
  /** Whether the history, or the window of it, was read to its end. */
  complete: boolean;
  verdict: 'agreed' | 'findings' | 'incomplete';
  /** Why it is incomplete, or what beside the items keeps it from agreeing; a sentence. */
  reason: string | null;
  history: Pick<Counts, 'records' | 'pages' | 'unreadable' | 'setAside'> & { references: number };
  identity: Identity[];
  findings: Record<string, number>;
  items: (Record<'id' | 'class' | 'reference' | 'currency', string> &
    Record<'expected' | 'actual' | 'held' | 'firstSeenAt', string> & { orderId: string | null })[];
} & Record<'runId' | 'startedAt' | 'finishedAt', string> &
  // Plainly equal; paid by this run's questions; asked about.
  Record<'payments' | 'matched' | 'repaired' | 'verified', number> &
  Pick<Cash, 'balances' | 'transfers'>;

/** The oldest thousand open cases (`npm run cases` lists all), and the number of each class. */
export async function openItems(prisma: PrismaClient, mode: Mode): Promise<Pick<Report, 'findings' | 'items'>> {
  const where = { mode, closedAt: null };
  const counts = await prisma.case.groupBy({ by: ['class'], where, _count: true });
  const include = { payment: { include: { ledgers: true } } };
  const cases = await prisma.case.findMany({ where, include, orderBy: { id: 'asc' }, take: 1_000 });
  const items = cases.map((one) => {
    const { id, class: name, reference, orderId, currency, held, missing, openedAt, payment, evidence } = one;
    const major = (amount: bigint): string => formatMajor({ amount, currency });
    const row = payment.ledgers.find((each) => each.currency === currency);
    const { expected: booked, notShown } = positionOf(row ? ledgerOf(row) : EMPTY, 0);
    const isUnpaid = held > 0n && orderId !== null && payment.status !== 'paid' && currency === payment.currency;
    const expected = isUnpaid ? (dueSeen(evidence, currency) ?? payment.amount) : booked;
    // The money of a refund that is not shown is still at the provider. Other missing money is not.
    const isStillThere = name === 'refund_not_shown';
    const actual = booked + held + notShown - (isStillThere ? 0n : missing);
    const figures = { expected: major(expected), actual: major(actual), held: major(held) };
    const about = { id: String(id), class: name, reference, orderId, currency };
    return { ...about, ...figures, firstSeenAt: openedAt.toISOString() };
  });
  return { findings: Object.fromEntries(counts.map((one) => [one.class, one._count])), items };
}

/** The report of a history that could not be judged. All other reports extend it. */
export async function baseReport({ prisma, gateway, run, counts }: Running, reason: string): Promise<Report> {
  const { mode } = run;
  const { records, pages, unreadable, setAside: aside } = counts;
  return {
    runId: String(run.id),
    mode,
    startedAt: run.startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    complete: false,
    verdict: 'incomplete',
    reason: storable(gateway.redact(reason)),
    history: { records, references: 0, pages, unreadable, setAside: aside },
    payments: await prisma.payment.count({ where: { mode, orderId: { not: null } } }),
    matched: 0,
    repaired: 0,
    verified: 0,
    identity: [],
    findings: {},
    items: [],
    balances: null,
    transfers: null,
  };
}

/** `matched`: payments whose rows look new to SQL but were applied before. */
export type Done = { matched: number; verified: number; repaired: number; left: number; unmatched: number };

type Outcome = Done & { compared: Comparison['counts'] | null; identity: Identity[]; differs: number };

/** The report of a history that was compared. */
export async function judgedReport(running: Running, outcome: Outcome): Promise<Report> {
  const { verified, repaired, left, unmatched, compared, identity, differs } = outcome;
  const { prisma, gateway, run, counts, options } = running;
  const cash = run.full ? await proveCash(gateway, identity) : null;
  const open = options.dryRun === true ? { findings: { differs }, items: [] } : await openItems(prisma, run.mode);
  const unexplained = identity.filter(({ difference }) => /[1-9]/.test(difference));
  const reasons = [
    ...unexplained.map(({ currency, difference }) => `${currency} ${difference} is unexplained`),
    counts.unreadable > 0 && `${counts.unreadable} rows of the history cannot be read: ${counts.why ?? ''}`,
    left > 0 && `${left} payments that differ could not be judged: the next run up to now goes on`,
    unmatched > MOST_UNMATCHED && `${unmatched} payments of the history are none of ours: was a database restored?`,
    cash?.reason,
  ].filter((reason) => typeof reason === 'string');
  const isOpen = reasons.length > 0 || Object.values(open.findings).some((count) => count > 0);
  const { reason, history, ...more } = await baseReport(running, reasons.join('; '));
  const inWindow = () => prisma.historyRow.groupBy({ by: ['reference'], where: { mode: run.mode } });
  const references = compared?.references ?? (await inWindow()).length;
  return {
    ...more,
    complete: true,
    verdict: isOpen ? 'findings' : 'agreed',
    reason: reason === '' ? null : reason,
    history: { ...history, references },
    matched: (compared?.matched ?? 0) + outcome.matched,
    repaired,
    verified,
    identity,
    ...open,
    balances: cash?.balances ?? null,
    transfers: cash?.transfers ?? null,
  };
}
