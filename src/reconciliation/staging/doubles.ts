/** Notices texts that may have been there before. */
export type Doubles = {
  /** Never false for a text that was there before; rarely true for one that was not. */
  note(bytes: Buffer, from: number, to: number): boolean;
};

/** 32 million bits, 4 MiB, however long the list. With a million texts in it one of eight hundred is suspected in vain. */
const BITS = 2 ** 25;

/** A Bloom filter of two hashes: grouping a million rows to find the few that repeat costs as much as joining them. */
export function createDoubles(): Doubles {
  const words = new Uint32Array(BITS / 32);

  function take(hash: number): boolean {
    const bit = hash & (BITS - 1);
    const word = words[bit >>> 5] ?? 0;
    const mask = 1 << (bit & 31);
    words[bit >>> 5] = word | mask;
    return (word & mask) !== 0;
  }

  return {
    note: (bytes, from, to) => {
      // FNV-1a, and what it gives stirred once more (MurmurHash3's finish) for the second place.
      let hash = 0x811c9dc5;
      for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      let other = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
      other = Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
      const isFirst = take(hash ^ (hash >>> 15));
      return take(other ^ (other >>> 16)) && isFirst;
    },
  };
}
