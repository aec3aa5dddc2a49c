// Characters that begin a formula in a spreadsheet, in the wide forms of East Asian keyboards as well.
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
// Nothing is calculated of it, and as text it could not be added up.
const NUMBER = /^-\d+(\.\d+)?$/;

/** A table of texts whose rows come one by one, in order; null: an empty cell. */
export type Sheet<Column extends string = string> = {
  columns: readonly Column[];
  rows: AsyncIterable<Record<Column, string | null>>;
};

/** A table as chunks of text: CSV in UTF-8 with a line of names first, or one JSON object per line. */
export async function* textOfSheet({ columns, rows }: Sheet, format: 'csv' | 'json'): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  for await (const row of rows) {
    const cells = columns.map((column) => [column, row[column] ?? null] as const);
    yield format === 'csv'
      ? csvLine(cells.map(([, cell]) => cell))
      : `${JSON.stringify(Object.fromEntries(cells))}\n`;
  }
}

/**
 * One line of CSV (RFC 4180), every cell quoted. A cell that a spreadsheet would calculate is prefixed
 * with an apostrophe, which spreadsheets show as text: names and references may come from a stranger.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(text: string | null): string {
  const value = text ?? '';
  const isFormula = FORMULA.test(value) && !NUMBER.test(value);
  return `"${(isFormula ? `'${value}` : value).replaceAll('"', '""')}"`;
}
