import { z } from 'zod';

const MAX_ENTRIES = 20;
// PostgreSQL's JSON takes no half of a surrogate pair.
const plain = z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be text without control characters');

/**
 * Short texts that a shop gives with an order and gets back wherever the order is shown, also to its shopper.
 */
export const metadata = z
  .record(plain.min(1).max(40), plain.max(500))
  .refine((texts) => Object.keys(texts).length <= MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`);
export type Metadata = z.output<typeof metadata>;
