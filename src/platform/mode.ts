/** Test or live, from the key's prefix. It stands on every row and is never crossed. */
export type Mode = 'test' | 'live';
