import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../../platform/secret.ts';
import { createKeySearch, type KeySearch, type Stretch } from './key-search.ts';

/** The text that replaces the key. */
export const REDACTED = '[redacted]';
const MARK = Buffer.from(REDACTED);

type Headers = IncomingHttpHeaders;

/**
 * Removes our own key from everything received, before it is stored, shown or logged: the whole key or a
 * piece of it, in any case, escaped as in URLs or JSON, in hex or in base64. Input without the key is
 * returned as the very same object.
 */
export type KeyRedactor = {
  clean(body: Buffer): Buffer;
  cleanHeaders(headers: Headers): Headers;
  /** For a body in chunks; the key may lie across them. The output has other chunk boundaries. */
  cleanStream(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
};

export function createKeyRedactor(key: Secret): KeyRedactor {
  const search = createKeySearch(key.reveal());
  const clean = (body: Buffer): Buffer => without(body, search.find(body));
  const cleanText = (text: string): string => clean(Buffer.from(text)).toString();
  return {
    clean,
    cleanHeaders: (headers) => {
      const all = Buffer.from(Object.values(headers).flat().join('\n'));
      if (search.find(all).length === 0) return headers;
      const entries = Object.entries(headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map(cleanText) : value === undefined ? value : cleanText(value),
      ]);
      return Object.fromEntries(entries) as Headers;
    },
    cleanStream: (body) => cleanStream(body, search),
  };
}

/** Holds back the last bytes of each chunk, in which a form of the key may have begun. */
async function* cleanStream(
  body: AsyncIterable<Buffer>,
  { find, longest }: KeySearch,
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      // Nearly always there is no key in the chunk or across the seam; then only the seam is copied.
      const seam = Buffer.concat([held, chunk.subarray(0, longest)]);
      if (chunk.length > longest && find(seam).length === 0 && find(chunk).length === 0) {
        if (held.length > 0) yield held;
        yield chunk.subarray(0, -longest);
        held = chunk.subarray(-longest);
        continue;
      }
      const text = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const found = find(text);
      const cut = cutOf(text.length - longest, found);
      held = text.subarray(cut);
      if (cut > 0) yield without(text.subarray(0, cut), found);
    }
  } catch (error) {
    // The bytes before an error are passed on, as they would be without this filter.
    yield without(held, find(held));
    throw error;
  }
  if (held.length > 0) yield without(held, find(held));
}

/** Where a text may be cut, near `at`, without splitting a range. */
function cutOf(at: number, found: readonly Stretch[]): number {
  const crossed = found.find(({ start, end }) => start < at && end > at);
  return Math.max(crossed?.start ?? at, 0);
}

/** The text with a mark in place of each range that lies in it. */
function without(text: Buffer, stretches: readonly Stretch[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end } of stretches) {
    if (end > text.length) break;
    parts.push(text.subarray(from, start), MARK);
    from = end;
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, text.subarray(from)]);
}
