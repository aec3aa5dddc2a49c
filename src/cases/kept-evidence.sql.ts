/** No finding about a row's reference is open: its evidence may go, if a person's erasure asks for it. */
export const noOpenFinding = (row: string): string => `NOT EXISTS (
  SELECT FROM findings f WHERE f.reference = ${row}.reference AND f.closed_at IS NULL)`;

/** Nor is any money of it undecided: its evidence may go, as it is old. */
export const noOpenCase = (row: string): string => `${noOpenFinding(row)} AND NOT EXISTS (
  SELECT FROM suspense_items s WHERE s.reference = ${row}.reference AND s.closed_at IS NULL)`;
