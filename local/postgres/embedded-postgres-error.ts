import { UserFacingError } from '../../src/platform/terminal.ts';

/** The embedded PostgreSQL cannot run here. The message says what to do, so it can be shown as it is. */
export class EmbeddedPostgresError extends UserFacingError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

/** What to do instead of the embedded PostgreSQL; ends every message about a machine that cannot run it. */
export const USE_ANOTHER_DATABASE = 'set DATABASE_URL to a PostgreSQL 14 or newer';

const QUOTED_LINES = 12;

/** A program of PostgreSQL failed: what we could not do, what to do about it, and its last words. */
export function quoteFailure(what: string, words: string, source: string): EmbeddedPostgresError {
  const reason = words.includes('No space left on device') ? ': the disk is full' : '';
  const lines = words.trimEnd().split('\n').slice(-QUOTED_LINES);
  return new EmbeddedPostgresError(
    `${what}${reason}; correct that, or ${USE_ANOTHER_DATABASE}. From ${source}:\n  ${lines.join('\n  ')}`,
  );
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'it is on a read-only file system',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  // What Node reports when it may not make the folder on a read-only file system.
  ENOENT: 'it cannot be made there',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'something else has that name',
};

/**
 * Turns a file system error into words about `dir`, or passes the error through when it has no plain words.
 */
export function explainFolderError(error: unknown, dir: string): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  if (reason === undefined) return error;
  return new EmbeddedPostgresError(
    `cannot keep a database in ${dir}: ${reason}; free or correct the folder, or ${USE_ANOTHER_DATABASE}`,
    { cause: error },
  );
}
