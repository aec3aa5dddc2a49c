import { BOOK_MUTANTS } from './books.ts';
import { DOOR_MUTANTS } from './doors.ts';
import { EVIDENCE_MUTANTS } from './evidence.ts';
import { GATEWAY_MUTANTS } from './gateway.ts';
import type { Mutant } from './mutant.ts';
import { PRIVACY_MUTANTS } from './privacy.ts';
import { WORK_MUTANTS } from './work.ts';

/** Every planted bug, in the order in which they are tried. */
export const MUTANTS: readonly Mutant[] = [
  ...EVIDENCE_MUTANTS,
  ...DOOR_MUTANTS,
  ...GATEWAY_MUTANTS,
  ...WORK_MUTANTS,
  ...PRIVACY_MUTANTS,
  ...BOOK_MUTANTS,
];
