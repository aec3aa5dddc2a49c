import type { Logger } from 'pino';
import { startLoop, type Loop } from '../platform/loop.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';
import { reconcile, type ReconcileParts } from './run.ts';

const MINUTE_MS = 60_000;

/**
 * Starts one whole run a day. If the adapter filters, light runs read the new rows in between.
 * @param everyMin minutes between two runs; 0: only the command runs it
 */
export function startReconciliation(parts: ReconcileParts, everyMin: number, logger: Logger): Loop {
  const pass = async (): Promise<boolean> => {
    const since = everyMin === 0 ? undefined : await dueSince(parts, everyMin);
    if (since === undefined) return false;
    try {
      const { runId, verdict, reason, findings } = await reconcile(parts, { since, until: null });
      logger[verdict === 'agreed' ? 'info' : 'warn']({ runId, verdict, reason, findings }, 'reconciled');
    } catch (error) {
      // Another process is running it.
      if (!(error instanceof UserFacingError)) throw error;
    }
    return false;
  };
  return startLoop('reconciliation', pass, MINUTE_MS / 2, logger);
}

/** @returns the beginning of a light run. Null: a whole run is due. Undefined: no run is due */
async function dueSince({ prisma, gateway, policy }: ReconcileParts, everyMin: number) {
  const newest = (where: object) =>
    prisma.run.findFirst({ where: { mode: policy.mode, ...where }, orderBy: { id: 'desc' } });
  // A run of the future began before the database's clock was set back, and delays no other run.
  const age = (run: { startedAt: Date } | null): number => {
    const ageMs = run === null ? Infinity : Date.now() - run.startedAt.getTime();
    return ageMs < -MINUTE_MS ? Infinity : ageMs;
  };
  if (age(await newest({})) < everyMin * MINUTE_MS) return undefined;
  const judged = { verdict: { in: ['agreed', 'findings'] } };
  const last = await newest(judged);
  if (last === null || age(await newest({ ...judged, full: true })) >= 1_440 * MINUTE_MS) return null;
  const { checkoutLifetimeMin, history } = gateway.adapter;
  // Services filter by the time at which a payment was opened, which may be long before it was
  // paid.
  const back = (history.lagMin + checkoutLifetimeMin) * MINUTE_MS;
  return history.filters ? new Date(last.startedAt.getTime() - back) : undefined;
}
