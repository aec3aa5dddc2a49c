import PQueue from 'p-queue';
import type pg from 'pg';
import type { Logger } from 'pino';
import { storable } from '../gateway/evidence.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AskParts } from '../payments/due.ts';
import { isDatabaseAway, type Database } from '../platform/db.ts';
import type { Prisma, Run } from '../platform/prisma/client.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import { proveCash } from './cash.ts';
import { isApplied, settlePayment, type AppliedRun } from './apply.ts';
import { applyFirst, compare, compareWindow, dropRows, MOST_DIFFERENCES, rowsAbout, setAside } from './compare.ts';
import type { Comparison, Difference, ReportedRows, ReportedRow } from './compare.ts';
import { createIdentity, type Identity } from './identity.ts';
import { importHistory, type Checkpoint, type Counts } from './import.ts';
import { openItems, type Report } from './report.ts';

export type ReconcileParts = AskParts & { gateway: Gateway; database: Database; onMessage(): void; logger: Logger };

export type RunOptions = {
  /** A window of the history, which judges no totals; both null: the whole history. */
  since: Date | null;
  until: Date | null;
  /** Reads and compares; asks nobody, and decides nothing. */
  dryRun?: boolean;
  /**
   * The first connection to an account with a past: what the history has and we lack is set aside,
   * for ever.
   */
  begin?: boolean;
  progress?: (text: string) => void;
};

/** A run that was interrupted longer ago begins anew. */
const RESUME_MS = 6 * 3_600_000;
/** Questions of one run; the next one goes on. */
const MOST_QUESTIONS = 5_000;
const QUESTIONS_AT_ONCE = 8;
const BATCH = 500;
/** More unmatched payments than that at once are an account with a past, or of somebody else. */
const MOST_UNMATCHED = 100;
/** Of the payments that a whole history should have, it may lack ten, or one in a hundred. */
const MOST_LACKING = 10;
const BEGIN = 'is it the right account? If it had payments before this shop, run reconcile --begin once';

/**
 * Compares the service's history with our payments, one run at a time per mode: read it, compare,
 * ask verify about what differs, apply the history, and report. It may be stopped at any moment:
 * what was read is kept, and the rest is repeated.
 * @throws {UserFacingError} while another run is under way (exit code 2)
 */
export async function reconcile(parts: ReconcileParts, options: RunOptions): Promise<Report> {
  const client = await parts.database.openSession();
  try {
    // Until the connection ends. Its statements may take longer than those that somebody waits for.
    const { rows } = await client.query<{ had: boolean }>(
      `SELECT set_config('statement_timeout', '0', false), set_config('work_mem', '128MB', false),
        set_config('jit', 'off', false), pg_try_advisory_lock(hashtext('reconciliation'), hashtext($1)) AS had`,
      [parts.policy.mode],
    );
    if (rows[0]?.had !== true) throw new UserFacingError('another reconciliation is under way: wait for it', 2);
    return await runLocked(parts, client, options);
  } finally {
    // The server notices a closed connection late, and the next run must not.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    void client.end().catch(() => undefined);
  }
}

type Running = ReconcileParts & { client: pg.Client; options: RunOptions; run: Run; counts: Counts };

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
  // What could not be had goes on from its checkpoint; the rest is done.
  await save({ ...(!isBroken && ended()), report, verdict: report.verdict });
  if (options.dryRun === true) await prisma.run.delete({ where });
  return report;
}

const ended = () => ({ endedAt: new Date(), verdict: 'incomplete', checkpoint: {} });

/** The run that was interrupted, if its rows are still there, or a new one. */
async function openRun(
  { prisma, gateway, policy: { mode } }: ReconcileParts,
  client: pg.Client,
  { since, until, dryRun = false }: RunOptions,
): Promise<{ run: Run; checkpoint: Checkpoint }> {
  // A checkpoint belongs to one version of the adapter: another one may page, read or count
  // otherwise.
  const window = JSON.stringify([since, until, gateway.adapterVersion]);
  const last = await prisma.run.findFirst({ where: { mode, endedAt: null }, orderBy: { id: 'desc' } });
  const found = last?.checkpoint as Checkpoint | null | undefined;
  if (!dryRun && last && found?.window === window && Date.now() - last.startedAt.getTime() < RESUME_MS) {
    await dropRows(client, mode, found.lastId);
    // A crash of the database has emptied the table.
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
  // An address with our key in it is not kept: such a run begins anew.
  const kept = gateway.redact(next.path) === next.path ? checkpoint : {};
  return { run: await prisma.run.create({ data: { mode, full, checkpoint: kept } }), checkpoint };
}

/** The report of a history that could not be judged, and what all others begin with. */
async function baseReport({ prisma, gateway, run, counts }: Running, reason: string): Promise<Report> {
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

/** `matched`: payments that look different to SQL, although their rows are applied already. */
type Done = { matched: number; verified: number; repaired: number; left: number; unmatched: number };

/** Compares a history that was read to its end, settles what differs, and says how that went. */
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
  return report(running, { ...done, compared, identity: identity.report(), differs: differences.length });
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

type Outcome = Done & { compared: Comparison['counts'] | null; identity: Identity[]; differs: number };

async function report(running: Running, outcome: Outcome): Promise<Report> {
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

/** Settles one reference. If the database refuses its change, the others go on without it. */
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

/** The row of an unmatched payment. It has no order, and is as old as the history reaches back. */
function unmatchedPayment(reference: string, { mode, startedAt }: Run, rows: ReportedRow[], days: number | null) {
  const money = rows.find(({ received, outflow }) => received > outflow);
  const openedAt = days === null ? null : new Date(startedAt.getTime() - days * 86_400_000);
  const alone = { reference, mode, status: 'unmatched' as const, nextCheckAt: null, openedAt };
  return money && { ...alone, amount: money.received - money.outflow, currency: money.currency };
}
