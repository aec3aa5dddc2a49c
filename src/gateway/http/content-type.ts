import type { ClientAnswer } from './client.ts';

// The charset is ignored: JSON is UTF-8 (RFC 8259), and the reader refuses anything else.
const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;

/**
 * Whether an answer may be read as JSON. A page or a plain text comes from another sender, perhaps a
 * proxy, even if it looks like JSON. An answer without a type may be JSON: RFC 9110 lets the recipient
 * inspect it, and the reader is strict.
 */
export function mayBeJson(headers: ClientAnswer['headers']): boolean {
  const type = headers['content-type'];
  return type === undefined || (typeof type === 'string' && JSON_TYPE.test(type));
}
