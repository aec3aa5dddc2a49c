import { isDecision, type Decision } from '../../cases/resolution.ts';
import { resolveFinding } from '../../cases/findings.ts';
import { noteSurplusRefund, resolveSuspense } from '../../cases/suspense.sql.ts';
import { addNote, assignItem, FINDINGS, SUSPENSE, type WorkList } from '../../cases/work-lists.sql.ts';
import type { Accept, AcceptOutcome } from '../../payments/accept.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import { MAX_NAME, type ActionForm, type Told } from '../action-form.ts';
import { readCases, type CaseKey, type CaseRow } from './cases.sql.ts';
import { isAllowedFor } from './case-advice.ts';
import { referencesOf } from './case-records.sql.ts';

type Parts = { database: Database; mode: Mode; accept: Accept };
type Decided = { decision: Decision; refundNote: string | null };

const listOf = ({ kind }: CaseKey): WorkList => (kind === 'money' ? SUSPENSE : FINDINGS);
const ACCEPT_TOLD: Record<AcceptOutcome, keyof Told> = {
  accepted: 'accepted',
  gone: 'gone',
  'not-this': 'not-accepted',
  changed: 'not-accepted',
  unanswered: 'not-answered',
};

/** The decision of a form; null: none, or a refund without its number, or a number without a refund. */
export function decisionIn({ field }: ActionForm): Decided | null {
  const [decision, refundNote] = [field('decision') ?? '', field('refund')];
  if (!isDecision(decision) || (refundNote !== null) !== (decision === 'refund')) return null;
  return { decision, refundNote };
}

/**
 * Does with the selected cases what the pressed button says. What has changed since it was seen stays as it
 * is.
 */
export async function actOnCases(parts: Parts, form: ActionForm): Promise<Told> {
  const { database, mode } = parts;
  const { operation, ids, by, note, field } = form;
  const ticks = readTicks(ids);
  if (operation === 'note') {
    const isNoted = await Promise.all(
      ticks.map((tick) => addNote(database, listOf(tick), mode, tick.id, by, note)),
    );
    return { noted: isNoted.filter(Boolean).length, gone: isNoted.filter((done) => !done).length };
  }
  const owner = field('owner')?.slice(0, MAX_NAME) ?? null;
  const refundNote = field('refund');
  const decided = decisionIn(form);
  if (operation === 'assign' && owner === null) return { 'no-owner': 1 };
  if (operation === 'surplus' && refundNote === null) return { 'no-surplus': 1 };
  if (operation === 'resolve' && decided === null) return { 'no-decision': 1 };

  const { cases, ...left } = await readSelected(database, mode, ticks);
  const each = (word: keyof Told, rows: readonly CaseRow[], act: (row: CaseRow) => Promise<boolean>) =>
    forEach(parts, rows, word, act).then((told) => add(told, left));
  const withMoney = cases.filter(({ held }) => held !== null);
  const without = cases.filter(({ held }) => held === null);
  switch (operation) {
    case 'assign':
      return each('assigned', cases, (row) => assign(parts, row, owner ?? '', form));
    case 'close':
      return add(await each('resolved', without, (row) => close(parts, row, form)), {
        'decide-first': withMoney.length,
      });
    case 'surplus': {
      const how = { by, note, refundNote: refundNote ?? '' };
      const { changed = 0, ...told } = await each('surplus-noted', withMoney, (row) =>
        noteSurplusRefund(database, mode, row.id, how, row.moneyVersion),
      );
      return add(told, { 'no-surplus': changed + without.length });
    }
    case 'resolve':
      return decided === null
        ? {}
        : add(await decide(parts, withMoney, decided, form), left, { 'no-money': without.length });
    default:
      return { 'no-action': 1 };
  }
}

async function decide(
  parts: Parts,
  all: readonly CaseRow[],
  { decision, refundNote }: Decided,
  { by, note }: ActionForm,
): Promise<Told> {
  const { database, mode, accept } = parts;
  const rows = all.filter((row) => isAllowedFor(row, { decision, refundNote }));
  const told: Told = { 'surplus-gone': all.length - rows.length };
  if (decision !== 'accept') {
    const done = await forEach(parts, rows, 'resolved', ({ id, moneyVersion }) =>
      resolveSuspense(database, mode, id, { by, note, decision, refundNote }, moneyVersion),
    );
    return add(told, done);
  }
  // One after the other: each asks the service.
  for (const { id, moneyVersion: seen } of rows) {
    const word = ACCEPT_TOLD[await accept({ id, by, note, seen })];
    told[word] = (told[word] ?? 0) + 1;
  }
  return told;
}

function assign({ database, mode }: Parts, row: CaseRow, owner: string, form: ActionForm): Promise<boolean> {
  const seen = row.moneyVersion ?? row.findings.find(({ id }) => id === String(row.id))?.version ?? null;
  return assignItem(database, listOf(row), mode, row.id, owner, form.by, { note: form.note, seen });
}

/** Closes each of its findings: they are one problem. */
async function close({ database, mode }: Parts, { findings }: CaseRow, form: ActionForm): Promise<boolean> {
  let isClosed = true;
  for (const { id, version } of findings)
    isClosed &&= await resolveFinding(database, mode, BigInt(id), form.by, form.note, version);
  return isClosed;
}

async function forEach(
  { database, mode }: Parts,
  rows: readonly CaseRow[],
  word: keyof Told,
  act: (row: CaseRow) => Promise<boolean>,
): Promise<Told> {
  const left: CaseRow[] = [];
  for (const row of rows) if (!(await act(row))) left.push(row);
  if (left.length === 0) return { [word]: rows.length };
  const references = left.map(({ reference }) => reference);
  const open = await readCases(database, mode, { references }, { limit: left.length });
  return { [word]: rows.length - left.length, changed: open.length, gone: left.length - open.length };
}

/** The sums, word by word. */
function add(...all: readonly Told[]): Told {
  const sum: Told = {};
  for (const told of all)
    for (const [word, count] of Object.entries(told) as [keyof Told, number][])
      sum[word] = (sum[word] ?? 0) + count;
  return sum;
}

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
