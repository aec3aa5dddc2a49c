import type { Queryable } from '../../platform/database.ts';
import type { Mode } from '../../platform/mode.ts';

/** Gaps between the references that are remembered: a list that lost its end, its beginning or a page misses some. */
const GAPS = 15;
/**
 * What is missing for so long is not cut off but gone: the list is as it is, and its payments are findings. Until then a
 * run is incomplete rather than wrong.
 */
const MEMORY = '3 days';

/** Remembers some references of a list that was read whole, evenly spread, instead of those of the run before. */
export async function setAnchors(db: Queryable, mode: Mode): Promise<void> {
  await db.query('DELETE FROM reconciliation_anchors WHERE mode = $1', [mode]);
  // Apart from the insert: a statement that only reads is spread over every core.
  const [list] = await db.query<{ length: bigint; last: number | null }>(
    'SELECT count(*) AS length, max(seq) AS last FROM history_rows WHERE is_named',
  );
  const last = list?.last ?? 0;
  const places = Array.from({ length: GAPS + 1 }, (_, step) => Math.floor((last * step) / GAPS));
  const rows = await db.query<{ reference: string }>(
    'SELECT reference FROM history_rows WHERE is_named AND seq = ANY($1::integer[])',
    [places],
  );
  await db.query(
    `INSERT INTO reconciliation_anchors (mode, reference, list_length)
     SELECT DISTINCT $1, reference, $3::bigint FROM unnest($2::text[]) reference`,
    [mode, rows.map(({ reference }) => reference), list?.length ?? 0n],
  );
}

/** Signs that the list is shorter than it was, in words; null when there are none. */
export async function missingSince(db: Queryable, mode: Mode): Promise<string | null> {
  const [before] = await db.query<{ length: bigint | null; anchors: bigint }>(
    `SELECT max(list_length) AS length, count(*) AS anchors FROM reconciliation_anchors
     WHERE mode = $1 AND seen_at > now() - interval '${MEMORY}'`,
    [mode],
  );
  if (before === undefined || before.length === null) return null;
  const [list] = await db.query<{ length: bigint; anchors: bigint }>(
    `SELECT count(*) AS length,
       count(*) FILTER (WHERE reference IN (SELECT reference FROM reconciliation_anchors WHERE mode = $1)) AS anchors
     FROM history_rows WHERE is_named`,
    [mode],
  );
  const { length, anchors } = list ?? { length: 0n, anchors: 0n };
  if (anchors < before.anchors)
    return `the history lacks transactions that the last complete run saw (${before.anchors - anchors} of the ${before.anchors} that were looked up)`;
  return length < before.length
    ? `the history lists ${length} transactions, and the last complete run saw ${before.length}`
    : null;
}
