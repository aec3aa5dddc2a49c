import { allocatedOf } from '../ledger/books.ts';
import type { HistoryRow } from '../ledger/history.ts';
import { observeHistory, type Ledger } from '../ledger/ledger.ts';
import { positionOf } from '../ledger/position.ts';
import { ledgerOf, type LedgerRow } from '../ledger/stored.ts';
import { changeOrder, changeUnmatched } from '../payments/change-order.ts';
import { ledgerIn, partPaymentOf, type AggregatePayment } from '../payments/aggregate.ts';
import { setLedger, type Change } from '../payments/change.ts';
import { askNow, type AskParts } from '../payments/due.ts';
import type { Payment, Prisma } from '../platform/prisma/client.ts';
import { reachHours, type ReportedRow, type ReportedRows } from './compare.ts';

/** The run that applies the history. */
export type AppliedRun = {
  runId: bigint;
  startedAt: Date;
  /**
   * It read the whole history. A light run reads only new rows, and missing rows change no ledger.
   */
  isWhole: boolean;
  /** It read up to now. Otherwise newer outflow is not known. */
  isToNow: boolean;
  reachesBackDays: number | null;
};

/** `isNew`: the row of an unmatched payment that is not known yet. */
type Differing = { reference: string; orderId: string | null; isNew: Prisma.PaymentCreateManyInput | undefined };

/**
 * Verifies a payment that differs, and applies the rows of the history to its ledgers by the same
 * change. A lost webhook therefore opens no case, two sources that agree about a loss open one
 * case, and money that the history reports as gone pays nothing. If verify cannot be asked, outflow
 * still counts. The rows about part payments of the order are applied, too, because the
 * answer may capture them.
 * @param reported the rows about the payment and about the part payments of its order
 * @returns false: it could not be settled, and the next run goes on with it
 */
export async function settlePayment(
  parts: AskParts,
  { reference, orderId, isNew }: Differing,
  reported: ReportedRows,
  run: AppliedRun,
): Promise<boolean> {
  const rows = reported.get(reference) ?? [];
  const apply = (change: Change): void => {
    const { aggregate } = change;
    for (const payment of aggregate.payments)
      // A payment that became a part payment during the run has no rows here.
      if (
        payment.reference === reference ||
        (partPaymentOf(aggregate, payment) > 0n && reported.has(payment.reference))
      )
        applyRows(change, payment, reported.get(payment.reference) ?? [], run);
  };
  if (orderId === null) {
    if (!run.isToNow) return false;
    // A light run has not all rows of an unmatched payment, so only a whole run changes a known
    // one.
    if (!run.isWhole && isNew === undefined) return true;
    // Null: the reference belongs to the other mode, so the money cannot be booked here.
    return (await changeUnmatched(parts, reference, 'reconciliation', apply, isNew)) !== null;
  }
  const isAnswered = await askNow(parts, reference, 'reconciliation', { alongside: run.isWhole ? apply : undefined });
  if (!isAnswered && run.isWhole && rows.some(({ outflow }) => outflow > 0n))
    await changeOrder(parts, orderId, 'reconciliation', apply);
  return isAnswered;
}

function applyRows(change: Change, payment: AggregatePayment, rows: readonly ReportedRow[], run: AppliedRun): void {
  const isInReach = run.isWhole && isWithinReach(payment, run);
  const { proof } = change.aggregate;
  const contribution = proof?.payments.find(({ reference }) => reference === payment.reference);
  const isAccepted = contribution !== undefined && hasAcceptedDoubt({ ...contribution, proof });
  const [said] = payment.verifications;
  const isFailed = said?.outcome === 'failed' || said?.outcome === 'expired';
  const hadTime = isFailed && said.at.getTime() + change.policy.lagMin * 60_000 <= run.startedAt.getTime();
  for (const currency of new Set([...payment.ledgers, ...rows].map((one) => one.currency))) {
    const here = rows.filter((row) => row.currency === currency);
    const hasLedger = payment.ledgers.some((one) => one.currency === currency);
    if (!hasLedger && here.every(({ received, outflow }) => received === 0n && outflow === 0n)) continue;
    const read = here.map(historyRowOf).map((row) => ({ ...row, isDoubted: row.isDoubted && !isAccepted }));
    const before = ledgerIn(payment, currency);
    const failed = isFailed && (hadTime || allocatedOf(before.books) > 0n) ? { id: said.serviceId } : null;
    const after = observeHistory(before, read, { at: run.startedAt, isInReach, failed });
    const words = [...new Set(here.map(({ word }) => word))].sort().join(', ');
    // Beyond reach, a missing row says nothing.
    const ifSilent = isInReach ? null : undefined;
    const historyWord = here.length > 0 ? words : ifSilent;
    const cause = { what: 'reported by the history', data: { run: String(run.runId) } };
    setLedger(change, payment, currency, after, historyWord === undefined ? cause : { ...cause, historyWord });
  }
}

/**
 * A person accepted the money in spite of a doubt. Without that, a later doubt is a new finding.
 */
function hasAcceptedDoubt({ proof, verification }: Contribution): boolean {
  return proof?.acceptedBy != null && verification.doubt !== null;
}

type Contribution = { verification: { doubt: string | null }; proof: { acceptedBy: string | null } | null | undefined };

/**
 * Whether the history must report a payment. The age of an unmatched payment is unknown, so it is
 * always beyond reach.
 */
function isWithinReach(
  { orderId, openedAt, createdAt }: Pick<Payment, 'orderId' | 'openedAt' | 'createdAt'>,
  { startedAt, reachesBackDays }: AppliedRun,
): boolean {
  const since = startedAt.getTime() - reachHours(reachesBackDays) * 3_600_000;
  return orderId !== null && (openedAt ?? createdAt).getTime() >= since;
}

function historyRowOf({ transactionId, received, outflow, status }: ReportedRow): HistoryRow {
  return {
    id: transactionId,
    received,
    outflow,
    isReversed: status === 'reversed' && received === outflow,
    isFailed: status === 'failed',
    isDoubted: status === 'unproven',
  };
}

/** What the history reports now: the rows of one currency, applied as a whole reading. */
export function readingOf(ledger: Ledger, rows: readonly ReportedRow[], at: Date): Ledger {
  const reading = { at, isInReach: true, failed: null };
  return observeHistory({ ...ledger, historyReadAt: null }, rows.map(historyRowOf), reading);
}

/** The ledgers already have these rows. To the comparison in SQL, repeated rows look new. */
export function isApplied(
  payment: Payment & { ledgers: readonly LedgerRow[]; proofPayments: readonly Contribution[] },
  rows: readonly ReportedRow[],
  run: AppliedRun,
  lagMin: number,
): boolean {
  const isInReach = isWithinReach(payment, run);
  const isAccepted = payment.proofPayments.some(hasAcceptedDoubt);
  const currencies = new Set(rows.map(({ currency }) => currency));
  const known = payment.ledgers.map((row) => row.currency);
  if ([...currencies].some((currency) => !known.includes(currency))) return false;
  return payment.ledgers.every((row) => {
    const before = ledgerOf(row);
    const read = rows.filter(({ currency }) => currency === row.currency).map(historyRowOf);
    const here = read.map((one) => ({ ...one, isDoubted: one.isDoubted && !isAccepted }));
    const reading = { at: run.startedAt, isInReach, failed: null };
    const after = observeHistory(before, here, reading);
    return isSameReport(before, after) && isSamePosition(before, after, lagMin);
  });
}

function isSameReport({ history: one }: Ledger, { history: other }: Ledger): boolean {
  const textOf = ({ transactions }: Ledger['history']): string =>
    transactions.map((each) => `${String(each.id)} ${each.received} ${each.outflow}`).join();
  return one.isUncertain === other.isUncertain && textOf(one) === textOf(other);
}

function isSamePosition(one: Ledger, other: Ledger, lagMin: number): boolean {
  const [before, after] = [positionOf(one, lagMin), positionOf(other, lagMin)];
  return before.held === after.held && before.missing === after.missing && before.notShown === after.notShown;
}
