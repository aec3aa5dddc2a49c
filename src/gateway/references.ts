import { newReference, REFERENCE } from '../platform/ids.ts';
import type { ServiceAdapter } from './adapter.ts';

export type References = {
  /** Creates a reference that nobody can guess. */
  create(): string;
  /**
   * Converts a reference from outside to the form in which ours are stored, because services change
   * its case. Null if the value cannot be a reference.
   */
  parse(value: unknown): string | null;
};

const FROM_OUTSIDE = /^[\x21-\x7e]{1,200}$/;
const MIN_BITS = 96;

/**
 * References in the format of the adapter.
 * @throws {Error} if references could be guessed, or if their alphabet has both cases
 */
export function createReferences({ reference = REFERENCE }: Pick<ServiceAdapter, 'reference'>): References {
  const { length, alphabet } = reference;
  if (!/^[\w-]+$/.test(alphabet) || (/[a-z]/.test(alphabet) && /[A-Z]/.test(alphabet)))
    throw new Error(
      'the adapter: reference.alphabet must have digits and letters of one case only, because services change the case',
    );
  if (length * Math.log2(new Set(alphabet).size) < MIN_BITS)
    throw new Error(
      `the adapter: references with fewer than ${MIN_BITS} random bits can be guessed. Increase reference.length`,
    );
  const fold = (text: string): string => (/[A-Z]/.test(alphabet) ? text.toUpperCase() : text.toLowerCase());
  return {
    create: () => newReference(reference),
    parse: (value) => (typeof value === 'string' && FROM_OUTSIDE.test(value) ? fold(value) : null),
  };
}
