import type { Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { List } from '../profiles/shapes/paging.ts';

/** The transactions of one mode as profiles page them: newest first, counted from the newest. */
export function listOf(ledger: Ledger, mode: Mode): List {
  return {
    total: ledger.count(mode),
    rows: (skip, take) => ledger.page(mode, skip, take),
    skipTo(id) {
      const older = ledger.positionOf(mode, id);
      return older === null ? null : ledger.count(mode) - 1 - older;
    },
  };
}
