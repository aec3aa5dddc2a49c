import { test } from '@jest/globals';
import { IS_WHOLE } from './extent.ts';

/** A test that `npm run test:all` runs and `npm test` does not. */
export function testOfAll(name: string, work: () => Promise<void>): void {
  if (IS_WHOLE) test(name, work);
}
