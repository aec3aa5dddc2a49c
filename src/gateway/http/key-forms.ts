/** A way in which a key can be written, and the length from which a piece of it is worth hiding. */
export type KeyForm = { text: Buffer; leastPiece: number };

/** Characters of a key that make a piece worth hiding; fewer could be anything. */
const PIECE = 12;

/** The forms that are searched for, in lower case: raw, hex, base64 and base64url. */
export function formsOf(key: string): KeyForm[] {
  const isShort = key.replace(/^sk_(?:test|live)_/, '').length < PIECE;
  // Of a short key only the whole is a secret: twelve characters are mostly the prefix that all keys have.
  const leastOf = (whole: number, piece: number): number => (isShort ? whole : Math.min(whole, piece));
  const form = (text: string, piece: number): KeyForm => ({
    text: folded(Buffer.from(text)),
    leastPiece: leastOf(text.length, piece),
  });
  const raw = form(key, PIECE);
  if (key.length < PIECE) return [raw];
  const inBase64 = base64Of(key).map((text) => form(text, (PIECE / 3) * 4));
  return [raw, form(Buffer.from(key).toString('hex'), PIECE * 2), ...inBase64];
}

/** The base64 of a key depends on its offset in the text: three forms, without what neighbours change. */
function base64Of(key: string): string[] {
  return [0, 1, 2].flatMap((phase) => {
    const full = Buffer.from('\0'.repeat(phase) + key).toString('base64');
    const middle = full.slice(phase === 0 ? 0 : 4, -4);
    return [...new Set([middle, middle.replaceAll('+', '-').replaceAll('/', '_')])];
  });
}

/** The byte in lower case. A key whose case was folded on the way is as good as the key. */
export const FOLD = Uint8Array.from({ length: 256 }, (_none, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

function folded(text: Buffer): Buffer {
  return text.map((byte) => FOLD[byte] ?? 0) as Buffer;
}
