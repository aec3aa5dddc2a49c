/** No connection to the database. The message names host and port, never the password: it may be shown. */
export class DatabaseUnreachableError extends Error {
  constructor(message: string) {
    // No cause: what the driver and the URL parser throw can carry the connection string.
    super(message);
    this.name = 'DatabaseUnreachableError';
  }
}

/** A setting that we sent did not arrive. */
export const SETTING_LOST = 'unsupported startup parameter: lock_timeout';

/** Puts a failure to connect into words. */
export function explainConnectionError(error: unknown, url: string): DatabaseUnreachableError {
  if (!URL.canParse(url)) {
    return new DatabaseUnreachableError(
      'the address of the database is not a URL: postgres://user:password@host:port/name',
    );
  }
  const { hostname, port, pathname } = new URL(url);
  const address = `${hostname}:${port || '5432'}${pathname}`;
  const reason = reasonOf(error);
  // PgBouncer either reports it or, if told to ignore such parameters, drops it silently.
  if (reason.startsWith('unsupported startup parameter')) {
    return new DatabaseUnreachableError(
      `a connection pooler answers at ${address}: add ?pgbouncer=true&direct=HOST:PORT to it, the address of PostgreSQL itself, which migrations, reconciliation and wake-ups need`,
    );
  }
  return new DatabaseUnreachableError(`cannot connect to the database at ${address}: ${reason}`);
}

// By shape, not by class: the errors of Node's own modules have other classes inside a test runner.
function reasonOf(error: unknown): string {
  const { errors, message } = error as { errors?: unknown[]; message?: string };
  // A host name with several addresses fails with one error for each, and no message of its own.
  return errors?.map(reasonOf).join('; ') ?? message ?? 'unknown reason';
}
