import { at, numberText, readJson } from '../dialect/json-pointer.ts';

/** Transactions from before this are not wanted. `pointer`: where a record has its time. */
export type Bound = { ms: number; pointer: string };

/** Two clocks may differ by so much. */
const CLOCKS_MS = 15 * 60 * 1_000;

/** The bound of a list that is ordered, newest first, by a field of its records; null: it has none. */
export function boundOf(pointer: string | null, since: Date | undefined): Bound | null {
  return pointer === null || since === undefined ? null : { ms: since.getTime() - CLOCKS_MS, pointer };
}

/**
 * Whether a page goes down to before the bound. A page whose records are not newest first, or have no
 * readable time, does not: then the list is read to its end.
 */
export function isPast(bound: Bound | null, first: Buffer | null, last: Buffer | null): boolean {
  if (bound === null || first === null || last === null) return false;
  const [newest, oldest] = [timeOf(first, bound.pointer), timeOf(last, bound.pointer)];
  return newest !== null && oldest !== null && oldest < newest && oldest < bound.ms;
}

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i;
/** Seconds since 1970 have ten digits, milliseconds thirteen. */
const EPOCH = /^(\d{10})(\d{3})?$/;

/**
 * Milliseconds since 1970; null: unreadable. A time without its zone may be off by half a day, so it is
 * unreadable.
 */
function timeOf(row: Buffer, pointer: string): number | null {
  const text = textAt(row, pointer);
  const epoch = EPOCH.exec(text);
  if (epoch !== null) return Number(`${epoch[1]}${epoch[2] ?? '000'}`);
  const ms = WITH_ZONE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

function textAt(row: Buffer, pointer: string): string {
  try {
    return numberText(at(readJson(row), pointer)) ?? '';
  } catch {
    return ''; // not JSON: the row itself is counted as unreadable
  }
}
