import { NOT_A_PERSON } from '../cases/resolution.ts';
import { parseRunId, type RunId } from '../platform/ids.ts';
import { coloured } from '../platform/terminal.ts';
import type { Program } from '../program.ts';
import { BeginRefusedError, ReconciliationRunningError } from '../reconciliation/errors.ts';
import { createProgress } from '../reconciliation/progress.ts';
import { formatReport, type Paint } from '../reconciliation/report/format-report.ts';
import { formatDifference, formatRuns } from '../reconciliation/report/format-runs.ts';
import { diffRuns, replayRun, RunNotKeptError } from '../reconciliation/report/replay.ts';
import { exitCodeOf } from '../reconciliation/report/report.ts';
import { latestRuns } from '../reconciliation/report/runs.sql.ts';
import type { Begin } from '../reconciliation/steps.ts';
import { UsageError, windowOf, type Arguments, type Told } from './arguments.ts';
import { recheck, type Rechecked } from '../reconciliation/recheck.sql.ts';
import { WorkListError, type Subcommand } from './work-list.ts';

export const EXIT_NOT_COMPLETED = 2;
const painted: Paint = (colour, text) => coloured(process.stdout, colour, text);

/** One run, or a question about earlier ones. */
export async function reconcileCommand(program: Program, args: Arguments): Promise<Told> {
  const { values, positionals } = args;
  const question = runQuestionOf(args);
  if (question !== null) {
    const { text, warning, exitCode } = await lookBack(program, question);
    if (warning !== null) process.stderr.write(`${warning}\n`);
    return { text, exitCode };
  }
  // "reconcile dry-run" must not be a real run.
  if (positionals.length > 0) throw new UsageError(`reconcile takes no "${positionals.join(' ')}"`);
  const window = windowOf(values.since, values.until);
  const begin = beginOf(args);
  const progress = createProgress(process.stderr);
  try {
    const options = { ...window, begin, dryRun: values['dry-run'], onProgress: progress.show };
    const report = await program.reconcile(options);
    progress.end();
    const text = values.json ? JSON.stringify(report) : formatReport(report, painted);
    return { text, exitCode: exitCodeOf(report) };
  } catch (error) {
    progress.end();
    const isPlain = error instanceof ReconciliationRunningError || error instanceof BeginRefusedError;
    process.stderr.write(`${isPlain ? error.message : String((error as Error).stack)}\n`);
    return { text: '', exitCode: EXIT_NOT_COMPLETED };
  }
}

/** Who begins reconciliation, and why. @returns undefined when the run is a usual one */
export function beginOf({ values }: Arguments): Begin | undefined {
  const evenOfOurForm = values['even-of-our-form'];
  if (!values.begin) {
    if (evenOfOurForm) throw new UsageError('--even-of-our-form goes with --begin');
    return undefined;
  }
  const [by, note] = [values.by?.trim() ?? '', values.note?.trim() ?? ''];
  if (values.since !== undefined || values.until !== undefined)
    throw new UsageError('a begin is about the whole list: leave out --since and --until');
  if (!values['dry-run'] && (by === '' || note === ''))
    throw new UsageError(
      'who begins, and why? --begin --by "name" --note "why" (--begin --dry-run shows first)',
    );
  if (NOT_A_PERSON.includes(by)) throw new UsageError(`"${by}" is not a person: give your name with --by`);
  return { by, note, evenOfOurForm };
}

/** What is asked of earlier runs. Exactly one of the four is given. */
type RunQuestion = {
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
async function lookBack(program: Program, question: RunQuestion): Promise<RunAnswer> {
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

/** @returns null when a run is asked for, not a question about earlier runs */
function runQuestionOf({ values, positionals }: Arguments): RunQuestion | null {
  const { runs, diff, json } = values;
  const [show, replay] = [values.show, values.replay].map((id) => (id === undefined ? id : runIdOf(id)));
  const asked = [runs || undefined, show, replay, diff].filter((one) => one !== undefined).length;
  if (asked === 0) return null;
  if (asked > 1) throw new UsageError('ask for one of --runs, --show, --replay and --diff');
  if (diff === undefined) {
    if (positionals.length > 0) throw new UsageError(`reconcile takes no "${positionals.join(' ')}"`);
    return { runs, show, replay, diff, json };
  }
  const [other, ...more] = positionals;
  if (other === undefined || more.length > 0) throw new UsageError('which two? --diff <run> <run>');
  return { runs, show, replay, diff: [runIdOf(diff), runIdOf(other)], json };
}

function runIdOf(text: string): RunId {
  const id = parseRunId(text);
  if (id === null) throw new UsageError(`"${text}" is not the id of a run`);
  return id;
}

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
    return { isDone: done.problem === null, told: tellOfRecheck(done) };
  },
};

function tellOfRecheck({ asked, findings, problem }: Rechecked): string {
  const outcomes = Object.entries(asked).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    outcomes.length === 0 ? 'No payment was asked about.' : `Asked again: ${outcomes.join(', ')}.`,
    `Findings about words, records and units: ${findings.closed} closed, ${findings.open} open.`,
    ...(problem === null ? [] : [`Not complete: ${problem}`]),
  ].join('\n');
}
