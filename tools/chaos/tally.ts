import type { Fault } from './plan.ts';

/** What has happened, by kind, over all seeds. */
export type Tally = {
  /** @param where the named point that was reached */
  fire(kind: string, where?: string): void;
  /** A fault that was planned and did not come to pass. */
  missed(kind: string, why: string): void;
  /** Cards that lie on the stand-in, by their id there, until it is known whether they were played. */
  cards: Map<string, Extract<Fault, { kind: 'deck' }>>;
  fired: ReadonlyMap<string, number>;
  points: ReadonlyMap<string, number>;
  misses: ReadonlyMap<string, number>;
  reasons: readonly string[];
};

export function createTally(): Tally {
  const [fired, points, misses] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  const reasons: string[] = [];
  const count = (map: Map<string, number>, name: string): void => {
    map.set(name, (map.get(name) ?? 0) + 1);
  };
  return {
    fire: (kind, where) => {
      count(fired, kind);
      if (where !== undefined) count(points, `${kind} ${where}`);
    },
    missed: (kind, why) => {
      count(misses, kind);
      reasons.push(`${kind}: ${why}`);
    },
    cards: new Map(),
    fired,
    points,
    misses,
    reasons,
  };
}
