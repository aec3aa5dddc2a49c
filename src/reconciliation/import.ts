import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Unanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { readPages, type End, type Position } from './history.ts';
import { readRow } from './row.ts';

/**
 * The counts of a reading so far. `why` is the reason of the first unreadable row. `totals` are
 * minor units by currency.
 */
export type Counts = {
  records: number;
  pages: number;
  unreadable: number;
  why: string | null;
  setAside: { records: number; totals: Record<string, string> };
};
/** The point at which an interrupted run goes on. Its rows up to `lastId` are in `history_rows`. */
export type Checkpoint = { next: Position | null; lastId: string; counts: Counts; window: string };

type ImportParts = { prisma: PrismaClient; gateway: Gateway; client: pg.Client };
type Save = (checkpoint: Checkpoint) => Promise<unknown>;
type Imported = { end: End; counts: Counts; isBroken: boolean };

const ROWS_BETWEEN_CHECKPOINTS = 20_000;
/** The session must not stay idle for long, or a firewall closes its connection. */
const PAGES_BETWEEN_WRITES = 20;

/**
 * Reads the history into `history_rows`, starting at the checkpoint. Rows are written once for
 * several pages, while the next page is read.
 * @param save stores a checkpoint after the rows before it were written
 * @returns `isBroken`: a page could not be read, and the next run may go on at the checkpoint
 */
export async function importHistory(parts: ImportParts, checkpoint: Checkpoint, save: Save): Promise<Imported> {
  const { prisma, gateway, client } = parts;
  let { next } = checkpoint;
  const { counts } = checkpoint;
  let [saved, repeats] = [counts.records, 0];
  let last: Read[] = [];
  let unwritten: string[] = [];
  const write = async (): Promise<void> => {
    if (unwritten.length === 0) return;
    await writeRows(client, unwritten);
    unwritten = [];
  };
  const keep = async (): Promise<void> => {
    saved = counts.records;
    await write();
    // An address that contains our key is not stored. Such a run begins again.
    if (next !== null && gateway.redact(next.path) !== next.path) return;
    // An aggregate would read the whole table.
    const newest = await prisma.historyRow.findFirst({ orderBy: { id: 'desc' } });
    await save({ ...checkpoint, next, lastId: String(newest?.id ?? 0n), counts });
  };
  if (next === null) return { end: null, counts, isBroken: false };
  const pages = readPages(gateway, gateway.adapter.history, next);
  for (;;) {
    const page = await pages.next().catch((error: unknown) => {
      if (error instanceof Unanswered) return `the history could not be read: ${error.message}`;
      throw error;
    });
    if (typeof page === 'string' || page.done === true) {
      const end = typeof page === 'string' ? page : page.value;
      if (end === null) next = null;
      await keep();
      return { end, counts, isBroken: typeof page === 'string' };
    }
    counts.pages += 1;
    const read = page.value.rows.map((row) => ({ row, ...lineOf(row, gateway, counts) }));
    repeats = hasNewRow(last, read) ? 0 : repeats + 1;
    if (repeats === MAX_REPEATS) {
      await keep();
      return { end: `page ${counts.pages} of the history has no new row`, counts, isBroken: false };
    }
    const lines = read.slice(overlapOf(last, read)).flatMap(({ isKept, line }) => (isKept ? line : []));
    last = read;
    // Only the kept columns are redacted, not the whole page.
    unwritten.push(gateway.redact(lines.join('')));
    next = page.value.next;
    if (unwritten.length === PAGES_BETWEEN_WRITES) await write();
    if (counts.records - saved >= ROWS_BETWEEN_CHECKPOINTS && next !== null) await keep();
  }
}

/**
 * Some services clamp the offset at the end and return the last page again and again. Two equal
 * pages in a row are allowed.
 */
const MAX_REPEATS = 2;

/** Whether a page has a row that the page before has not. An empty page counts as new. */
function hasNewRow(last: readonly Read[], read: readonly Read[]): boolean {
  const before = new Set(last.map(({ line }) => line));
  return read.length === 0 || read.some(({ line }) => !before.has(line));
}

/** @param texts lines as COPY wants them */
async function writeRows(client: pg.Client, texts: readonly string[]): Promise<void> {
  const columns = 'mode, reference, currency, received, outflow, status, word, transaction_id';
  const into = client.query(copyFrom(`COPY history_rows (${columns}) FROM STDIN WITH (FORMAT csv)`));
  await pipeline(texts, into);
}

type Read = { row: unknown; line: string; isKept: boolean };

/**
 * How many rows at the beginning of a page repeat the end of the page before. While the history is
 * read, new payments move all rows to later pages, and an outflow that is read twice would count
 * twice.
 */
function overlapOf(last: readonly Read[], read: readonly Read[]): number {
  const [first] = read;
  for (let start = Math.max(0, last.length - read.length); start < last.length; start += 1) {
    if (last[start]?.line !== first?.line) continue;
    const end = last.slice(start);
    if (end.every(({ row }, place) => isDeepStrictEqual(row, read[place]?.row))) return end.length;
  }
  return 0;
}

/**
 * A row in the format of COPY. Rows that cannot be read or are set aside are counted and not kept.
 */
function lineOf(reported: unknown, gateway: Gateway, counts: Counts): { line: string; isKept: boolean } {
  counts.records += 1;
  const read = readRow(reported, gateway);
  if ('unreadable' in read) {
    counts.unreadable += 1;
    counts.why ??= gateway.redact(read.unreadable).slice(0, 200);
    return { line: rawLine(reported, counts), isKept: false };
  }
  const { aside, row } = read;
  if (aside) counts.setAside.records += 1;
  if (row === null) return { line: rawLine(reported, counts), isKept: false };
  const { reference, currency, received, outflow, status, word, transactionId } = row;
  const { totals } = counts.setAside;
  const balance = received - outflow;
  if (aside && balance !== 0n) totals[currency] = String(BigInt(totals[currency] ?? 0) + balance);
  const id = transactionId === null ? '' : cell(transactionId);
  const amounts = `${received},${outflow},${status}`;
  const line = `${gateway.mode},${cell(reference)},${cell(currency)},${amounts},${cell(word)},${id}\n`;
  return { line, isKept: !aside };
}

/** The text of a row that is not kept. Comparing pages needs it. */
function rawLine(row: unknown, counts: Counts): string {
  try {
    return JSON.stringify(row);
  } catch {
    return `record ${counts.records}`;
  }
}

/** PostgreSQL refuses NUL in texts. */
const cell = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;
