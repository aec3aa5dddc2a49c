import type { ServiceAdapter, Window } from '../gateway/adapter.ts';
import type { Gateway } from '../gateway/gateway.ts';

export type Page = { rows: readonly unknown[]; path: string };
/** How a reading of the list ended; a reason is a sentence for people. */
export type End = { complete: true } | { complete: false; reason: string };

/**
 * Reads the list page by page. The adapter decides where it ends. A path that was there before, or a page of which no
 * row is new, would go on for ever: the reading ends there and is incomplete.
 * @param from a path to resume from; null: the first page
 * @throws {Unanswered} when a page could not be had
 */
export async function* readHistory(
  gateway: Pick<Gateway, 'page' | 'adapter'>,
  window: Window,
  from: string | null = null,
): AsyncGenerator<Page, End> {
  const seenPaths = new Set<string>();
  const firstRows = new Set<string>();
  let lastRows = new Set<string>();
  let path = from ?? gateway.adapter.history.first(window);
  for (let number = 1; ; number += 1) {
    if (seenPaths.has(path)) return incomplete(`page ${number} of the list is a page that was read before`);
    seenPaths.add(path);
    const { status, json } = await gateway.page(path);
    if (status < 200 || status > 299) return incomplete(`page ${number} of the list answered HTTP ${status}`);
    const page = readPage(gateway.adapter, json?.value, path, number);
    if ('reason' in page) return incomplete(page.reason);
    const { rows, next } = page;
    const texts = new Set(rows.map((row) => JSON.stringify(row)));
    const isOld = (text: string): boolean => firstRows.has(text) || lastRows.has(text);
    if (number > 1 && rows.length > 0 && [...texts].every(isOld))
      return incomplete(`page ${number} of the list has no new row`);
    if (number === 1) for (const text of texts) firstRows.add(text);
    lastRows = texts;
    yield { rows, path };
    if (next === null) return { complete: true };
    path = next;
  }
}

type Read = { rows: readonly unknown[]; next: string | null } | { reason: string };

function readPage({ history }: ServiceAdapter, page: unknown, path: string, number: number): Read {
  try {
    const rows = page === undefined ? null : history.rows(page);
    if (rows === null) return { reason: `page ${number} is not a page of the list` };
    return { rows, next: history.next(page, { path, number, rows: rows.length }) };
  } catch (error) {
    return { reason: `the adapter cannot read page ${number} of the list: ${String(error)}` };
  }
}

function incomplete(reason: string): End {
  return { complete: false, reason };
}
