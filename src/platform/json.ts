/**
 * An integer that a double may not represent exactly has 16 digits or more. Inside a string, such
 * digits usually follow a quote.
 */
const MAY_BE_LONG = /(?:^|[:[,\s])-?\d{16}/;
/**
 * A JSON string, or an integer of 16 digits or more. Strings are matched so that digits inside them
 * are skipped.
 */
const STRING_OR_LONG = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/**
 * Parses JSON. An integer beyond 2^53 becomes a string with all its digits, because a number would
 * round it; the ids of some services have 19 digits. A leading byte order mark is ignored.
 * @returns undefined if the text is not JSON
 */
export function parseJson(text: string): { value: unknown } | undefined {
  const json = text.replace(/^\uFEFF/, '');
  try {
    const value: unknown = JSON.parse(json);
    // The text is changed only if it is valid JSON, so that the change cannot make invalid JSON
    // valid.
    return MAY_BE_LONG.test(json) ? { value: JSON.parse(json.replace(STRING_OR_LONG, keepDigits)) } : { value };
  } catch {
    return undefined;
  }
}

function keepDigits(token: string): string {
  const isLongInteger = !token.startsWith('"') && !Number.isSafeInteger(Number(token));
  return isLongInteger ? `"${token}"` : token;
}
