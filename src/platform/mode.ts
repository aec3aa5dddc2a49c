/** Test or live, from the key's prefix. It is on every row, and the two never mix. */
export type Mode = 'test' | 'live';
