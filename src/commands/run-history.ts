import type { RunId } from '../platform/ids.ts';
import type { Program } from '../program.ts';
import { formatReport } from '../reconciliation/report/format-report.ts';
import { formatDifference, formatRuns } from '../reconciliation/report/format-runs.ts';
import { diffRuns, replayRun, RunNotKeptError } from '../reconciliation/report/replay.ts';
import { latestRuns } from '../reconciliation/report/runs.sql.ts';

/** What is asked of earlier runs. Exactly one of the four is given. */
export type RunQuestion = {
  runs: boolean;
  show: RunId | undefined;
  replay: RunId | undefined;
  diff: readonly [RunId, RunId] | undefined;
  json: boolean;
};

const MAX_RUNS = 100;
/** The exit code when the report cannot be written as it was. */
const EXIT_DIFFERS = 1;

type RunAnswer = { text: string; warning: string | null; exitCode: number };

/** Answers from what is kept of earlier runs; the service is not asked and nothing is written. */
export async function lookBack(program: Program, question: RunQuestion): Promise<RunAnswer> {
  try {
    return await answer(program, question);
  } catch (error) {
    if (!(error instanceof RunNotKeptError)) throw error;
    return { text: '', warning: error.message, exitCode: 64 };
  }
}

async function answer({ database, gateway }: Program, question: RunQuestion): Promise<RunAnswer> {
  const { mode } = gateway;
  const { show, replay, diff, json } = question;
  const said = (text: string): RunAnswer => ({ text, warning: null, exitCode: 0 });
  if (diff !== undefined) {
    const difference = await diffRuns(database, mode, ...diff);
    return said(json ? jsonOf(difference) : formatDifference(difference));
  }
  const id = replay ?? show;
  if (id === undefined) {
    const runs = await latestRuns(database, mode, MAX_RUNS);
    return said(json ? jsonOf(runs) : formatRuns(runs));
  }
  const { report, text, isSame } = await replayRun(database, mode, id);
  const shown = said(replay !== undefined || json ? text : formatReport(report));
  if (isSame) return shown;
  const warning = `${id} printed another report: this version writes it differently, or what is kept of it was changed`;
  return { ...shown, warning, exitCode: EXIT_DIFFERS };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
}
