/** Detects texts that may have been noted before. */
type BloomFilter = {
  /** Never false for a text that was there before; rarely true for one that was not. */
  note(bytes: Buffer, from: number, to: number): boolean;
};

/**
 * 32 million bits, 4 MiB, however long the list. With a million texts, one in eight
 * hundred is a false positive.
 */
const BITS = 2 ** 25;

/**
 * A Bloom filter of two hashes: grouping a million rows to find the few that repeat costs as
 * much as joining them.
 */
export function createBloomFilter(): BloomFilter {
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
      // Hashes four bytes at a time, then mixes twice more (MurmurHash3), once for each bit position.
      let hash = to - from;
      let at = from;
      for (; at + 3 < to; at += 4) {
        const word =
          (bytes[at] ?? 0) |
          ((bytes[at + 1] ?? 0) << 8) |
          ((bytes[at + 2] ?? 0) << 16) |
          ((bytes[at + 3] ?? 0) << 24);
        hash = Math.imul(hash ^ word, 0x5bd1e995);
        hash ^= hash >>> 15;
      }
      for (; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
      hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
      hash ^= hash >>> 13;
      let other = Math.imul(hash, 0xc2b2ae35);
      other ^= other >>> 16;
      const isFirst = take(hash);
      return take(other) && isFirst;
    },
  };
}
