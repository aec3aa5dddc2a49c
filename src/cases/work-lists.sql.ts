import type { Queryable } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { MONEY_CLASSES } from './suspend-found-money.sql.ts';

/**
 * A list that operators work through: findings of reconciliation runs, or money in suspense.
 * Operators assign an item, add notes to it and resolve it in the same way on both lists; the lists
 * differ only in their tables.
 */
export type WorkList = {
  table: 'findings' | 'suspense_items';
  notes: 'finding_notes' | 'suspense_notes';
  /** The column of the notes that names the item. */
  noteOf: 'finding_id' | 'item_id';
  /** The complete start of each write statement, so that a text search finds who writes the table. */
  update: `UPDATE ${string} i SET`;
  insertNote: `INSERT INTO ${string}`;
  /** The prefix of the journal's events. */
  event: 'finding' | 'suspense';
  /** The name of the item's id in the journal. */
  item: 'finding' | 'item';
  /** Columns of the item's money as an operator sees it. */
  money: readonly string[];
};

export const FINDINGS: WorkList = {
  table: 'findings',
  notes: 'finding_notes',
  noteOf: 'finding_id',
  update: 'UPDATE findings i SET',
  insertNote: 'INSERT INTO finding_notes (finding_id, written_by, note)',
  event: 'finding',
  item: 'finding',
  money: ['expected', 'actual', 'currency'],
};

export const SUSPENSE: WorkList = {
  table: 'suspense_items',
  notes: 'suspense_notes',
  noteOf: 'item_id',
  update: 'UPDATE suspense_items i SET',
  insertNote: 'INSERT INTO suspense_notes (item_id, written_by, note)',
  event: 'suspense',
  item: 'item',
  money: ['amount', 'currency'],
};

/** Which items are read; a filter that is missing or null does not apply. */
export type ItemsWanted = {
  /** Only items with a larger id than this. */
  after?: bigint;
  limit?: number | null;
  class?: string | null;
};

/** Additional input of an operator's action. */
type ActionSaid = {
  note?: string | null;
  /**
   * The version that the operator saw (see {@link versionOf}): an item that has changed
   * since is left alone.
   */
  seen?: string | null;
};

export type Note = { at: string; by: string; note: string };

/**
 * SQL over `i`, the item: its value changes when something changes that an operator sees and decides
 * upon: the money, the owner, the notes.
 */
export function versionOf({ notes, noteOf, money }: WorkList): string {
  const seen = ['class', ...money, 'owner'].map((column) => `i.${column}`).join(', ');
  return `hashtextextended(concat_ws('|', ${seen}, extract(epoch FROM i.assigned_at),
    (SELECT count(*) FROM ${notes} n WHERE n.${noteOf} = i.id)), 0)::text`;
}

/** SQL over `i`, the item: its notes, a list of {@link Note}. */
export function notesOf({ notes, noteOf }: WorkList): string {
  return `coalesce((SELECT jsonb_agg(jsonb_build_object('at', written_at, 'by', written_by, 'note', n.note)
    ORDER BY n.id)
    FROM ${notes} n WHERE n.${noteOf} = i.id), '[]')`;
}

/** SQL over `i`, the item, for the parameters $1 to $3 of {@link wantedValues}; $4 is left for the limit. */
export const IS_WANTED = 'i.mode = $1 AND i.id > $2 AND ($3::text IS NULL OR i.class = $3)';

export function wantedValues(mode: Mode, { after = 0n, class: name, limit }: ItemsWanted): unknown[] {
  return [mode, after, name ?? null, limit ?? null];
}

/**
 * Assigns an item to an owner.
 * @returns false when the mode has no such open item, or when it has changed since it was seen
 */
export async function assignItem(
  db: Queryable,
  list: WorkList,
  mode: Mode,
  id: bigint,
  owner: string,
  by: string,
  { note = null, seen = null }: ActionSaid = {},
): Promise<boolean> {
  const { update, insertNote, event, item } = list;
  const rows = await db.query(
    `WITH assigned AS (
       ${update} owner = $3, assigned_at = now(), assigned_by = $4
       WHERE id = $1 AND mode = $2 AND closed_at IS NULL AND ($6::text IS NULL OR ${versionOf(list)} = $6)
       RETURNING id, order_id, reference, class
     ), said AS (
       ${insertNote} SELECT id, $4, $5 FROM assigned WHERE $5::text IS NOT NULL
     ), entry AS (
       INSERT INTO journal (order_id, event, reference, cause, detail)
       SELECT order_id, '${event}-assigned', reference, 'operator:' || $4,
         jsonb_strip_nulls(jsonb_build_object('${item}', id,
           'class', class, 'owner', $3::text, 'note', $5::text))
       FROM assigned WHERE order_id IS NOT NULL
     )
     SELECT id FROM assigned`,
    [id, mode, owner, by, note, seen],
  );
  return rows.length === 1;
}

/** Adds an operator's note to an item, also to a closed one. @returns false when the mode has no such item */
export async function addNote(
  db: Queryable,
  { table, insertNote }: WorkList,
  mode: Mode,
  id: bigint,
  by: string,
  note: string,
): Promise<boolean> {
  const rows = await db.query(
    `${insertNote}
     SELECT id, $3, $4 FROM ${table} WHERE id = $1 AND mode = $2 RETURNING id`,
    [id, mode, by, note],
  );
  return rows.length === 1;
}

// Not the findings that money of a paid order is gone, nor those whose money cannot be counted.
const isAbout = (covered: string): string => `CASE WHEN f.class IN (${MONEY_CLASSES})
    THEN f.currency IS NOT DISTINCT FROM i.currency AND coalesce(f.actual <= ${covered}, true) AND NOT EXISTS (
      SELECT FROM releases r
      WHERE r.mode = f.mode AND r.reference = f.reference AND f.actual < money_that_came(r))
    ELSE f.class NOT IN ('conflicting_records', 'unreadable') AND NOT EXISTS (
      SELECT FROM releases r WHERE r.mode = f.mode AND r.reference = f.reference
        AND (f.class <> 'reversed' OR (f.evidence ->> 'unexplained')::bigint > 0) IS NOT FALSE) END`;

/**
 * Closes the open findings about the money that a person decides about, under the same name and note: SQL
 * over a query with `reference` and `currency`, for the mode $2, the name $3 and the note $4. Whether it is
 * known by findings or as money in suspense, it is one case. What shows more money stays open.
 * @param covered SQL over `i`, a row of that query, and `f`, a finding: all the money that is earned or
 * decided about, with this
 */
export function findingsClosedWith(decided: string, covered: string): string {
  return `
  UPDATE findings f SET closed_at = now(), closed_by = $3, note = $4
  FROM ${decided} i WHERE f.mode = $2 AND f.reference = i.reference AND f.closed_at IS NULL
    AND ${isAbout(covered)}
  RETURNING f.id, f.order_id, f.reference, f.class`;
}

/**
 * Locks those findings, before payments and money: a run that ends locks them in this order. For the item $1
 * of the mode $2.
 */
export const FINDINGS_OF_ITEM = `
  SELECT f.id FROM findings f JOIN suspense_items s USING (mode, reference)
  WHERE s.id = $1 AND s.mode = $2 AND f.closed_at IS NULL ORDER BY f.id FOR NO KEY UPDATE OF f`;

/** SQL over those findings, called `resolved`: their journal entries, each with its place among others. */
export function journalOfFindings(place: number): string {
  return `
    SELECT ${place}, order_id, 'finding-resolved', reference,
      jsonb_build_object('finding', id, 'class', class, 'note', $4::text)
    FROM resolved WHERE order_id IS NOT NULL`;
}

/** No finding about a row's reference is open: its evidence may go, if a person's erasure asks for it. */
export const noOpenFinding = (row: string): string => `NOT EXISTS (
  SELECT FROM findings f WHERE f.reference = ${row}.reference AND f.closed_at IS NULL)`;

/** Nor is any money of it undecided: its evidence may go, as it is old. */
export const noOpenCase = (row: string): string => `${noOpenFinding(row)} AND NOT EXISTS (
  SELECT FROM suspense_items s WHERE s.reference = ${row}.reference AND s.closed_at IS NULL)`;
