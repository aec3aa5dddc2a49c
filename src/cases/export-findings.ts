import { csvLine } from '../platform/csv.ts';
import type { Finding } from './findings.ts';

/** The columns of the export and their content. */
const COLUMNS: readonly [name: string, cell: (finding: Finding) => string | null][] = [
  ['id', ({ id }) => String(id)],
  ['class', (finding) => finding.class],
  ['reference', ({ reference }) => reference],
  ['order_id', ({ orderId }) => orderId],
  ['expected', ({ expected }) => expected],
  ['actual', ({ actual }) => actual],
  ['currency', ({ currency }) => currency],
  ['first_seen_at', ({ firstSeenAt }) => firstSeenAt],
  ['last_seen_at', ({ lastSeenAt }) => lastSeenAt],
  ['age', ({ age }) => age],
  ['owner', ({ owner }) => owner],
  ['notes', ({ notes }) => notes.map(({ at, by, note }) => `${at} ${by}: ${note}`).join('\n')],
  ['evidence', ({ evidence }) => evidence && JSON.stringify(evidence)],
  ['reopens', ({ reopens }) => reopens],
  ['closed_at', ({ closedAt }) => closedAt],
  ['closed_by', ({ closedBy }) => closedBy],
  ['resolution', ({ resolution }) => resolution],
];

export const FINDING_COLUMNS: readonly string[] = COLUMNS.map(([name]) => name);

/** A finding as a row of these columns. */
export function findingRow(finding: Finding): Record<string, string | null> {
  return Object.fromEntries(COLUMNS.map(([name, cell]) => [name, cell(finding)]));
}

/** Findings as chunks of text: CSV in UTF-8 for spreadsheets, or one JSON array. */
export async function* exportFindings(
  findings: AsyncIterable<Finding>,
  format: 'csv' | 'json',
): AsyncGenerator<string> {
  if (format === 'csv') {
    yield csvLine(COLUMNS.map(([name]) => name));
    for await (const finding of findings) yield csvLine(COLUMNS.map(([, cell]) => cell(finding)));
    return;
  }
  let before = '[';
  for await (const finding of findings) {
    yield `${before}\n${JSON.stringify({ ...finding, id: String(finding.id) })}`;
    before = ',';
  }
  yield before === '[' ? '[]\n' : '\n]\n';
}
