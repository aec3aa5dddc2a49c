// Characters that begin a formula in a spreadsheet, in the wide forms of East Asian keyboards as well.
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * One line of CSV (RFC 4180), every cell quoted. A cell that a spreadsheet would calculate is prefixed
 * with an apostrophe, which spreadsheets show as text: names and references may come from a stranger.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(text: string | null): string {
  const value = text ?? '';
  return `"${(FORMULA.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
}
