/**
 * Whether the rest is tried (`npm run test:all`), or of each kind enough that a broken promise turns it red
 * (`npm test`). Only test files ask, so that `npm run test:all` finds them (`left-out.cjs`).
 */
export const IS_WHOLE = process.env.TEST_ALL === '1';

/** The first `count` of a list of like cases spread over the list, and in `npm run test:all` the others. */
export function someOf<T>(cases: readonly T[], count: number): T[] {
  return part(cases, spread(cases, count));
}

/** `count` of each kind of a list of cases, and in `npm run test:all` the others. */
export function someOfEach<T>(cases: readonly T[], count: number, kindOf: (one: T) => string): T[] {
  const kinds = [...new Set(cases.map(kindOf))];
  const ofKind = (kind: string): T[] => cases.filter((one) => kindOf(one) === kind);
  return part(
    cases,
    kinds.flatMap((kind) => spread(ofKind(kind), count)),
  );
}

function spread<T>(cases: readonly T[], count: number): T[] {
  if (cases.length <= count) return [...cases];
  return Array.from({ length: count }, (_none, at) => cases[Math.floor((at * cases.length) / count)] as T);
}

/** A list of which nothing is left is tried again: a test without cases is an error. */
function part<T>(cases: readonly T[], some: T[]): T[] {
  if (!IS_WHOLE) return some;
  const others = cases.filter((one) => !some.includes(one));
  return others.length > 0 ? others : some;
}
