/**
 * Whether everything is tried (`npm run test:all`), or of each kind enough that a broken promise turns it red (`npm test`).
 * Only test files ask, so that `npm run test:all` finds them (`left-out.cjs`).
 */
export const IS_WHOLE = process.env.TEST_ALL === '1';

/** Every one of a list of like cases, or the first `count` of them spread over the list. */
export function someOf<T>(cases: readonly T[], count: number): T[] {
  if (IS_WHOLE || cases.length <= count) return [...cases];
  return Array.from({ length: count }, (_none, at) => cases[Math.floor((at * cases.length) / count)] as T);
}

/** Every one of a list of cases, or `count` of each kind. */
export function someOfEach<T>(cases: readonly T[], count: number, kindOf: (one: T) => string): T[] {
  const kinds = [...new Set(cases.map(kindOf))];
  return kinds.flatMap((kind) =>
    someOf(
      cases.filter((one) => kindOf(one) === kind),
      count,
    ),
  );
}
