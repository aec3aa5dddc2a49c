import { ReconciliationRunningError } from '../reconciliation/errors.ts';
import { recheck, type Rechecked } from '../reconciliation/recheck.sql.ts';
import { WorkListError, type Subcommand } from './work-list.ts';

/** Asks again about everything that the dialect did not explain. */
export const RECHECK: Subcommand = {
  usage: 'recheck --by "your name" [--note "what was changed"]',
  needs: [],
  isOfAll: true,
  perform: async (program, { by, note = 'the dialect was changed' }) => {
    const { config, gateway } = program;
    const parts = { ...program, mode: gateway.mode, concurrency: config.GATEWAY_CONCURRENCY };
    const done = await recheck(parts, { by, note }).catch((error: unknown) => {
      if (error instanceof ReconciliationRunningError) throw new WorkListError(error.message);
      throw error;
    });
    return { isDone: done.problem === null, told: tell(done) };
  },
};

function tell({ asked, findings, problem }: Rechecked): string {
  const outcomes = Object.entries(asked).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    outcomes.length === 0 ? 'No payment was asked about.' : `Asked again: ${outcomes.join(', ')}.`,
    `Findings about words, records and units: ${findings.closed} closed, ${findings.open} open.`,
    ...(problem === null ? [] : [`Not complete: ${problem}`]),
  ].join('\n');
}
