import { newReference, REFERENCE } from '../platform/ids.ts';
import type { ServiceAdapter } from './adapter.ts';

export type References = {
  /** A new one, which nobody can guess. */
  create(): string;
  /**
   * One from outside in the form in which ours are stored, since services change its case; null: it
   * cannot be one.
   */
  parse(value: unknown): string | null;
};

const FROM_OUTSIDE = /^[\x21-\x7e]{1,200}$/;
const MIN_BITS = 96;

/**
 * The adapter's kind of references.
 * @throws when they could be guessed, or when their case cannot be folded
 */
export function createReferences({ reference = REFERENCE }: Pick<ServiceAdapter, 'reference'>): References {
  const { length, alphabet } = reference;
  if (!/^[\w-]+$/.test(alphabet) || (/[a-z]/.test(alphabet) && /[A-Z]/.test(alphabet)))
    throw new Error('the adapter: reference.alphabet must be digits and letters of one case: services change it');
  if (length * Math.log2(new Set(alphabet).size) < MIN_BITS)
    throw new Error(`the adapter: references of less than ${MIN_BITS} random bits can be guessed: make them longer`);
  const fold = (text: string): string => (/[A-Z]/.test(alphabet) ? text.toUpperCase() : text.toLowerCase());
  return {
    create: () => newReference(reference),
    parse: (value) => (typeof value === 'string' && FROM_OUTSIDE.test(value) ? fold(value) : null),
  };
}
