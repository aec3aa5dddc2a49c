import type { PrepareBackingServices } from '../config/backing-services.ts';
import type { Config } from '../config.ts';
import { openProgram } from '../bootstrap/open-program.ts';
import { runProcess } from '../bootstrap/run-process.ts';
import { readOptions, refuse, usageText } from '../platform/usage.ts';
import { readArguments, UsageError, type Arguments, type Told } from './arguments.ts';
import { COMMANDS, usageOf } from './commands.ts';
import { dialectInForce } from './dialect.ts';
import { EXAMINATIONS, examineThisShop } from './doctor/examine.ts';
import { EXIT_NOT_COMPLETED } from './reconcile.ts';

/**
 * Runs one command to its end.
 * @param argv its name and what follows it
 */
export async function runCommandLine(
  [name = '', ...rest]: readonly string[],
  prepare: PrepareBackingServices,
): Promise<void> {
  const command = COMMANDS[name];
  if (command === undefined) {
    refuse(`there is no command "${name}"`, `Commands: ${Object.keys(COMMANDS).join(', ')}\n`);
    return;
  }
  const help = usageText(`npm run ${name === 'migrate' ? 'db:migrate' : name}`, usageOf(command));
  const args = readOptions(help, rest, () => readArguments(rest, command.options));
  if (args === null) return;
  // A nightly job must not take "the database was away" for "there are findings", nor for "to look at".
  const hasVerdict = name === 'reconcile' || name in EXAMINATIONS;
  const main = async (config: Config): Promise<number | undefined> => {
    try {
      if (command.isBare && args.positionals.length > 0)
        throw new UsageError(`${name} takes no "${args.positionals.join(' ')}"`);
      const { text, exitCode } = await tell(config, name, args, prepare);
      if (text !== '') await say(text);
      return exitCode;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      refuse(error.message, help);
      return undefined;
    }
  };
  await runProcess(main, hasVerdict ? EXIT_NOT_COMPLETED : 1);
}

async function tell(
  config: Config,
  name: string,
  args: Arguments,
  prepare: PrepareBackingServices,
): Promise<Told> {
  // It asks the configuration alone, and so it answers where no database is.
  if (name === 'dialect') return { text: dialectInForce(config, args.values.json), exitCode: 0 };
  const purpose = `npm run ${name}`;
  const examination = EXAMINATIONS[name];
  if (examination !== undefined)
    return examineThisShop(examination, config, prepare, { purpose, asJson: args.values.json });
  const run = COMMANDS[name]?.run;
  if (run === undefined) throw new UsageError(`there is no command "${name}"`);
  // Standard output belongs to the result; what happens on the way goes to standard error.
  const logLevel = config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL;
  const { program, close } = await openProgram(config, prepare, { purpose, logLevel, logTo: process.stderr });
  return run(program, args).finally(close);
}

function say(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, () => {
      resolve();
    });
  });
}
