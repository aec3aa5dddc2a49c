const REDACTED = '[redacted]';
/**
 * A piece of the key with this length counts as a part of the secret. A shorter piece reveals too
 * little.
 */
const PIECE = 12;

/**
 * Removes the secret key from texts that are kept or printed, in case the service echoed it. It
 * finds each piece of the key: as it is, escaped for JSON or a URL in any way, in hex and in
 * base64.
 */
export function createRedactor(key: string): (text: string) => string {
  // The prefix is not secret: sk_test_ alone appears in many texts.
  const secret = key.replace(/^sk_(test|live)_/, '');
  const forms = [secret, Buffer.from(secret).toString('hex')];
  // Base64 depends on the position of the secret in the text, so there are three alignments. The
  // first and last characters depend on the surrounding text and are cut off.
  for (const before of ['', 'x', 'xx'])
    for (const encoding of ['base64', 'base64url'] as const)
      forms.push(
        Buffer.from(before + secret)
          .toString(encoding)
          .slice(4, -4),
      );
  const plain = patternOf(forms.flatMap(piecesOf), escape);
  // This pattern is slower, so it is used only if the text contains escapes.
  const escaped = patternOf(piecesOf(secret), spellings);
  return (text) => {
    // This replacement is first. The other one would replace half of an escape and leave invalid
    // JSON.
    const cleaned = /[\\%]/.test(text) ? text.replace(escaped, REDACTED) : text;
    return cleaned.replace(plain, REDACTED);
  };
}

function piecesOf(form: string): string[] {
  if (form.length < PIECE) return form.length < 6 ? [] : [form];
  return Array.from({ length: form.length - PIECE + 1 }, (_, from) => form.slice(from, from + PIECE));
}

function patternOf(pieces: string[], write: (character: string) => string): RegExp {
  const all = [...new Set(pieces)].map((piece) => Array.from(piece, write).join(''));
  return new RegExp(all.length === 0 ? '(?!)' : `(?:${all.join('|')})+`, 'gi');
}

const escape = (character: string): string => character.replace(/[.*+?^${}()|[\]\\/]/, '\\$&');

/** A character as it is, after a backslash, and by its number in JSON or a URL. */
function spellings(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `(?:\\\\?${escape(character)}|\\\\u00${hex}|%${hex})`;
}
