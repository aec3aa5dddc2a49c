import { createHash } from 'node:crypto';
import { GatewayKeyRefused, GatewayUnavailable } from '../../gateway/errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { readHistoryInto } from '../../gateway/history/history.ts';
import { HORIZON_SEC } from '../../payments/recheck-schedule.ts';
import { findBookmark, removeBookmark, saveBookmark, type Bookmark } from './checkpoint.sql.ts';
import type { Progress } from '../progress.ts';
import { databaseTime, firstPaymentTime, onlyCurrency, type Session } from '../session.sql.ts';
import {
  dropRows,
  foldHistory,
  openStaging,
  totalsOfFees,
  type FeeTotal,
  type Staging,
} from './staging.sql.ts';
import { createStager, type Stager } from './stager.ts';

export type HistoryRead = {
  /** The database's time at which the list was begun. */
  startedAt: Date;
  records: number;
  pages: number;
  unreadable: number;
  /** Why the list is not whole; null when it is. What was read is staged all the same: money in it is real. */
  cut: string | null;
  /** Whether nothing in the answers said that the list ends where it did. */
  isEndAssumed: boolean;
  isKeyRefused: boolean;
  /** What the records say that the service took; empty where the dialect does not name it. */
  fees: FeeTotal[];
  /** Forgets what was read. When the service broke off it is kept, and the next run goes on from there. */
  clear(): Promise<void>;
};

export type HistoryQuestion = {
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
  const from = asked.dryRun ? null : await findBookmark(session, mode, question);
  // The bookmark goes before the rows: were we killed between the two, it would promise rows that are gone.
  if (from === null && !asked.dryRun) await removeBookmark(session, mode);
  await dropRows(session, staging, from?.records ?? 0);
  const startedAt = from?.startedAt ?? (await databaseTime(session));
  const stager = createStager({
    session,
    staging,
    from,
    saveBookmark: async (bookmark) => {
      if (!asked.dryRun) await saveBookmark(session, mode, question, { startedAt, ...bookmark });
    },
  });
  const end = await readToEnd(session, gateway, asked, stager, from);
  await foldHistory(session, staging, stager.areRepeatsNoted());
  const { records, unreadable } = stager.counts();
  const isUseless = end.cut === null && records > 0 && records === unreadable;
  return {
    startedAt,
    records,
    unreadable,
    ...end,
    fees: await totalsOfFees(session, staging),
    cut: isUseless ? 'no record of the history could be read: check the pointers in the dialect' : end.cut,
    clear: () => (asked.dryRun || end.isBrokenOff ? Promise.resolve() : forget(session, gateway, staging)),
  };
}

type End = Pick<HistoryRead, 'pages' | 'cut' | 'isEndAssumed' | 'isKeyRefused'> & { isBrokenOff: boolean };

async function readToEnd(
  session: Session,
  { mode, dialect, client }: Gateway,
  { since, until, signal, onProgress }: HistoryQuestion,
  stager: Stager,
  from: Bookmark | null,
): Promise<End> {
  // An amount without a currency can be read only where every payment has the same one.
  const mayLackCurrency = dialect.verify.currencyMayBeAbsent;
  const assumedCurrency = mayLackCurrency ? await onlyCurrency(session, mode) : null;
  const pages = from?.place.pages ?? 0;
  const end: End = { pages, cut: null, isEndAssumed: false, isKeyRefused: false, isBrokenOff: false };
  // Windows need a beginning: that of our payments.
  const isOpen = since === undefined && dialect.history.paging.windowDays !== null;
  const begin = isOpen ? await firstPaymentTime(session, mode) : since;
  const options = { ...lookingBack(begin, until), assumedCurrency, signal, from: from?.place ?? null };
  try {
    for await (const batch of readHistoryInto(client, dialect, options, stager.collector)) {
      await stager.take(batch);
      end.pages = batch.pages;
      onProgress?.({ step: 'history', records: stager.counts().records, pages: batch.pages });
      if (batch.end?.complete === false) end.cut = batch.end.reason;
      end.isEndAssumed = batch.end?.complete === true && batch.end.isAssumed === true;
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

/** A transaction may be as much younger than its payment as a payment lives, and a filter may mean the day it was paid. */
function lookingBack(since: Date | undefined, until: Date | undefined) {
  const shifted = (date: Date | undefined, sec: number): Date | undefined =>
    date && new Date(date.getTime() + sec * 1_000);
  return { since: shifted(since, -HORIZON_SEC), until: shifted(until, HORIZON_SEC) };
}

/** What was read by one question says nothing about another: another window, another dialect. */
function digestOf({ dialect }: Gateway, { since, until }: HistoryQuestion): string {
  return createHash('sha256')
    .update(JSON.stringify([dialect, since, until]))
    .digest('hex');
}

async function forget(session: Session, { mode }: Gateway, staging: Staging): Promise<void> {
  await removeBookmark(session, mode);
  await dropRows(session, staging, 0);
}
