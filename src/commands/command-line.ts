import { pipeline } from 'node:stream/promises';
import type { PrepareBackingServices } from '../config/backing-services.ts';
import type { Program } from '../program.ts';
import type { Config } from '../config.ts';
import { exportFindings } from '../cases/export-findings.ts';
import { streamFindings } from '../cases/findings.ts';
import { coloured } from '../platform/terminal.ts';
import { createProgress } from '../reconciliation/progress.ts';
import { formatReport, type Paint } from '../reconciliation/report/format-report.ts';
import { BeginRefusedError, ReconciliationRunningError } from '../reconciliation/errors.ts';
import { exitCodeOf } from '../reconciliation/report/report.ts';
import { openProgram } from '../bootstrap/open-program.ts';
import { runProcess } from '../bootstrap/run-process.ts';
import { activity } from './activity.ts';
import { AFTER_RESTORE } from './after-restore.ts';
import { booksCommand, exportCommand } from './books.ts';
import { EXAMINATIONS, examineThisShop } from './doctor/examine.ts';
import { explainCommand, dispute } from './explain.ts';
import { dialectInForce } from './dialect.ts';
import {
  beginOf,
  readArguments,
  runQuestionOf,
  UsageError,
  type Arguments,
  windowOf,
  WindowError,
} from './arguments.ts';
import { readOptions, refuse, usageText } from '../platform/usage.ts';
import { USAGES } from './usages.ts';
import { REFUNDS } from './refunds.ts';
import { ORDERS } from './orders.ts';
import { lookBack } from './run-history.ts';
import { person } from './person.ts';
import { retention } from './retention.ts';
import { workList } from './work-list.ts';
import { LISTS } from './work-lists.ts';

type Command = (program: Program, args: Arguments) => Promise<number>;

const COMMANDS: Record<string, Command> = {
  reconcile: reconcileCommand,
  explain: toldBy(explainCommand),
  findings: (program, args) =>
    args.positionals[0] === 'export'
      ? findingsExport(program, args)
      : workList(program, LISTS.findings, args),
  suspense: (program, args) => workList(program, LISTS.suspense, args),
  refunds: (program, args) => workList(program, REFUNDS, args),
  releases: (program, args) => workList(program, LISTS.releases, args),
  currencies: (program, args) => workList(program, LISTS.currencies, args),
  orders: (program, args) => workList(program, ORDERS, args),
  activity: async (program, { values, positionals }) => {
    if (positionals.length > 0) throw new UsageError(`activity takes no "${positionals.join(' ')}"`);
    return say(await activity(program, values));
  },
  'after-restore': (program, args) => workList(program, AFTER_RESTORE, args),
  person: toldBy(person),
  dispute: toldBy(dispute),
  retention: toldBy(retention),
  books: booksCommand,
  export: exportCommand,
  // Composing has migrated the database already.
  migrate: () => say('The database has the schema of this version.'),
};

const EXIT_NOT_COMPLETED = 2;

/**
 * Runs one command to its end.
 * @param argv its name and what follows it
 */
export async function runCommandLine(
  [name = '', ...rest]: readonly string[],
  prepare: PrepareBackingServices,
): Promise<void> {
  const usage = USAGES[name];
  if (usage === undefined) {
    refuse(`there is no command "${name}"`, `Commands: ${Object.keys(USAGES).join(', ')}\n`);
    return;
  }
  const help = usageText(`npm run ${name === 'migrate' ? 'db:migrate' : name}`, usage);
  const args = readOptions(help, rest, () => readArguments(rest, Object.keys(usage.options)));
  if (args === null) return;
  // A nightly job must not take "the database was away" for "there are findings", nor for "to look at".
  const hasVerdict = name === 'reconcile' || name in EXAMINATIONS;
  await runProcess((config) => main(config, name, args, help, prepare), hasVerdict ? EXIT_NOT_COMPLETED : 1);
}

async function main(
  config: Config,
  name: string,
  args: Arguments,
  help: string,
  prepare: PrepareBackingServices,
): Promise<number | undefined> {
  try {
    // It asks the configuration alone, and so it answers where no database is.
    if (name === 'dialect') return await say(dialectInForce(config, args.values.json));
    return await runCommand(config, name, args, prepare);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof WindowError)) throw error;
    refuse(error.message, help);
    return undefined;
  }
}

async function runCommand(
  config: Config,
  name: string,
  args: Arguments,
  prepare: PrepareBackingServices,
): Promise<number> {
  const purpose = `npm run ${name}`;
  const examination = EXAMINATIONS[name];
  if (examination !== undefined) {
    if (args.positionals.length > 0) throw new UsageError(`${name} takes no "${args.positionals.join(' ')}"`);
    const how = { purpose, asJson: args.values.json };
    const { text, exitCode } = await examineThisShop(examination, config, prepare, how);
    return (await say(text)) + exitCode;
  }
  const command = COMMANDS[name];
  if (command === undefined) throw new UsageError(`there is no command "${name}"`);
  // Standard output belongs to the result; what happens on the way goes to standard error.
  const logLevel = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const options = { purpose, logLevel, logTo: process.stderr };
  const { program, close } = await openProgram(config, prepare, options);
  return command(program, args).finally(close);
}

async function reconcileCommand(program: Program, args: Arguments): Promise<number> {
  const { values, positionals } = args;
  const question = runQuestionOf(args);
  if (question !== null) {
    const { text, warning, exitCode } = await lookBack(program, question);
    if (text !== '') await say(text);
    if (warning !== null) process.stderr.write(`${warning}\n`);
    return exitCode;
  }
  // "reconcile dry-run" must not be a real run.
  if (positionals.length > 0) throw new UsageError(`reconcile takes no "${positionals.join(' ')}"`);
  const { since, until } = windowOf(values.since, values.until);
  const begin = beginOf(args);
  const progress = createProgress(process.stderr);
  try {
    const report = await program.reconcile({
      since,
      until,
      begin,
      dryRun: values['dry-run'],
      onProgress: progress.show,
    });
    progress.end();
    await say(values.json ? JSON.stringify(report) : formatReport(report, painted));
    return exitCodeOf(report);
  } catch (error) {
    progress.end();
    const isPlain = error instanceof ReconciliationRunningError || error instanceof BeginRefusedError;
    process.stderr.write(`${isPlain ? error.message : String((error as Error).stack)}\n`);
    return EXIT_NOT_COMPLETED;
  }
}

async function findingsExport(
  { database, gateway }: Program,
  { values, positionals }: Arguments,
): Promise<number> {
  if (positionals.length > 1 || (values.csv && values.json))
    throw new UsageError('findings export takes --csv (as it does without) or --json, and --all');
  const findings = streamFindings(database, gateway.mode, !values.all);
  await pipeline(exportFindings(findings, values.json ? 'json' : 'csv'), process.stdout, { end: false });
  return 0;
}

/** A command that gives its text and its exit code. */
function toldBy(
  ask: (program: Program, args: Arguments) => Promise<{ text: string; exitCode: number }>,
): Command {
  return async (program, args) => {
    const { text, exitCode } = await ask(program, args);
    return (await say(text)) + exitCode;
  };
}

const painted: Paint = (colour, text) => coloured(process.stdout, colour, text);

function say(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, () => {
      resolve(0);
    });
  });
}
