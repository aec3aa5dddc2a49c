import type { PrepareBackingServices } from '../config/backing-services.ts';
import type { Config } from '../config.ts';
import { openProgram } from '../bootstrap/open-program.ts';
import { runProcess } from '../bootstrap/run-process.ts';
import { readOptions, refuse, usageText } from '../platform/usage.ts';
import { readArguments, UsageError, type Arguments, type Told } from './arguments.ts';
import { COMMANDS, usageOf } from './commands.ts';
import { EXAMINATIONS, examineThisShop } from './doctor/examine.ts';
import { EXIT_NOT_COMPLETED } from './reconcile.ts';
import { DIALECT_KEYS, type Dialect } from '../gateway/dialect/dialect.ts';
import { at } from '../gateway/dialect/json-pointer.ts';
import { formatTable } from '../platform/terminal.ts';

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

/**
 * `npm run dialect`: the dialect in force, key by key, and where each value comes from, or as JSON that
 * `GATEWAY_DIALECT` takes.
 */
function dialectInForce(config: Config, asJson: boolean): string {
  return asJson ? JSON.stringify(config.dialect, null, 2) : tableOf(config);
}

function tableOf({ dialect, dialectFile }: Config): string {
  const keys = new Set(DIALECT_KEYS.map((key) => shownFor(key, dialect)));
  const isGiven = (key: string): boolean => at(dialectFile?.given, key) !== undefined;
  const originOf = (key: string): string => {
    if (isGiven(key)) return 'file';
    return isGiven(key.replace('/statuses/', '/statuses/also/')) ? 'default, file' : 'default';
  };
  const rows = [...keys]
    .filter((key) => key !== '/statuses/also')
    .map((key) => [key, originOf(key), textOf(at(dialect, key))]);
  const file = dialectFile === null ? 'none: GATEWAY_DIALECT is not set' : dialectFile.path;
  return `${formatTable(['key', 'origin', 'value'], rows)}\n\nfile: ${file}`;
}

/** The key itself, or the object around it that the dialect has switched off with null. */
function shownFor(key: string, dialect: Dialect): string {
  const names = key.split('/');
  const around = names.map((_name, depth) => names.slice(0, depth + 1).join('/'));
  return around.find((pointer) => at(dialect, pointer) === null) ?? key;
}

function textOf(value: unknown): string {
  return value === undefined ? 'as in verify' : JSON.stringify(value);
}
