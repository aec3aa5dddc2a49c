import { createHash } from 'node:crypto';
import { GatewayKeyRefused, GatewayUnavailable } from '../../gateway/errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { readHistoryInto } from '../../gateway/history/history.ts';
import { HORIZON_SEC } from '../../payments/check-schedule.ts';
import { clearHistory, findStart, saveCheckpoint, type Checkpoint } from './checkpoint.sql.ts';
import type { Progress } from '../progress.ts';
import { firstPaymentTime, onlyCurrency, type Session } from '../session.sql.ts';
import { dropRows, foldHistory, openStaging, totalsOfFees, type FeeTotal } from './staging.sql.ts';
import { createStager, type Stager } from './stager.ts';

export type HistoryRead = {
  /** The database's time at which the list was begun. */
  startedAt: Date;
  records: number;
  pages: number;
  unreadable: number;
  /**
   * Why the list is not whole; null when it is. The rows that were read are staged all the same:
   * money in them is real.
   */
  cut: string | null;
  /** Whether the end of the list is only assumed: no answer of the service marked it. */
  isEndAssumed: boolean;
  /** Whether older transactions were left out, because the list has the newest first. */
  isPart: boolean;
  isKeyRefused: boolean;
  /**
   * The fees that the service deducted according to the records; empty where the
   * dialect does not name them.
   */
  fees: FeeTotal[];
  /** Deletes what was read. If the service broke off, it is kept, and the next run continues from there. */
  clear(): Promise<void>;
};

type HistoryQuestion = {
  since?: Date | undefined;
  until?: Date | undefined;
  dryRun: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
};

/** Streams the service's history into the run's staging table, in constant memory, and folds it. */
export async function stageHistory(
  session: Session,
  gateway: Gateway,
  asked: HistoryQuestion,
): Promise<HistoryRead> {
  const { mode } = gateway;
  const hasFees = gateway.dialect.history.fee !== undefined;
  const staging = await openStaging(session, mode, { isDry: asked.dryRun, hasFees });
  const question = digestOf(gateway, asked);
  const start = await findStart(session, mode, question);
  const from = asked.dryRun ? null : start.checkpoint;
  if (from !== null) await dropRows(session, staging, from.records);
  else if (start.isLeft && !asked.dryRun) await clearHistory(session, mode);
  const startedAt = from?.startedAt ?? start.now;
  const stager = createStager({
    session,
    staging,
    from,
    saveCheckpoint: async (checkpoint) => {
      if (!asked.dryRun) await saveCheckpoint(session, mode, question, { startedAt, ...checkpoint });
    },
  });
  const end = await readToEnd(session, gateway, asked, stager, from);
  await foldHistory(session, staging);
  const { records, unreadable } = stager.counts();
  const isUseless = end.cut === null && records > 0 && records === unreadable;
  return {
    startedAt,
    records,
    unreadable,
    ...end,
    fees: await totalsOfFees(session, staging),
    cut: isUseless ? 'no record of the history could be read: check the pointers in the dialect' : end.cut,
    clear: () => (asked.dryRun || end.isBrokenOff ? Promise.resolve() : clearHistory(session, mode, records)),
  };
}

type End = Pick<HistoryRead, 'pages' | 'cut' | 'isEndAssumed' | 'isPart' | 'isKeyRefused'> & {
  isBrokenOff: boolean;
};

async function readToEnd(
  session: Session,
  { mode, dialect, client }: Gateway,
  { since, until, signal, onProgress }: HistoryQuestion,
  stager: Stager,
  from: Checkpoint | null,
): Promise<End> {
  // An amount without a currency is readable only if all payments have the same one.
  const mayLackCurrency = dialect.verify.currencyMayBeAbsent;
  const assumedCurrency = mayLackCurrency ? await onlyCurrency(session, mode) : null;
  const pages = from?.place.pages ?? 0;
  const end: End = {
    pages,
    cut: null,
    isEndAssumed: false,
    isPart: false,
    isKeyRefused: false,
    isBrokenOff: false,
  };
  // Windows need a start: the time of our first payment, and before it now, so that a begin sees what the
  // runs after it see.
  const isOpen = since === undefined && dialect.history.paging.windowDays !== null;
  const begin = isOpen ? await firstPaymentTime(session, mode) : since;
  // A transaction may be so much younger than the payment, and a filter may apply to the day it was paid.
  const last = until && new Date(until.getTime() + HORIZON_SEC * 1_000);
  const options = { since: begin, until: last, assumedCurrency, signal, from: from?.place ?? null };
  try {
    for await (const batch of readHistoryInto(client, dialect, options, stager.collector)) {
      await stager.take(batch);
      end.pages = batch.pages;
      onProgress?.({ step: 'history', records: stager.counts().records, pages: batch.pages });
      if (batch.end?.complete === false) end.cut = batch.end.reason;
      if (batch.end?.complete !== true) continue;
      end.isEndAssumed = batch.end.isAssumed === true;
      end.isPart = batch.end.isPart === true;
    }
  } catch (error) {
    if (!(error instanceof GatewayUnavailable || error instanceof GatewayKeyRefused)) throw error;
    end.cut = error.message;
    end.isBrokenOff = true;
    end.isKeyRefused = error instanceof GatewayKeyRefused;
  }
  await stager.finish();
  return end;
}

/**
 * Of how rows are staged. A row that an earlier version staged may have another id than when it is read
 * again.
 */
const STAGING_VERSION = 2;

/** Identifies the question: rows read for one window and dialect cannot be reused for another. */
function digestOf({ dialect }: Gateway, { since, until }: HistoryQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([STAGING_VERSION, dialect, since, until]))
    .digest('hex');
}
