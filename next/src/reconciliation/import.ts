import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Unanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { readPages, type End, type Position } from './history.ts';
import { readRow, type ListedRow } from './row.ts';

/** What was read so far. `why`: of the first unreadable row. `setAside`: minor units by currency. */
export type Counts = {
  records: number;
  pages: number;
  unreadable: number;
  why: string | null;
  setAside: { records: number; totals: Record<string, string> };
};
/** Where a run that was interrupted goes on: its rows up to `lastId` are in `listed`. */
export type Checkpoint = { next: Position | null; lastId: string; counts: Counts; window: string };

type ImportParts = { prisma: PrismaClient; gateway: Gateway; client: pg.PoolClient };

/** Rows between two checkpoints. */
const BATCH = 20_000;

/**
 * Reads the list into `listed`, from a checkpoint on where there is one.
 * @param save keeps a checkpoint, once the rows before it are in
 * @returns `isBroken`: a page could not be had, and the next run may go on from the checkpoint
 */
export async function importList(
  parts: ImportParts,
  checkpoint: Checkpoint,
  save: (checkpoint: Checkpoint) => Promise<unknown>,
): Promise<{ end: End; counts: Counts; isBroken: boolean }> {
  const { gateway } = parts;
  const { history } = gateway.adapter;
  let { next, lastId } = checkpoint;
  const { counts } = checkpoint;
  let batch: ListedRow[] = [];
  const flush = async (): Promise<void> => {
    lastId = await copy(parts, batch, lastId);
    batch = [];
    // An address that has our key in it is not kept: such a run begins anew.
    if (next === null || gateway.redact(next.path) === next.path) await save({ ...checkpoint, next, lastId, counts });
  };
  // The whole list was read before the interruption.
  if (next === null) return { end: null, counts, isBroken: false };
  const pages = readPages(gateway, history, next);
  for (;;) {
    const page = await pages.next().catch((error: unknown) => {
      if (error instanceof Unanswered) return `the list could not be read: ${error.message}`;
      throw error;
    });
    if (typeof page === 'string' || page.done === true) {
      const end = typeof page === 'string' ? page : page.value;
      if (end === null) next = null;
      await flush();
      return { end, counts, isBroken: typeof page === 'string' };
    }
    counts.pages += 1;
    for (const row of page.value.rows) take(row, gateway, counts, batch);
    next = page.value.next;
    if (batch.length >= BATCH && next !== null) await flush();
  }
}

function take(row: unknown, gateway: Gateway, counts: Counts, batch: ListedRow[]): void {
  counts.records += 1;
  const read = readRow(row, gateway);
  if ('unreadable' in read) {
    counts.unreadable += 1;
    counts.why ??= gateway.redact(read.unreadable).slice(0, 200);
  } else if (!read.aside) batch.push(read.row);
  else {
    counts.setAside.records += 1;
    const { totals } = counts.setAside;
    if (read.row !== null && read.row.shows !== 0n)
      totals[read.row.currency] = String(BigInt(totals[read.row.currency] ?? 0) + read.row.shows);
  }
}

/** By COPY. @returns the newest id */
async function copy({ prisma, gateway, client }: ImportParts, rows: ListedRow[], lastId: string): Promise<string> {
  if (rows.length === 0) return lastId;
  const { mode } = gateway;
  const lines = rows.map(({ reference, currency, shows, gone, status, word, serviceId }) => {
    const id = serviceId === null ? '' : cell(serviceId);
    return `${mode},${cell(reference)},${cell(currency)},${shows},${gone},${status},${cell(word)},${id}\n`;
  });
  const columns = 'mode, reference, currency, shows, gone, status, word, service_id';
  const into = client.query(copyFrom(`COPY listed (${columns}) FROM STDIN WITH (FORMAT csv)`));
  // What is kept is redacted, and not the whole page.
  await pipeline([gateway.redact(lines.join(''))], into);
  // Not by aggregate: that one reads the whole table.
  const newest = await prisma.listed.findFirst({ orderBy: { id: 'desc' } });
  return String(newest?.id ?? 0n);
}

/** PostgreSQL takes no NUL. */
const cell = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;
