import { ConfigError, EXIT_BAD_CONFIG, loadConfig, type Config } from '../config.ts';
import { DatabaseUnreachableError } from '../platform/database/migrations.ts';
import { UserFacingError } from '../platform/terminal.ts';

/**
 * Runs a process: reads the configuration, and says in plain words why it could not do its work.
 * @param failed the exit code then
 */
export async function runProcess(
  work: (config: Config) => Promise<number | undefined>,
  failed = 1,
): Promise<void> {
  // The reader of our output has gone, as after `| head`; the work and its exit code stay.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    const code = await work(loadConfig());
    if (code !== undefined) process.exitCode = code;
  } catch (error) {
    process.stderr.write(`${wordsFor(error)}\n`);
    // A half-started process may hold sockets and children open; there is nothing left to wait for.
    process.exit(error instanceof ConfigError ? EXIT_BAD_CONFIG : failed);
  }
}

function wordsFor(error: unknown): string {
  // The database's own message cannot say which variable led there.
  if (error instanceof DatabaseUnreachableError) return `${error.message}: start it, or correct DATABASE_URL`;
  return error instanceof UserFacingError ? error.message : String((error as Error).stack ?? error);
}

/** What is in hand after this long is left: its lease ends, and another process takes it up. */
const STOP_WITHIN_MS = 10_000;

/** Resolves on the first SIGINT or SIGTERM. A second one ends the process at once, and so do ten seconds. */
export function terminationSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(130);
        isStopping = true;
        setTimeout(() => {
          process.stderr.write(
            'Ten seconds are over. What was still in hand is taken up when its lease ends.\n',
          );
          process.exit(0);
        }, STOP_WITHIN_MS).unref();
        resolve(signal);
      });
    }
  });
}
