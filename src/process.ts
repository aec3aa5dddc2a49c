import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createLogger, type Logger } from './platform/logger.ts';
import { UserFacingError } from './platform/user-facing-error.ts';

/** The program that {@link runProcess} has started. */
export type Running = {
  logger: Logger;
  /** Shuts down in an orderly way. */
  close(): Promise<void>;
};

/**
 * Work that is not finished by then is abandoned. Its lease ends, and another process continues it.
 */
const CLOSE_WITHIN_MS = 10_000;

/**
 * Runs a server or worker until it ends. SIGTERM and SIGINT close it and exit with 0, after ten
 * seconds at the latest. A second signal exits with 1 immediately. If the start fails, standard
 * error gets a message, and the exit code is 1 or that of the {@link UserFacingError}. An uncaught
 * error is logged and exits with 1, because the state in memory can no longer be trusted; the
 * leases of unfinished work end, and another process continues it.
 */
export async function runProcess(start: () => Promise<Running>): Promise<void> {
  let logger = createLogger('fatal');
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, 'an uncaught error');
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
      process.stderr.write(
        'The shutdown took longer than ten seconds. Unfinished work continues when its lease ends.\n',
      );
      process.exit(0);
    }, CLOSE_WITHIN_MS);
    close().then(() => process.exit(0), failStart);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

/** Prints why a process could not do its work, and ends it. */
export function failStart(error: unknown): never {
  process.stderr.write(`${wordsFor(error)}\n`);
  // A half-started process may have open sockets and children. There is nothing left to wait for.
  process.exit(error instanceof UserFacingError ? error.exitCode : 1);
}

function wordsFor(error: unknown): string {
  if (error instanceof UserFacingError) return error.message;
  if (!(error instanceof Error)) return 'The process ended because a value that is not an error was thrown.';
  const { name, message, stack = '', code } = error as Error & { code?: unknown };
  // If a host has several addresses, the error of a failed connection has no message of its own.
  const [frame = ''] = /^ {4}at .+$/m.exec(stack) ?? [];
  return [`${name}: ${message || String(code)}`, frame].join('\n').trimEnd();
}

/**
 * Whether a module is the program that Node.js was started with.
 * @param moduleUrl its import.meta.url
 */
export function isMain(moduleUrl: string): boolean {
  const [, started] = process.argv;
  return started !== undefined && pathToFileURL(realpathSync(started)).href === moduleUrl;
}
