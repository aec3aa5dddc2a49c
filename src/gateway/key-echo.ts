import type { SecretKey } from './secret-key.ts';

/** What stands where the key stood. */
export const REDACTED = '[redacted]';

/** So many characters of a key are a piece of it worth hiding; fewer could be anything. */
const PIECE = 12;
/** Any piece of twelve holds one whole block of six that begins at a multiple of six. */
const BLOCK = 6;

/**
 * Takes our own key out of an answer that echoes it, before anybody stores, shows or logs the answer: raw or a piece of
 * it, escaped as in addresses or JSON, in hex or in base64.
 * @returns a function that gives back the very same buffer where there is nothing to take out
 */
export function createKeyScrubber(key: SecretKey): (body: Buffer) => Buffer {
  const whole = key.reveal();
  const own = whole.replace(/^sk_(?:test|live)_/, '');
  const encoded = own.length < PIECE ? [] : [...inBase64(own), ...inHex(own)];
  // Reading an answer byte by byte would cost more than the rest of the call; looking for a few words is next to free.
  const signs = [...(own.length < PIECE ? [whole] : blocksOf(own)), ...encoded, '%', '\\'].map((text) =>
    Buffer.from(text),
  );
  const pieces = own.length < PIECE ? [whole] : [whole, own, ...piecesOf(own)];
  const pattern = new RegExp([...pieces.map(escapable), ...encoded.map(quoted)].join('|'), 'g');
  return (body) => {
    if (!signs.some((sign) => body.includes(sign))) return body;
    // Each byte is one character here, and becomes the same byte again.
    const text = body.toString('latin1');
    const clean = text.replace(pattern, REDACTED);
    return clean === text ? body : Buffer.from(clean, 'latin1');
  };
}

function blocksOf(text: string): string[] {
  const count = Math.floor(text.length / BLOCK);
  return Array.from({ length: count }, (_none, at) => text.slice(at * BLOCK, (at + 1) * BLOCK));
}

function piecesOf(text: string): string[] {
  return Array.from({ length: text.length - PIECE + 1 }, (_none, at) => text.slice(at, at + PIECE));
}

/** How base64 looks depends on where in the text the key begins, so there are three; what neighbours change is left off. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((phase) => {
    const full = Buffer.from('\0'.repeat(phase) + text).toString('base64');
    const middle = full.slice(phase === 0 ? 0 : 4, -4);
    return [...new Set([middle, middle.replaceAll('+', '-').replaceAll('/', '_')])];
  });
}

function inHex(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** A pattern for the text with any of its characters written plainly, as `%73` or as `\u0073`. */
function escapable(text: string): string {
  return Array.from(text, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
    const digits = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    return `(?:\\\\?${quoted(character)}|(?:%|\\\\u00)${digits})`;
  }).join('');
}

function quoted(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '\\$&');
}
