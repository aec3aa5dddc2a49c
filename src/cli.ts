import { helpOf, readInput } from './commands/command-line.ts';
import { findAction, overview } from './commands/commands.ts';
import { usageError, type Outcome } from './commands/registry.ts';
import { openProgram } from './compose.ts';
import { loadConfig, userOfMachine } from './config.ts';
import { isDatabaseAway } from './platform/db.ts';
import { UserFacingError } from './platform/user-facing-error.ts';
import { failStart, isMain } from './process.ts';

/**
 * Runs one command.
 * @returns its exit code; 1: refused, 2: the database is unreachable, 64: not understood, 78: wrong
 * configuration
 */
export async function runCommand(words: readonly string[]): Promise<number> {
  try {
    const found = findAction(words);
    if (words.length === 0 || words.includes('--help'))
      return await print({ sentence: found === null ? overview() : helpOf(found.action) }, false);
    if (found === null) throw usageError(`There is no command ${words.join(' ')}.\n${overview()}`);
    const { input, by, isJson } = readInput(found.action, found.rest, userOfMachine());
    // Standard output contains only the command's result, so the program's log is off.
    const program = await openProgram({ ...loadConfig(), LOG_LEVEL: 'silent' });
    const parts = { ...program, prisma: program.database.prisma, by };
    return await found.action
      .run(parts, input)
      .then((outcome) => print(outcome, isJson))
      .finally(program.close);
  } catch (error) {
    const isAway = !(error instanceof UserFacingError) && isDatabaseAway(error);
    const told = isAway
      ? new UserFacingError('The database cannot be reached. Check it, and repeat the command.', 2)
      : error;
    if (!(told instanceof UserFacingError)) throw told;
    process.stderr.write(`${told.message}\n`);
    return told.exitCode;
  }
}

async function print({ data, sentence, exitCode = 0 }: Outcome, isJson: boolean): Promise<number> {
  const write = (text: string) => new Promise((written) => process.stdout.write(text, written));
  if (isJson && data !== undefined)
    await write(`${JSON.stringify(data, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one), 2)}\n`);
  else if (typeof sentence === 'string') await write(`${sentence}\n`);
  else for await (const piece of sentence) await write(piece);
  return exitCode;
}

if (isMain(import.meta.url)) process.exitCode = await runCommand(process.argv.slice(2)).catch(failStart);
