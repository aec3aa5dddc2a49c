import type { PagePosition } from '../gateway/adapter.ts';
import type { Gateway } from '../gateway/gateway.ts';

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

/**
 * Reads a list page by page. The adapter decides where it ends. A path that was there before, or a page of which no
 * row is new, would go on for ever: the reading ends there and is incomplete. The texts of rows are not redacted.
 * @param from the first page, or the one to go on with
 * @throws {Unanswered} when a page could not be had
 */
export async function* readPages(
  gateway: Pick<Gateway, 'page'>,
  list: List,
  from: Position,
): AsyncGenerator<Page, End> {
  const seenPaths = new Set<string>();
  let first: readonly unknown[] = [];
  let last: readonly unknown[] = [];
  let { path, number } = from;
  let answer = gateway.page(path);
  for (;;) {
    seenPaths.add(path);
    const { status, json } = await answer;
    if (status < 200 || status > 299) return `page ${number} of the list answered HTTP ${status}`;
    const page = readPage(list, json?.value, path, number);
    if (typeof page === 'string') return page;
    const { rows, next } = page;
    if (isRepeated(rows, first, last)) return `page ${number} of the list has no new row`;
    if (first.length === 0) first = rows;
    last = rows;
    number += 1;
    const isSeen = next !== null && seenPaths.has(next);
    // It comes while this one is written. Who stops here does not hear that it failed.
    if (next !== null && !isSeen) (answer = gateway.page(next)).catch(() => undefined);
    yield { rows, next: next === null ? null : { path: next, number } };
    if (next === null) return null;
    if (isSeen) return `page ${number} of the list is a page that was read before`;
    path = next;
  }
}

/** Whether each row was on the first page or the last one. Compared whole only where an end of it was an end there. */
function isRepeated(rows: readonly unknown[], ...pages: (readonly unknown[])[]): boolean {
  const textsOf = (some: readonly unknown[]) => some.map((row) => JSON.stringify(row));
  const endsOf = (some: readonly unknown[]) => textsOf([some[0], some.at(-1)]);
  const ends = endsOf(rows);
  if (rows.length === 0 || !pages.flatMap(endsOf).some((end) => ends.includes(end))) return false;
  const known = new Set(pages.flatMap(textsOf));
  return textsOf(rows).every((text) => known.has(text));
}

type Read = { rows: readonly unknown[]; next: string | null };

function readPage(list: List, page: unknown, path: string, number: number): Read | string {
  try {
    const rows = page === undefined ? null : list.rows(page);
    if (rows === null) return `page ${number} is not a page of the list`;
    return { rows, next: list.next(page, { path, number, rows: rows.length }) };
  } catch (error) {
    return `the adapter cannot read page ${number} of the list: ${String(error)}`;
  }
}
