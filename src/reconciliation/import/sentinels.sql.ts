import type { Queryable } from '../../platform/database/database.ts';
import type { Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import type { ListTotals } from '../compare/bucket-checksums.sql.ts';

/**
 * The number of gaps between the stored references: a list that lost its end, its beginning or a
 * page lacks some of them.
 */
const GAPS = 15;
/**
 * Rows that are missing for longer than this are not cut off but gone: the list is accepted as it is,
 * and its missing payments become findings. Until then a run is incomplete rather than wrong.
 */
const MEMORY = '3 days';

/** What the last complete run stored, for comparison with the next list. */
export type Sentinels = { references: Reference[]; listLength: bigint };

/** @returns null when no run was complete, or none lately */
export async function findSentinels(db: Queryable, mode: Mode): Promise<Sentinels | null> {
  const [found] = await db.query<{ references: Reference[] | null; listLength: bigint | null }>(
    `SELECT array_agg(reference) AS references, max(list_length) AS "listLength" FROM history_sentinels
     WHERE mode = $1 AND seen_at > now() - interval '${MEMORY}'`,
    [mode],
  );
  const { references = null, listLength = null } = found ?? {};
  return references === null || listLength === null ? null : { references, listLength };
}

/** Signs that the list is shorter than it was, in words; null when there are none. */
export function missingSince(
  before: Sentinels | null,
  list: Pick<ListTotals, 'length' | 'sentinels'>,
): string | null {
  if (before === null) return null;
  const { references, listLength } = before;
  const lost = BigInt(references.length) - list.sentinels;
  if (lost > 0n)
    return (
      `the history lacks transactions that the last complete run saw (${lost} of the ${references.length} ` +
      `that were looked up)${list.sentinels === 0n ? ': where GATEWAY_URL leads to another service now, begin there (--begin)' : ''}`
    );
  return list.length < listLength
    ? `the history lists ${list.length} transactions, and the last complete run saw ${listLength}`
    : null;
}

/**
 * Stores some references of a list that was read whole, evenly spread. They replace
 * those of the run before.
 */
export async function setSentinels(
  db: Queryable,
  mode: Mode,
  { records, length }: { records: number; length: bigint },
): Promise<void> {
  await db.query('DELETE FROM history_sentinels WHERE mode = $1', [mode]);
  const last = Math.max(records - 1, 0);
  const places = Array.from({ length: GAPS + 1 }, (_, step) => Math.floor((last * step) / GAPS));
  // Separate from the insert: PostgreSQL spreads only read-only statements over every core.
  const rows = await db.query<{ reference: Reference }>(
    'SELECT reference FROM history_rows WHERE is_named AND seq = ANY($1::integer[])',
    [places],
  );
  await db.query(
    `INSERT INTO history_sentinels (mode, reference, list_length)
     SELECT DISTINCT $1, reference, $3::bigint FROM unnest($2::text[]) reference`,
    [mode, rows.map(({ reference }) => reference), length],
  );
}
