import { test } from '@jest/globals';
import { IS_WHOLE } from './extent.ts';

/** A test that `npm run test:all` runs and `npm test` does not. */
export function testOfAll(name: string, work: () => Promise<void>, limitMs?: number): void {
  if (IS_WHOLE) test(name, work, limitMs);
}

/** A test that has one form only: `npm test` runs it, and `npm run test:all` does not repeat it. */
export const testOfFew = IS_WHOLE ? test.skip : test;
