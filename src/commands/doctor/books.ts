import { readCheckoutStops } from '../../payments/checkout-stops.sql.ts';
import { nameOfStopped, wordOfStopped } from '../../payments/checkout-stops.ts';
import { displayMoney } from '../../platform/money.ts';
import { span } from '../../platform/locale.ts';
import { systemClock } from '../../platform/clock.ts';
import { lastRuns } from '../../reconciliation/report/runs.sql.ts';
import { lastIntegrityCheck } from '../../reporting/integrity.sql.ts';
import { lastRun, openFindingCounts, openSuspenseSums } from '../../reporting/shop-state.sql.ts';
import { counted, look, ok, wrong, type Answer, type Topic, type Subject } from './answers.ts';
import { sandboxOrders } from './tried-out.ts';

export const BOOKS: Topic = {
  about: 'books',
  questions: [sandboxOrders, reconciliation, completeness, findings, suspense, stops, journals],
  readsTables: true,
};

/** How the last reconciliation ended. */
export async function reconciliation({ database, mode }: Subject): Promise<Answer> {
  const run = await lastRun(database, mode);
  if (run === null) return look(`No reconciliation of the ${mode} mode has ended yet.`, 'npm run reconcile');
  const when = `The last reconciliation, ${span(run.agoSec)} ago,`;
  switch (run.verdict) {
    case 'agreed':
      return ok(`${when} agreed.`);
    case 'findings':
      return look(`${when} found differences.`, 'npm run findings -- list');
    case 'incomplete':
      return look(`${when} was not completed.`, 'npm run reconcile -- --runs');
  }
}

/** Full runs are made every night. */
const FULL_WITHIN_SEC = 36 * 3_600;

async function completeness({ database, mode, config }: Subject): Promise<Answer[]> {
  const { finishedAt, fullCompletedAt } = await lastRuns(database, mode);
  const isOff = config.RECONCILE_EVERY_MIN === 0;
  const byTimer = 'set RECONCILE_EVERY_MIN, or run npm run reconcile by a timer';
  const schedule = isOff ? [look('Scheduled reconciliation is off.', byTimer)] : [];
  // Said above already.
  if (finishedAt === null) return schedule;
  const ageSec = fullCompletedAt && (systemClock.now().getTime() - fullCompletedAt.getTime()) / 1_000;
  if (ageSec !== null && ageSec <= FULL_WITHIN_SEC) return schedule;
  const says =
    ageSec === null ? 'None over everything was complete' : `The last complete one is ${span(ageSec)} old`;
  return [...schedule, wrong(`${says}: nobody knows whether the money agrees.`, 'npm run reconcile')];
}

async function findings({ database, mode }: Subject): Promise<Answer> {
  const rows = await openFindingCounts(database, mode, true);
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return ok('No finding is open.');
  const classes = [...new Set(rows.map((row) => row.class))].join(', ');
  return look(`${counted(all, 'finding')} open: ${classes}.`, 'npm run findings -- list');
}

async function suspense({ database, mode }: Subject): Promise<Answer> {
  const rows = await openSuspenseSums(database, mode);
  if (rows.length === 0) return ok('No money is in suspense.');
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of rows)
    if (currency !== null) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  const money = [...sums].map(([currency, amount]) => displayMoney({ currency, amount })).join(', ');
  return look(`In suspense: ${money}.`, 'npm run suspense -- list');
}

async function stops({ database, mode }: Subject): Promise<Answer[]> {
  const stopped = await readCheckoutStops(database, mode);
  if (stopped.length === 0) return [ok('No currency is stopped.')];
  return stopped.map(({ currency, reference, reason, stoppedBy }) => {
    const resume = `npm run currencies -- resume ${wordOfStopped(currency)} --note "why" --by "name"`;
    const says = `No checkout opens in ${nameOfStopped(currency)}`;
    return reference === null
      ? look(`${says}: ${stoppedBy} stopped it, "${reason}".`, resume)
      : wrong(
          `${says}: payment ${reference} came in another unit.`,
          `npm run explain -- ${reference}, then ${resume}`,
        );
  });
}

async function journals({ database }: Subject): Promise<Answer[]> {
  const check = await lastIntegrityCheck(database);
  if (check === null || check.contradictions === 0n) return [];
  const says = `${check.contradictions} rows were changed by other means than this program.`;
  return [wrong(says, 'npm run explain -- --all')];
}
