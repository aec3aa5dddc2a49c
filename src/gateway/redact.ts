const REDACTED = '[redacted]';
/** A piece of the key of this length is a part of the secret; a shorter one tells nothing. */
const PIECE = 12;

/**
 * Takes the secret key out of texts that are kept or printed, in case the service echoed it: as it
 * is, escaped for JSON or a URL in whatever way, in hex and in base64, and each piece of it.
 */
export function createRedactor(key: string): (text: string) => string {
  // The prefix is no secret: sk_test_ alone stands in many texts.
  const secret = key.replace(/^sk_(test|live)_/, '');
  const forms = [secret, Buffer.from(secret).toString('hex')];
  // Three alignments: where the secret begins in a text decides its base64. First and last letters
  // depend on others.
  for (const before of ['', 'x', 'xx'])
    for (const encoding of ['base64', 'base64url'] as const)
      forms.push(
        Buffer.from(before + secret)
          .toString(encoding)
          .slice(4, -4),
      );
  const plain = patternOf(forms.flatMap(piecesOf), escape);
  // Slower, so only where there are escapes at all.
  const escaped = patternOf(piecesOf(secret), spellings);
  return (text) => {
    // First: the other one would take half of an escape, and leave JSON that nobody can read.
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

/** A character as it is, behind a backslash, and by its number in JSON or a URL. */
function spellings(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  return `(?:\\\\?${escape(character)}|\\\\u00${hex}|%${hex})`;
}
