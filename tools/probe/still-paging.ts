import { sleep, type Clock } from '../../src/platform/clock.ts';
import type { Said } from './line.ts';
import { findPaging, isSame, rowsOf, type PagingSeen } from './paging.ts';
import { listedOf } from './walk.ts';

const PAUSE_MS = 1_000;

/**
 * What turns the pages, seen in a list that stood still meanwhile: a late list grows at its top, and a row
 * that has moved looks like the next page. It begins once a list that shows some of our payments shows all.
 */
export async function findStillPaging(
  look: Parameters<typeof findPaging>[0],
  { references, clock }: { references: readonly string[]; clock: Clock },
  end: number,
): Promise<{ paging: PagingSeen | null; said: Said }> {
  let [said, paging]: [Said, PagingSeen | null | undefined] = [look.list, undefined];
  for (;;) {
    const rows = rowsOf(said.json, look.records);
    const listed = listedOf(rows, references);
    const isOver = clock.elapsedMs() > end;
    if (listed === 0 || listed === references.length || isOver) {
      paging = await findPaging({ ...look, list: said, rows });
      if (isOver) return { paging, said };
    }
    const before = rows;
    said = await look.ask({}, 'history again');
    if (isSame(rowsOf(said.json, look.records), before)) {
      if (paging !== undefined) return { paging, said };
      await sleep(PAUSE_MS);
    }
    paging = undefined;
  }
}
