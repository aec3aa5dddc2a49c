/** A parameter of an address, when it is one text that fits; null otherwise: what makes no sense is not looked for. */
export function fitting(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}
