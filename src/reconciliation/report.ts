import { dueSeen } from '../cases/classes.ts';
import { EMPTY } from '../ledger/ledger.ts';
import { positionOf } from '../ledger/position.ts';
import { ledgerOf } from '../ledger/stored.ts';
import { formatMajor } from '../platform/money.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { Cash } from './cash.ts';
import type { Identity } from './identity.ts';
import type { Counts } from './import.ts';

/**
 * What a run says, as it is stored and printed. Amounts are texts in major units, times ISO 8601.
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

/**
 * The open cases, the oldest thousand first (the work list has all), and how many there are of each
 * class.
 */
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
    // A refund that is not shown is still at the provider, and other missing money is not.
    const isStillThere = name === 'refund_not_shown';
    const actual = booked + held + notShown - (isStillThere ? 0n : missing);
    const figures = { expected: major(expected), actual: major(actual), held: major(held) };
    const about = { id: String(id), class: name, reference, orderId, currency };
    return { ...about, ...figures, firstSeenAt: openedAt.toISOString() };
  });
  return { findings: Object.fromEntries(counts.map((one) => [one.class, one._count])), items };
}
