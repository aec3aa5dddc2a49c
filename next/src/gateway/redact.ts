const REDACTED = '[redacted]';
/** A piece of the key of this length is a part of the secret; a shorter one tells nothing. */
const PIECE = 12;

/**
 * Takes the secret key out of texts that are kept or printed, in case the service echoed it: as it is, escaped for JSON
 * or a URL, in hex and in base64, and each piece of it.
 */
export function createRedactor(key: string): (text: string) => string {
  // The prefix is no secret: sk_test_ alone stands in many texts.
  const secret = key.replace(/^sk_(test|live)_/, '');
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  forms.push(Buffer.from(secret).toString('hex'));
  // Three alignments: where the secret begins in a text decides its base64. The first and last letters depend on
  // others.
  for (const before of ['', 'x', 'xx']) {
    const whole = Buffer.from(before + secret);
    for (const encoding of ['base64', 'base64url'] as const) forms.push(whole.toString(encoding).slice(4, -4));
  }
  const pieces = new Set<string>();
  for (const form of forms)
    for (let from = 0; from + PIECE <= form.length; from += 1) pieces.add(form.slice(from, from + PIECE));
  if (secret.length >= 6 && secret.length < PIECE) pieces.add(secret);
  if (pieces.size === 0) return (text) => text;
  const escaped = [...pieces].map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?:${escaped.join('|')})+`, 'gi');
  return (text) => text.replace(pattern, REDACTED);
}
