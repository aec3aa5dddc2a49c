import { formatTable } from '../src/platform/terminal.ts';

/** One line of the one table: what was measured, the plain sample's figure if it has one, ours, and what was promised. */
export type Row = { what: string; plain?: string; ours: string; ratio?: string; wanted?: string };

export function describeRows(rows: readonly Row[]): string {
  return formatTable(
    ['', 'plain sample', 'integrator', 'ratio', 'wanted'],
    rows.map(({ what, plain = '', ours, ratio = '', wanted = '' }) => [what, plain, ours, ratio, wanted]),
  );
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
