import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createLogger, type Logger } from './platform/logger.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

/** What {@link runProcess} has started. */
export type Running = {
  logger: Logger;
  /** Ends it in good order. */
  close(): Promise<void>;
};

/** What is in hand after this long is left: its lease ends, and another process takes it up. */
const CLOSE_WITHIN_MS = 10_000;

/**
 * Runs a server or worker to its end. SIGTERM and SIGINT close it and exit with 0, after ten
 * seconds at the latest; a second one exits with 1 at once. A start that fails is told in words on
 * standard error (exit code 1, or that of the {@link UserFacingError}). An error that nobody has
 * caught is logged and exits with 1: what is in memory cannot be trusted then, and what was in hand
 * is taken up by its lease.
 */
export async function runProcess(start: () => Promise<Running>): Promise<void> {
  let logger = createLogger('fatal');
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, 'an error that nobody has caught');
    process.exit(1);
  };
  process.on('uncaughtException', crash).on('unhandledRejection', crash);
  const started = start();
  closeOnSignal(async () => (await started).close());
  try {
    ({ logger } = await started);
  } catch (error) {
    failStart(error);
  }
}

function closeOnSignal(close: () => Promise<void>): void {
  let isClosing = false;
  const onSignal = (): void => {
    if (isClosing) process.exit(1);
    isClosing = true;
    setTimeout(() => {
      process.stderr.write('Ten seconds are over: what was still in hand is taken up when its lease ends.\n');
      process.exit(0);
    }, CLOSE_WITHIN_MS);
    close().then(() => process.exit(0), failStart);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

/** Says in words why a process could not do its work, and ends it. */
export function failStart(error: unknown): never {
  process.stderr.write(`${wordsFor(error)}\n`);
  // A half-started process may hold sockets and children open; there is nothing left to wait for.
  process.exit(error instanceof UserFacingError ? error.exitCode : 1);
}

function wordsFor(error: unknown): string {
  if (error instanceof UserFacingError) return error.message;
  if (!(error instanceof Error)) return 'The process ended by something thrown that is no error.';
  const { name, message, stack = '', code } = error as Error & { code?: unknown };
  // A host with several addresses fails without a message of its own.
  const [frame = ''] = /^ {4}at .+$/m.exec(stack) ?? [];
  return [`${name}: ${message || String(code)}`, frame].join('\n').trimEnd();
}

/**
 * Whether a module is the program that Node.js was asked to run.
 * @param moduleUrl its import.meta.url
 */
export function isMain(moduleUrl: string): boolean {
  const [, started] = process.argv;
  return started !== undefined && pathToFileURL(realpathSync(started)).href === moduleUrl;
}
