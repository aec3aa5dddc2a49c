import type { Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { referencesOf } from './case-records.sql.ts';
import { readCases, type CaseKey, type CaseRow } from './cases.sql.ts';

/** A selected case, and the version of it that the operator saw. */
type Tick = CaseKey & { seen: string | null };

const KEY = /^(money|finding)-(\d{1,18})$/;
const TICK = /^((?:money|finding)-\d{1,18})(?:@(-?\d{1,20}))?$/;

/** `money-12`, `finding-7`: the end of a case's address. */
export function keyOf({ kind, id }: CaseKey): string {
  return `${kind}-${id}`;
}

/** @returns null for what is no such text */
export function parseKey(text: string): CaseKey | null {
  const [, kind, id] = KEY.exec(text) ?? [];
  return id === undefined ? null : { kind: kind === 'money' ? 'money' : 'finding', id: BigInt(id) };
}

/** The value that the checkbox of a case sends. */
export function tickOf(row: CaseRow): string {
  return `${keyOf(row)}@${row.version}`;
}

export function readTicks(ids: readonly string[]): Tick[] {
  return ids.flatMap((text) => {
    const [, key = '', seen = null] = TICK.exec(text) ?? [];
    const parsed = parseKey(key);
    return parsed === null ? [] : [{ ...parsed, seen }];
  });
}

/** The selected cases that are as they were seen, and how many are not: changed, or not open any more. */
type Selected = { cases: CaseRow[]; changed: number; gone: number };

export async function readSelected(db: Queryable, mode: Mode, ticks: readonly Tick[]): Promise<Selected> {
  const known = await referencesOf(db, mode, ticks);
  const references = [...new Set(known.map(({ reference }) => reference))];
  const open = await readCases(db, mode, { references }, { limit: references.length });
  const selected: Selected = { cases: [], changed: 0, gone: 0 };
  for (const tick of ticks) {
    const reference = known.find(({ kind, id }) => kind === tick.kind && id === tick.id)?.reference;
    const row = open.find((each) => each.reference === reference);
    if (row === undefined) selected.gone += 1;
    else if (tick.seen !== null && tick.seen !== row.version) selected.changed += 1;
    else if (!selected.cases.includes(row)) selected.cases.push(row);
  }
  return selected;
}
