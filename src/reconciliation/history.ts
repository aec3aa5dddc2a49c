import { setImmediate } from 'node:timers/promises';
import type { PagePosition } from '../gateway/adapter.ts';
import { Unanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { digestOf } from '../platform/ids.ts';

/** The adapter's functions for pages of rows: of the history, or of transfers. */
export type List = {
  rows(page: unknown): readonly unknown[] | null;
  next(page: unknown, at: PagePosition): string | null;
};
/** The page that is read next. */
export type Position = { path: string; number: number };
export type Page = { rows: readonly unknown[]; next: Position | null };
/** Null: everything was read. Otherwise the reason why not, as a sentence for people. */
export type End = string | null;
type Source = Pick<Gateway, 'page'>;

/**
 * Reads rows page by page until the adapter names no next page. A path or a page that was read
 * before would make an endless loop, so the reading ends there and is incomplete. The texts of rows
 * are not redacted.
 * @param from the first page, or the page at which an interrupted reading goes on
 * @throws {Unanswered} when a page could not be read
 */
export async function* readPages(gateway: Source, list: List, from: Position): AsyncGenerator<Page, End> {
  const seen = new Set<string>();
  let { path, number } = from;
  let answer = gateway.page(path);
  for (;;) {
    seen.add(path);
    const { status, json, text } = await answer;
    if (status < 200 || status > 299 || json === undefined)
      throw new Unanswered(`page ${number} answered HTTP ${status}, ${json ? '' : 'not '}in JSON`, { sent: true });
    const page = readPage(list, json.value, path, number);
    if (typeof page === 'string') return page;
    const { rows, next } = page;
    const ends = endsOf(rows, text);
    if (rows.length > 0 && seen.has(ends)) return `page ${number} has no new row`;
    seen.add(ends);
    const isSeen = next !== null && seen.has(next.path);
    if (next !== null && !isSeen) {
      answer = gateway.page(next.path);
      // If the caller stops here, nobody waits for the next page, and its failure means nothing.
      answer.catch(() => undefined);
      // The request leaves now, so that the service works on it while the caller writes this page.
      await setImmediate();
    }
    yield page;
    if (next === null) return null;
    if (isSeen) return `page ${next.number} was read before`;
    ({ path, number } = next);
  }
}

/**
 * A text that differs for different pages. It is made of the first and the last row, or of the
 * whole text if JSON cannot write a row.
 */
function endsOf(rows: readonly unknown[], text: string): string {
  try {
    return JSON.stringify(digestOf([rows.length, rows[0], rows.at(-1)]));
  } catch {
    return JSON.stringify(digestOf(text));
  }
}

function readPage(list: List, page: unknown, path: string, number: number): Page | string {
  try {
    const rows = list.rows(page);
    if (rows === null) return `page ${number} is not a page of rows`;
    const next = list.next(page, { path, number, rows: rows.length });
    return { rows, next: next === null ? null : { path: next, number: number + 1 } };
  } catch (error) {
    return `the adapter cannot read page ${number}: ${String(error)}`;
  }
}
