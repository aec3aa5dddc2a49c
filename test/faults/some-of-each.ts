import { someOf } from '../support/extent.ts';

/** Every one of the cases, or `count` of each kind. */
export function someOfEach<T>(cases: readonly T[], count: number, kindOf: (one: T) => string): T[] {
  const kinds = [...new Set(cases.map(kindOf))];
  return kinds.flatMap((kind) =>
    someOf(
      cases.filter((one) => kindOf(one) === kind),
      count,
    ),
  );
}
