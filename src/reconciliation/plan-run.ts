import type { LastRuns } from './report/runs.sql.ts';

/** Which payments a scheduled run expects; none named: all of them. */
export type PlannedWindow = { since?: Date };

const HOUR_MS = 60 * 60 * 1_000;
/** When a night's full run may begin, hours after midnight UTC. */
const NIGHT_HOUR = 2;
/** A light run looks at payments of the last days: who pays later than that is found by the night's run. */
const LIGHT_MS = 48 * HOUR_MS;
/** A full run that was not complete is tried again, but not at every stroke of the clock. */
const RETRY_MS = HOUR_MS;

/**
 * Whether the next run looks at everything or at the last days. Looking at everything is the rule: a light run is only
 * lighter where the service can filter its list, and there one full run a night is enough.
 */
export function planRun(now: Date, canFilter: boolean, last: LastRuns): PlannedWindow {
  if (!canFilter) return {};
  const night = new Date(now);
  night.setUTCHours(NIGHT_HOUR, 0, 0, 0);
  if (night > now) night.setUTCDate(night.getUTCDate() - 1);
  const isDone = last.fullCompletedAt !== null && last.fullCompletedAt >= night;
  const wasTried = last.fullStartedAt !== null && now.getTime() - last.fullStartedAt.getTime() < RETRY_MS;
  return isDone || wasTried ? { since: new Date(now.getTime() - LIGHT_MS) } : {};
}
