import type { Told } from '../actions/flash-message.ts';

/** A ticked row, and the version of it that the operator saw. */
export type Tick = { id: bigint; seen: string | null };

const TICK = /^(\d{1,18})(?:@(-?\d{1,20}))?$/;

/** The value that the checkbox of a row sends. */
export function tickOf({ id, version }: { id: bigint; version: string }): string {
  return `${id}@${version}`;
}

export function readTicks(ids: readonly string[]): Tick[] {
  return ids.flatMap((text) => {
    const [, id, seen] = TICK.exec(text) ?? [];
    return id === undefined ? [] : [{ id: BigInt(id), seen: seen ?? null }];
  });
}

/** Whether a row was ticked and has not changed since the operator saw it. */
export function isSeen(ticks: readonly Tick[]): (row: { id: bigint; version: string }) => boolean {
  return ({ id, version }) => ticks.some((tick) => tick.id === id && [null, version].includes(tick.seen));
}

/**
 * Applies an action to each ticked row, one after the other, and counts. A row that another operator
 * closed or changed since the page was shown stays as it is, and is reported.
 * @param stillOpen which of the rows that were left alone are open
 */
export async function forEachTick(
  ticks: readonly Tick[],
  word: keyof Told,
  act: (tick: Tick) => Promise<boolean>,
  stillOpen: (ids: readonly bigint[]) => Promise<readonly bigint[]>,
): Promise<Told> {
  const left: bigint[] = [];
  for (const tick of ticks) if (!(await act(tick))) left.push(tick.id);
  const changed = left.length === 0 ? 0 : (await stillOpen(left)).length;
  return { [word]: ticks.length - left.length, changed, gone: left.length - changed };
}
