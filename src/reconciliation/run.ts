import PQueue from 'p-queue';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.ts';
import type { AskParts } from '../payments/due.ts';
import { isDatabaseAway, type Database } from '../platform/db.ts';
import type { Prisma, Run } from '../platform/prisma/client.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import { isApplied, settlePayment, type AppliedRun } from './apply.ts';
import { applyFirst, compare, compareWindow, dropRows, MOST_DIFFERENCES, rowsAbout, setAside } from './compare.ts';
import type { Comparison, Difference, ReportedRows, ReportedRow } from './compare.ts';
import { createIdentity } from './identity.ts';
import { importHistory, type Checkpoint, type Counts } from './import.ts';
import { baseReport, judgedReport, MOST_UNMATCHED, type Done, type Report } from './report.ts';

export type ReconcileParts = AskParts & { gateway: Gateway; database: Database; onMessage(): void; logger: Logger };

export type RunOptions = {
  /** A window of the history, whose totals are not judged. Both null: the whole history. */
  since: Date | null;
  until: Date | null;
  /** Reads and compares. It verifies nothing and changes nothing. */
  dryRun?: boolean;
  /**
   * For the first connection of an account with older payments: all unmatched payments of the
   * history are set aside permanently.
   */
  begin?: boolean;
  progress?: (text: string) => void;
};

/** An interrupted run that is older than this begins again. */
const RESUME_MS = 6 * 3_600_000;
/** Verifications of one run. The next run goes on. */
const MOST_QUESTIONS = 5_000;
const QUESTIONS_AT_ONCE = 8;
const BATCH = 500;
/**
 * A whole history may lack ten paid payments, or one in a hundred. If it lacks more, it is not
 * whole.
 */
const MOST_LACKING = 10;
const BEGIN = 'is it the right account? If it had payments before this shop, run reconcile --begin once';

/**
 * Compares the service's history with our payments: it reads the history, compares, verifies the
 * payments that differ, applies their rows, and reports. One run is active per mode. A run may be
 * stopped at any time: rows that were read are kept, and the rest is repeated.
 * @throws {UserFacingError} while another run is under way (exit code 2)
 */
export async function reconcile(parts: ReconcileParts, options: RunOptions): Promise<Report> {
  const client = await parts.database.openSession();
  try {
    // These settings last until the connection ends. Nobody waits for its statements, so they may
    // be slow.
    const { rows } = await client.query<{ had: boolean }>(
      `SELECT set_config('statement_timeout', '0', false), set_config('work_mem', '128MB', false),
        set_config('jit', 'off', false), pg_try_advisory_lock(hashtext('reconciliation'), hashtext($1)) AS had`,
      [parts.policy.mode],
    );
    if (rows[0]?.had !== true) throw new UserFacingError('another reconciliation is under way: wait for it', 2);
    return await runLocked(parts, client, options);
  } finally {
    // The server may notice a closed connection late, and the next run must not wait for that.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    void client.end().catch(() => undefined);
  }
}

export type Running = ReconcileParts & { client: pg.Client; options: RunOptions; run: Run; counts: Counts };

async function runLocked(parts: ReconcileParts, client: pg.Client, options: RunOptions): Promise<Report> {
  const { prisma, gateway } = parts;
  const { run, checkpoint } = await openRun(parts, client, options);
  const where = { id: run.id };
  const save = (data: Prisma.RunUpdateInput) => prisma.run.update({ where, data });
  const keep = (next: Checkpoint) => {
    options.progress?.(`${next.counts.records} records of the history read`);
    return save({ checkpoint: next });
  };
  const { end, counts, isBroken } = await importHistory({ prisma, gateway, client }, checkpoint, keep);
  const running = { ...parts, client, options, run, counts };
  const report = await (end === null ? judge(running) : baseReport(running, end)).catch(async (error: unknown) => {
    await save(ended());
    throw error;
  });
  // A run that could not read a page goes on at its checkpoint. Any other run has ended.
  await save({ ...(!isBroken && ended()), report, verdict: report.verdict });
  if (options.dryRun === true) await prisma.run.delete({ where });
  return report;
}

const ended = () => ({ endedAt: new Date(), verdict: 'incomplete', checkpoint: {} });

/** The interrupted run, if its rows are still there, or a new one. */
async function openRun(
  { prisma, gateway, policy: { mode } }: ReconcileParts,
  client: pg.Client,
  { since, until, dryRun = false }: RunOptions,
): Promise<{ run: Run; checkpoint: Checkpoint }> {
  // A checkpoint is valid for one version of the adapter, because another may read pages
  // differently.
  const window = JSON.stringify([since, until, gateway.adapterVersion]);
  const last = await prisma.run.findFirst({ where: { mode, endedAt: null }, orderBy: { id: 'desc' } });
  const found = last?.checkpoint as Checkpoint | null | undefined;
  if (!dryRun && last && found?.window === window && Date.now() - last.startedAt.getTime() < RESUME_MS) {
    await dropRows(client, mode, found.lastId);
    // A crash of PostgreSQL empties the table, because it is unlogged.
    const isThere = found.lastId === '0' || (await prisma.historyRow.findFirst({ where: { mode } })) !== null;
    if (isThere) return { run: last, checkpoint: found };
  }
  await dropRows(client, mode, '0');
  if (!dryRun) await prisma.run.updateMany({ where: { mode, endedAt: null }, data: ended() });
  const counts = {
    records: 0,
    pages: 0,
    unreadable: 0,
    why: null,
    setAside: { records: 0, totals: {} },
  };
  const next = { path: gateway.adapter.history.first({ since, until }), number: 1 };
  const checkpoint: Checkpoint = { next, lastId: '0', counts, window };
  const full = since === null && until === null;
  // An address that contains our key is not stored. Such a run begins again.
  const kept = gateway.redact(next.path) === next.path ? checkpoint : {};
  return { run: await prisma.run.create({ data: { mode, full, checkpoint: kept } }), checkpoint };
}

/** Compares a history that was read to its end, settles the differences, and reports. */
async function judge(running: Running): Promise<Report> {
  const { prisma, gateway, client, policy, run, counts, options } = running;
  const { mode, lagMin } = policy;
  if (options.begin === true && options.dryRun !== true) counts.setAside.records += await setAside(prisma, mode);
  options.progress?.('comparing');
  const judged = { mode, startedAt: run.startedAt, lagMin, reachesBackDays: gateway.adapter.history.reachesBackDays };
  const whole = run.full ? await compareWhole(client, judged, options.dryRun === true) : undefined;
  const differences = whole?.differences ?? (await compareWindow(prisma, mode));
  const references = differences.map(({ reference }) => reference);
  const known = await prisma.payment.count({ where: { mode, reference: { in: references } } });
  const isFirst = (await prisma.run.count({ where: { mode, verdict: { in: ['agreed', 'findings'] } } })) === 0;
  const why = whyNotJudged(whole, isFirst ? differences.length - known : 0);
  if (why !== null) return baseReport(running, why);
  const identity = createIdentity(whole?.sums ?? []);
  const done: Done = { matched: 0, verified: 0, repaired: 0, left: 0, unmatched: 0 };
  for (let from = 0; from < differences.length; from += BATCH) {
    const batch = differences.slice(from, from + BATCH);
    const inBatch = batch.map(({ reference }) => reference);
    const reported = await rowsAbout(client, mode, inBatch);
    if (options.dryRun !== true) await settle(running, batch, reported, done);
    if (run.full) await identity.add(prisma, mode, reported, inBatch);
    options.progress?.(`${Math.min(from + BATCH, differences.length)} of ${differences.length} differences looked at`);
  }
  running.onMessage();
  const compared = whole?.counts ?? null;
  return judgedReport(running, { ...done, compared, identity: identity.report(), differs: differences.length });
}

/** A dry run undoes what it applied. */
async function compareWhole(
  client: pg.Client,
  judged: Parameters<typeof compare>[1],
  isDry: boolean,
): Promise<Comparison | null> {
  if (!isDry) {
    await applyFirst(client, judged);
    return compare(client, judged);
  }
  await client.query('BEGIN');
  await applyFirst(client, judged);
  const comparison = await compare(client, judged);
  await client.query('ROLLBACK');
  return comparison;
}

/** @param whole null: too much differs; undefined: a window judges no totals */
function whyNotJudged(whole: Comparison | null | undefined, unmatched: number): string | null {
  if (whole === null) return `more than ${MOST_DIFFERENCES} payments differ: ${BEGIN}`;
  if (unmatched > MOST_UNMATCHED) return `${unmatched} payments of the history are none of ours: ${BEGIN}`;
  const { lacking, paid } = whole?.counts ?? { lacking: 0, paid: 0 };
  const isMuch = lacking > MOST_LACKING && lacking * 100 > paid;
  return isMuch ? `the history lacks ${lacking} of ${paid} paid payments: it is not whole` : null;
}

async function settle(running: Running, batch: Difference[], reported: ReportedRows, done: Done): Promise<void> {
  const { prisma, run, gateway, policy } = running;
  const { reachesBackDays } = gateway.adapter.history;
  const isToNow = running.options.until === null;
  const applied = { runId: run.id, startedAt: run.startedAt, isWhole: run.full, isToNow, reachesBackDays };
  const where = { mode: run.mode, reference: { in: batch.map(({ reference }) => reference) } };
  const proof = { select: { acceptedBy: true } };
  const proofPayments = { include: { verification: { select: { doubt: true } }, proof } };
  const include = { ledgers: true, proofPayments };
  const payments = await prisma.payment.findMany({ where, include });
  const work = batch.map(({ reference, asks }) => async () => {
    const payment = payments.find((one) => one.reference === reference);
    const rows = reported.get(reference) ?? [];
    if (payment !== undefined && !asks && isApplied(payment, rows, applied, policy.lagMin)) {
      if (payment.status === 'paid') done.matched += 1;
      return;
    }
    if (payment === undefined) done.unmatched += 1;
    if (payment === undefined && done.unmatched > MOST_UNMATCHED) return;
    const orderId = payment?.orderId ?? null;
    const isTooMuch = orderId !== null && done.verified >= MOST_QUESTIONS;
    if (orderId !== null && !isTooMuch) done.verified += 1;
    const isNew = payment === undefined ? unmatchedPayment(reference, run, rows, reachesBackDays) : undefined;
    const differing = { reference, orderId, isNew };
    if (isTooMuch || !(await settleAlone(running, differing, reported, applied))) done.left += 1;
  });
  await new PQueue({ concurrency: QUESTIONS_AT_ONCE }).addAll(work);
  const unpaid = payments.filter(({ status }) => status !== 'paid').map(({ reference }) => reference);
  done.repaired += await prisma.payment.count({ where: { reference: { in: unpaid }, status: 'paid' } });
}

/**
 * Settles one reference. If the database refuses its change, the others are still settled.
 */
async function settleAlone(
  running: Running,
  differing: Parameters<typeof settlePayment>[1],
  reported: ReportedRows,
  applied: AppliedRun,
): Promise<boolean> {
  try {
    return await settlePayment(running, differing, reported, applied);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    running.logger.error({ err: error, reference: differing.reference }, 'a payment could not be reconciled');
    return false;
  }
}

/**
 * The row of an unmatched payment. It has no order, and counts as old as the history reaches back.
 */
function unmatchedPayment(reference: string, { mode, startedAt }: Run, rows: ReportedRow[], days: number | null) {
  const money = rows.find(({ received, outflow }) => received > outflow);
  const openedAt = days === null ? null : new Date(startedAt.getTime() - days * 86_400_000);
  const alone = { reference, mode, status: 'unmatched' as const, nextCheckAt: null, openedAt };
  return money && { ...alone, amount: money.received - money.outflow, currency: money.currency };
}
