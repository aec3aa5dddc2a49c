/**
 * Integers that a double may not hold have 16 digits or more. Those in strings mostly stand behind
 * a quote.
 */
const MAY_BE_LONG = /(?:^|[:[,\s])-?\d{16}/;
/**
 * A JSON string, or an integer of 16 digits or more. It matches strings so that it skips the digits
 * inside them.
 */
const STRING_OR_LONG = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/**
 * Parses JSON. An integer beyond 2^53 becomes a text with all its digits, because a number would
 * round it: identifiers of services have 19 digits. A byte order mark at the beginning is passed
 * over.
 * @returns undefined: the text is not JSON
 */
export function parseJson(text: string): { value: unknown } | undefined {
  const json = text.replace(/^\uFEFF/, '');
  try {
    const value: unknown = JSON.parse(json);
    // The texts are only changed where they are JSON, so that nothing becomes JSON by the change.
    return MAY_BE_LONG.test(json) ? { value: JSON.parse(json.replace(STRING_OR_LONG, keepDigits)) } : { value };
  } catch {
    return undefined;
  }
}

function keepDigits(token: string): string {
  const isLongInteger = !token.startsWith('"') && !Number.isSafeInteger(Number(token));
  return isLongInteger ? `"${token}"` : token;
}
