import { WIDTH, wrapped } from './terminal.ts';

/** A row of a list, and what stands below it. */
export type ListRow = { cells: readonly string[]; below: readonly string[] };

const GAP = '  ';

/** Aligned columns of text for a terminal, with a rule under the headings. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const { head, line } = columnsOf(headings, rows, Infinity);
  return [...head, ...rows.map(line)].join('\n');
}

/** The same with sentences below each row, and never wider than a terminal: the widest column is cut. */
export function formatList(headings: readonly string[], rows: readonly ListRow[]): string {
  const cells = rows.map((row) => row.cells);
  const { head, line, widths } = columnsOf(headings, cells, WIDTH);
  const margin = ' '.repeat(Math.min((widths[0] ?? 0) + GAP.length, 4));
  const below = (text: string): string => wrapped(`${margin}${text}`, margin.length + 2);
  const blocks = rows.map((row) => [line(row.cells), ...row.below.map(below)].join('\n'));
  return [...head, ...blocks].join('\n');
}

function columnsOf(headings: readonly string[], rows: readonly (readonly string[])[], most: number) {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const widest = widths.indexOf(Math.max(...widths));
  if (total > most) widths[widest] = Math.max(8, (widths[widest] ?? 0) - (total - most));
  const cell = (text: string, at: number): string => {
    const width = widths[at] ?? 0;
    return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
  };
  const line = (cells: readonly string[]): string => cells.map(cell).join(GAP).trimEnd();
  return { head: [line(headings), line(widths.map((width) => '-'.repeat(width)))], line, widths };
}
