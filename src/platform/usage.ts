import { parseArgs } from 'node:util';
import { wrapped } from './terminal.ts';

/** How a command is called. Every line of it fits a terminal of 80 columns. */
export type Usage = {
  /** One sentence. */
  does: string;
  /** What can be typed after the command, one way a line. */
  forms: readonly string[];
  /** Each option as it is typed, and what it means. */
  options: Readonly<Record<string, string>>;
  /** What each exit code means, besides 64 (called wrongly). */
  exits: string;
  /** What is typed after the command. */
  example: string;
};

/** The exit code of a command that was called wrongly (EX_USAGE of sysexits.h). */
export const EXIT_USAGE = 64;

/** @param command as it is typed, `npm run demo` */
export function usageText(command: string, { does, forms, options, exits, example }: Usage): string {
  const typed = (form: string): string =>
    wrapped(form === '' ? `  ${command}` : `  ${command} -- ${form}`, 6);
  const width = Math.max(...Object.keys(options).map((name) => name.length));
  const meanings = Object.entries(options).map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
  return [
    does,
    `Usage\n${forms.map(typed).join('\n')}`,
    ...(meanings.length === 0 ? [] : [`Options\n${meanings.join('\n')}`]),
    `Exit codes\n${wrapped(`  ${exits}, 64 called wrongly`, 2)}`,
    `Example\n${typed(example)}\n`,
  ].join('\n\n');
}

/** A command line that cannot be understood. The usage of the command is printed with it. */
export class UsageError extends Error {}

/**
 * Reads a command line; `--help`, and what was typed wrongly, is answered here.
 * @param parse throws what `parseArgs` throws, or {@link UsageError}
 * @returns null when it was answered; the exit code is set
 */
export function readOptions<Options>(
  help: string,
  args: readonly string[],
  parse: () => Options,
): Options | null {
  if (args.includes('--help')) {
    process.stdout.write(help);
    return null;
  }
  try {
    return parse();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (!(error instanceof UsageError) && !String(code).startsWith('ERR_PARSE_ARGS')) throw error;
    // Node.js goes on about arguments that begin with a dash.
    refuse(message.split('. ')[0] ?? message, help);
    return null;
  }
}

/** For a command without options. @returns whether `--help`, or what was typed, was answered */
export function isAnswered(help: string, args: readonly string[]): boolean {
  return readOptions(help, args, () => parseArgs({ args: [...args], options: {} })) === null;
}

/** Says in one line what is wrong, and how the command is called. */
export function refuse(wrong: string, help: string): void {
  process.stderr.write(`${wrong}\n\n${help}`);
  process.exitCode = EXIT_USAGE;
}
