import { EXIT_USAGE, findCommand, USAGE } from './commands/commands.ts';
import { openProgram } from './compose.ts';
import { loadConfig } from './config.ts';
import { UserFacingError } from './platform/user-facing-error.ts';
import { isMain } from './process.ts';

/**
 * Runs one command. @param words as they were typed @returns the exit code: 0, 1 refused, 64 not understood, 78
 * configuration
 */
export async function runCommand(words: string[]): Promise<number> {
  try {
    const command = findCommand(words);
    if (command === null) {
      process.stderr.write(`${USAGE}\n`);
      return words.includes('--help') ? 0 : EXIT_USAGE;
    }
    // Standard output is the command's own; what the program logs is not asked for.
    const program = await openProgram({ ...loadConfig(), LOG_LEVEL: 'silent' });
    try {
      const { prisma } = program.database;
      process.stdout.write(`${await command({ ...program, prisma })}\n`);
    } finally {
      await program.close();
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UserFacingError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

if (isMain(import.meta.url)) process.exitCode = await runCommand(process.argv.slice(2));
