import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { List } from '../profiles/shapes/paging.ts';

/**
 * The rows of one mode's history as profiles page them: newest first, counted from the newest.
 * @param until rows that are younger are not listed yet
 */
export function listOf(ledger: Ledger, mode: Mode, until: Date): List {
  const all = ledger.rowCount(mode);
  let young = 0;
  while (young < all && isYounger(ledger.rows(mode, young, 1)[0]?.createdAt, until)) young += 1;
  return {
    total: all - young,
    rows: (skip, take) => ledger.rows(mode, young + skip, take),
    skipTo(id) {
      const older = ledger.positionOf(mode, id);
      return older === null ? null : all - 1 - older - young;
    },
  };
}

function isYounger(iso: string | undefined, until: Date): boolean {
  return iso !== undefined && Date.parse(iso) > until.getTime();
}
