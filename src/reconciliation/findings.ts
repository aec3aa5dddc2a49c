import type { Database } from '../platform/database.ts';
import type { Mode } from '../platform/mode.ts';
import { formatMajor } from '../platform/money.ts';
import { closeFinding, openFindings, type OpenFinding } from './findings/repository.ts';
import type { Age, ReportItem } from './report.ts';

/** An open finding for a person: amounts are decimal texts in major units. */
export type Finding = Omit<ReportItem, 'id'> & { id: bigint };

/** What nobody has resolved yet, oldest first. */
export async function listFindings(database: Database, mode: Mode): Promise<Finding[]> {
  const findings = await openFindings(database, mode);
  return findings.flatMap((finding) => (finding.id === null ? [] : [{ ...itemOf(finding), id: finding.id }]));
}

/**
 * Closes a finding with a name and what was done. The same disagreement is then not raised again; other money or
 * another class is another one.
 * @returns false when there is no such open finding
 * @throws {RangeError} without a name or a note, or under the name that reconciliation itself uses
 */
export async function resolveFinding(
  database: Database,
  id: bigint,
  by: string,
  note: string,
): Promise<boolean> {
  const name = by.trim();
  if (name === '' || note.trim() === '')
    throw new RangeError('a finding is resolved by somebody, with a note');
  if (name === 'reconciliation') throw new RangeError('"reconciliation" is not a person');
  return closeFinding(database, id, name, note.trim());
}

/** @param now label of a finding that is not stored (a dry run) */
export function itemOf(finding: OpenFinding, now = new Date(0)): ReportItem {
  const { expected, expectedCurrency, actual, actualCurrency } = finding;
  return {
    id: finding.id?.toString() ?? null,
    class: finding.class,
    reference: finding.reference,
    orderId: finding.orderId,
    expected: majorOf(expected, expectedCurrency),
    actual: majorOf(actual, actualCurrency),
    currency: actualCurrency ?? expectedCurrency,
    firstSeenAt: (finding.firstSeenAt ?? now).toISOString(),
    age: ageOf(finding.ageSec),
  };
}

function majorOf(amount: bigint | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : formatMajor({ amount, currency });
}

const DAY_SEC = 24 * 60 * 60;

function ageOf(ageSec: number): Age {
  if (ageSec < DAY_SEC) return '<1d';
  if (ageSec < 7 * DAY_SEC) return '1-7d';
  return ageSec < 30 * DAY_SEC ? '7-30d' : '>30d';
}
