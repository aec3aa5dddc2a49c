import type { Gateway } from '../gateway/gateway.ts';
import { GatewayKeyRefused, GatewayUnavailable } from '../gateway/errors.ts';
import { readHistory } from '../gateway/history.ts';
import type { Progress } from './progress.ts';
import { onlyCurrency, type Session } from './repository.ts';
import { createStaging, foldHistory, stageRows } from './staging/repository.ts';

export type HistoryRead = {
  records: number;
  pages: number;
  unreadable: number;
  /** Why the list is not whole; null when it is. What was read is staged all the same: money in it is real. */
  cut: string | null;
  isKeyRefused: boolean;
};

export type HistoryQuestion = {
  since?: Date | undefined;
  until?: Date | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
};

/** Streams the service's history into the run's staging table, in constant memory, and folds it. */
export async function stageHistory(
  session: Session,
  gateway: Gateway,
  { onProgress, ...question }: HistoryQuestion,
): Promise<HistoryRead> {
  const { mode, dialect, client } = gateway;
  await createStaging(session);
  // An amount without a currency can be read only where every payment has the same one.
  const mayLackCurrency = dialect.verify.currencyMayBeAbsent;
  const assumedCurrency = mayLackCurrency ? await onlyCurrency(session, mode) : null;
  const read: HistoryRead = { records: 0, pages: 0, unreadable: 0, cut: null, isKeyRefused: false };
  try {
    for await (const { rows, pages, end } of readHistory(client, dialect, {
      ...question,
      assumedCurrency,
    })) {
      await stageRows(session, rows, read.records);
      read.records += rows.length;
      read.pages = pages;
      for (const { status } of rows) if (status === 'unreadable') read.unreadable += 1;
      onProgress?.({ step: 'history', records: read.records, pages });
      if (end?.complete === false) read.cut = end.reason;
    }
  } catch (error) {
    if (!(error instanceof GatewayUnavailable || error instanceof GatewayKeyRefused)) throw error;
    read.cut = error.message;
    read.isKeyRefused = error instanceof GatewayKeyRefused;
  }
  if (read.cut === null && read.records > 0 && read.records === read.unreadable)
    read.cut = 'no record of the history could be read: check the pointers in the dialect';
  await foldHistory(session);
  return read;
}
