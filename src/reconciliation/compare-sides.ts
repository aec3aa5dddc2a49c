import type { Gateway } from '../gateway/gateway.ts';
import { takeBefore } from './begin.sql.ts';
import { checksumBuckets, tallyOfList, type ListTotals } from './compare/bucket-checksums.sql.ts';
import { classify, totalsOfClasses } from './compare/classify.sql.ts';
import { dropCompared, matchAgain, matchSides, totalsOfSides } from './compare/matching.sql.ts';
import { gatherScope, type Scope } from './compare/scope.sql.ts';
import { findCoverage, type Coverage } from './coverage.sql.ts';
import type { HistoryRead } from './import/import-history.ts';
import { missingSince, type Sentinels } from './import/sentinels.sql.ts';
import type { ControlTotals } from './report/control-totals.ts';
import type { Session } from './session.sql.ts';

type CompareParts = {
  session: Session;
  gateway: Gateway;
  history: HistoryRead;
  scope: Scope;
  sentinels: Sentinels | null;
  /** Whether the run asks verify. */
  isAsking: boolean;
};

type Compared = ControlTotals & { list: ListTotals; coverage: Coverage };

/** Compares both sides, as often as a run needs to. How far the list reaches is found out once. */
type Comparer = {
  all(): Promise<Compared>;
  /** Once more, after what verify repaired. */
  again(): Promise<Compared>;
  /** Once more, without what a begin takes: that says nothing about how far the list reaches. */
  withoutTaken(evenOfOurForm: boolean): Promise<Compared>;
};

export function createComparer(parts: CompareParts): Comparer {
  const { session, gateway, history, scope, sentinels, isAsking } = parts;
  const { mode, startedAt, since } = scope;
  let reach: Coverage | null = null;

  // One snapshot of the database: other processes confirm meanwhile, and sums of two
  // moments would not add up.
  const compare = (match: typeof matchSides): Promise<Compared> =>
    session.snapshot(async () => {
      if (match === matchAgain) await dropCompared(session);
      await gatherScope(session, scope);
      await checksumBuckets(session, scope, sentinels?.references ?? []);
      const list = await tallyOfList(session);
      await match(session, scope);
      reach ??= await coverageOf(list);
      const coverage = reach;
      const isCut = (history.cut ?? coverage.cut) !== null;
      await classify(session, { startedAt, isCut, mode, coverage, isAsking, since });
      const [sides, classes] = [await totalsOfSides(session, scope, list), await totalsOfClasses(session)];
      return { sides, classes, list, coverage };
    });

  const coverageOf = (list: ListTotals): Promise<Coverage> =>
    findCoverage(session, {
      mode,
      startedAt,
      rules: gateway.dialect.history,
      sentinels,
      isEndAssumed: history.isEndAssumed && history.cut === null,
      isPart: history.isPart,
      shorter: missingSince(sentinels, list),
    });

  return {
    all: () => compare(matchSides),
    again: () => compare(matchAgain),
    withoutTaken: async (evenOfOurForm) => {
      await takeBefore(session, mode, evenOfOurForm);
      reach = null;
      return compare(matchAgain);
    },
  };
}
