/**
 * Closes the open findings about the money that a person decides about, under the same name and note: SQL
 * over a query with `mode` and `reference`, for the mode $2, the name $3 and the note $4. Whether it is known
 * by findings or as money in suspense, it is one case.
 */
export function findingsClosedWith(decided: string): string {
  return `
  UPDATE findings f SET closed_at = now(), closed_by = $3, note = $4
  FROM ${decided} d WHERE f.mode = $2 AND f.reference = d.reference AND f.closed_at IS NULL
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
