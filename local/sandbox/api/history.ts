import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { List } from '../profiles/shapes/paging.ts';

/** The rows of one mode's history as profiles page them: newest first, counted from the newest. */
export function listOf(ledger: Ledger, mode: Mode): List {
  return {
    total: ledger.rowCount(mode),
    rows: (skip, take) => ledger.rows(mode, skip, take),
    skipTo(id) {
      const older = ledger.positionOf(mode, id);
      return older === null ? null : ledger.rowCount(mode) - 1 - older;
    },
  };
}
