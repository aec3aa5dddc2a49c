const PREFIX = /^sk_(?:test|live)_/;
const SLICE = 12;

/** Every form in which a key could stand somewhere: raw, encoded, and any twelve characters of its own. */
export function formsOfKey(key: string): string[] {
  const own = key.replace(PREFIX, '');
  const slices = Array.from({ length: Math.max(own.length - SLICE + 1, 0) }, (_none, at) =>
    own.slice(at, at + SLICE),
  );
  return [
    ...slices,
    // A base64 text depends on where in it the key begins; what is left of each phase is cut to whole groups.
    ...[0, 1, 2].flatMap((phase) => {
      const text = Buffer.from('\0'.repeat(phase) + own).toString('base64');
      return [text.slice(phase === 0 ? 0 : 4, -4)];
    }),
    Buffer.from(own).toString('hex'),
    Buffer.from(own).toString('hex').toUpperCase(),
  ];
}

/** Which of the forms the text holds. Also looks at it unescaped: URL-encoded, and base64url as base64. */
export function findKey(text: string, key: string): string[] {
  const views = [text, text.replaceAll('-', '+').replaceAll('_', '/'), unescapedUrl(text)];
  return formsOfKey(key).filter((form) => views.some((view) => view.includes(form)));
}

export function findEmail(text: string, email: string): boolean {
  return [text, unescapedUrl(text)].some((view) => view.toLowerCase().includes(email.toLowerCase()));
}

const EMAIL = /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z.-]*[A-Za-z]/;
const DIGITS = /(?<![\dA-Za-z.])\d{15,19}(?![\dA-Za-z])/g;

export function isEmail(text: string): boolean {
  return EMAIL.test(unescapedUrl(text));
}

/** I28: what a log line must not hold. */
export function personalData(line: string, rawBodies: readonly string[], key?: string): string[] {
  const lines: string[] = [];
  if (isEmail(line)) lines.push('I28: a log line holds an e-mail address');
  if ((line.match(DIGITS) ?? []).some(isCardNumber)) lines.push('I28: a log line holds a card number');
  const isRaw = (body: string): boolean =>
    line.includes(body) || line.includes(JSON.stringify(body).slice(1, -1));
  if (rawBodies.some((body) => body.length > 8 && isRaw(body)))
    lines.push('I28: a log line holds the raw body of a webhook');
  if (key !== undefined && findKey(line, key).length > 0) lines.push('I28: a log line holds the secret key');
  return lines;
}

function isCardNumber(digits: string): boolean {
  const sum = Array.from(digits)
    .reverse()
    .reduce((all, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return all + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function unescapedUrl(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
