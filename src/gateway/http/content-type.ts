import type { ClientAnswer } from './client.ts';

// A charset is not looked at: JSON is UTF-8 (RFC 8259), and what is not does not get past the reader.
const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;

/**
 * Whether an answer may be read as JSON. A page or a text is somebody else's, a proxy's perhaps, whatever it looks like.
 * An answer without a type claims nothing: RFC 9110 leaves it to the recipient to look, and the reader is strict.
 */
export function mayBeJson(headers: ClientAnswer['headers']): boolean {
  const type = headers['content-type'];
  return type === undefined || (typeof type === 'string' && JSON_TYPE.test(type));
}
