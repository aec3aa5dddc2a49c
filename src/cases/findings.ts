import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { formatMajor } from '../platform/money.ts';
import { closeFinding, readFindings, type SeenFinding, type StoredFinding } from './findings.sql.ts';
import type { ItemsWanted } from './work-lists.sql.ts';

/** A finding for a person: amounts are decimal texts in major units, times ISO 8601. */
export type Finding = Omit<ItemFacts, 'id'> & {
  id: bigint;
  age: Age;
  lastSeenAt: string;
  owner: string | null;
  assignedBy: string | null;
  assignedAt: string | null;
  notes: { at: string; by: string; note: string }[];
  /** Changes when something changes that an operator sees and decides upon. */
  version: string;
  /** What history, verify and webhooks said about it when it was last seen. */
  evidence: object | null;
  firstRunId: string;
  lastRunId: string;
  /** The id of the same disagreement, closed before. */
  reopens: string | null;
  closedAt: string | null;
  closedBy: string | null;
  /** Why it was closed, in the operator's words. */
  resolution: string | null;
};

/** The facts of a finding that do not depend on when it is read. */
export type ItemFacts = Pick<SeenFinding, 'class' | 'reference' | 'orderId'> & {
  /** Of the stored finding; null in a dry run that sees it for the first time. */
  id: string | null;
  /** What the payment asks for, in its own currency; null for a transaction that is not ours. */
  expected: string | null;
  /** What the service says was paid; null when it says nothing was. */
  actual: string | null;
  /** Of `actual`, or of `expected` when there is no actual. */
  currency: string | null;
  firstSeenAt: string;
};

const PAGE = 1_000;

/** Findings one by one, in pages: only the open ones, or all that ever were. */
export async function* streamFindings(
  database: Database,
  mode: Mode,
  isOpenOnly: boolean,
): AsyncGenerator<Finding> {
  for (let after = 0n, page: StoredFinding[] | null = null; page?.length !== 0;) {
    page = await readFindings(database, mode, { after, limit: PAGE }, isOpenOnly);
    for (const finding of page) yield findingOf(finding);
    after = page.at(-1)?.id ?? after;
  }
}

/** The open findings, oldest first. */
export async function listFindings(database: Database, mode: Mode): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const finding of streamFindings(database, mode, true)) findings.push(finding);
  return findings;
}

/** Some of the open findings, oldest first: a page of a list, or the rows ticked on it. */
export async function openFindings(database: Database, mode: Mode, wanted: ItemsWanted): Promise<Finding[]> {
  return (await readFindings(database, mode, wanted, true)).map(findingOf);
}

/**
 * Closes a finding with a name and what was done. Then the same disagreement is not raised again
 * while it lasts. Other money or another class is another disagreement, and so is one that
 * disappeared and came back.
 * @param seen the version that the operator saw; null: whatever it is now
 * @returns false when the mode has no such open finding, or another version of it, or money of it is in
 * suspense
 * @throws {RangeError} without a name or a note, or under the name that reconciliation itself uses
 */
export async function resolveFinding(
  database: Database,
  mode: Mode,
  id: bigint,
  by: string,
  note: string,
  seen: string | null = null,
): Promise<boolean> {
  const name = by.trim();
  if (name === '' || note.trim() === '') throw new RangeError('resolving a finding needs a name and a note');
  if (name === 'reconciliation') throw new RangeError('"reconciliation" is not a person');
  return closeFinding(database, mode, { id, by: name, note: note.trim(), seen });
}

/** @param startedAt used as `firstSeenAt` of a finding that is not stored (a dry run) */
export function factsOf(finding: SeenFinding, startedAt: Date): ItemFacts {
  const { expected, expectedCurrency, actual, actualCurrency } = finding;
  return {
    id: finding.id?.toString() ?? null,
    class: finding.class,
    reference: finding.reference,
    orderId: finding.orderId,
    expected: majorOf(expected, expectedCurrency),
    actual: majorOf(actual, actualCurrency),
    currency: actualCurrency ?? expectedCurrency,
    firstSeenAt: (finding.firstSeenAt ?? startedAt).toISOString(),
  };
}

function findingOf(finding: StoredFinding): Finding {
  const { id, lastSeenAt, ageSec, assignedAt, closedAt, reopens } = finding;
  const { firstRunId, lastRunId, owner, assignedBy, notes, version, evidence, closedBy, resolution } =
    finding;
  return {
    ...factsOf(finding, finding.firstSeenAt),
    id,
    age: ageOf(ageSec),
    lastSeenAt: lastSeenAt.toISOString(),
    owner,
    assignedBy,
    assignedAt: assignedAt?.toISOString() ?? null,
    notes,
    version,
    evidence,
    firstRunId,
    lastRunId,
    reopens: reopens?.toString() ?? null,
    closedAt: closedAt?.toISOString() ?? null,
    closedBy,
    resolution,
  };
}

function majorOf(amount: bigint | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : formatMajor({ amount, currency });
}

/** How long a finding has been open: under one day, one to seven, seven to thirty, over thirty. */
export const AGES = ['<1d', '1-7d', '7-30d', '>30d'] as const;
export type Age = (typeof AGES)[number];

const DAY_SEC = 24 * 60 * 60;

/** The bounds of an age in seconds: from, and below; null: no upper bound. */
export const AGE_BOUNDS_SEC: Record<Age, { fromSec: number; belowSec: number | null }> = {
  '<1d': { fromSec: 0, belowSec: DAY_SEC },
  '1-7d': { fromSec: DAY_SEC, belowSec: 7 * DAY_SEC },
  '7-30d': { fromSec: 7 * DAY_SEC, belowSec: 30 * DAY_SEC },
  '>30d': { fromSec: 30 * DAY_SEC, belowSec: null },
};

/** The same for a person, the youngest first. */
export const AGE_WORDS: Readonly<Record<Age, string>> = {
  '<1d': 'today',
  '1-7d': 'this week',
  '7-30d': 'this month',
  '>30d': 'older',
};

export function ageOf(ageSec: number): Age {
  if (ageSec < DAY_SEC) return '<1d';
  if (ageSec < 7 * DAY_SEC) return '1-7d';
  return ageSec < 30 * DAY_SEC ? '7-30d' : '>30d';
}
