import { setImmediate } from 'node:timers/promises';
import type { PagePosition } from '../gateway/adapter.ts';
import { Unanswered } from '../gateway/errors.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { digestOf } from '../platform/ids.ts';

/** How the adapter reads a list: of transactions, or of transfers. */
export type List = {
  rows(page: unknown): readonly unknown[] | null;
  next(page: unknown, at: PagePosition): string | null;
};
/** Where a reading stands: the page to be read next. */
export type Position = { path: string; number: number };
export type Page = { rows: readonly unknown[]; next: Position | null };
/** How a reading of the list ended. null: it is whole; else why not, a sentence for people. */
export type End = string | null;
type Source = Pick<Gateway, 'page'>;

/**
 * Reads a list page by page. The adapter decides where it ends. A path or a page that was there
 * before would go on for ever: the reading ends there and is incomplete. The texts of rows are not
 * redacted.
 * @param from the first page, or the one to go on with
 * @throws {Unanswered} when a page could not be had
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
    if (rows.length > 0 && seen.has(ends)) return `page ${number} of the list has no new row`;
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
    if (isSeen) return `page ${next.number} of the list is a page that was read before`;
    ({ path, number } = next);
  }
}

/**
 * Tells a page from all others: by its first and its last row, or by its text if JSON cannot write
 * a row.
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
    if (rows === null) return `page ${number} is not a page of the list`;
    const next = list.next(page, { path, number, rows: rows.length });
    return { rows, next: next === null ? null : { path: next, number: number + 1 } };
  } catch (error) {
    return `the adapter cannot read page ${number} of the list: ${String(error)}`;
  }
}
