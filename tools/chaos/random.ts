/** Choices that a seed decides: the same seed makes the same ones, in the same order. */
export type Random = {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  shuffled<T>(list: readonly T[]): T[];
};

/** @param seed a whole number; neighbours give unlike sequences */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  // Mulberry32: 32 bits of state are plenty for some hundred choices.
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    shuffled: (list) => {
      const rest = [...list];
      return list.flatMap(() => rest.splice(between(0, rest.length - 1), 1));
    },
  };
}
