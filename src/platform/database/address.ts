/**
 * Where a DATABASE_URL leads. Behind PgBouncer in transaction mode each transaction may run on another
 * connection, so session state (locks, LISTEN, temporary tables, prepared statements, settings) needs
 * PostgreSQL itself: `postgres://user:password@bouncer:6432/shop?pgbouncer=true&direct=postgres:5432`.
 */
type DatabaseAddress = {
  /** For statements and short transactions. */
  pooled: string;
  /** For work that needs a session of its own. The same address when there is no pooler. */
  direct: string;
  isPooled: boolean;
};

/** @param url as configured; text that is no URL is passed through, and the driver reports what is wrong */
export function readAddress(url: string): DatabaseAddress {
  const given = URL.canParse(url) ? new URL(url) : null;
  const host = given?.searchParams.get('direct') ?? null;
  if (given?.searchParams.get('pgbouncer') !== 'true' || host === null)
    return { pooled: url, direct: url, isPooled: false };
  given.searchParams.delete('pgbouncer');
  given.searchParams.delete('direct');
  const direct = new URL(given.href.replace(`@${given.host}/`, `@${host}/`));
  return { pooled: given.href, direct: direct.href, isPooled: true };
}

/**
 * A machine that vanishes closes no connection, and a statement under way would wait two hours for its
 * answer. After ten seconds of silence the kernel asks each second, and breaks the connection after ten
 * questions.
 */
export const KEPT_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Whether the URL names a pooler but not the PostgreSQL behind it. */
export function lacksDirectAddress(url: string): boolean {
  const { searchParams } = URL.canParse(url) ? new URL(url) : { searchParams: new URLSearchParams() };
  const isPooled = searchParams.get('pgbouncer') === 'true';
  return isPooled && !/^[^\s/@?#]+$/.test(searchParams.get('direct') ?? '');
}

/** The name of the database, as the URL writes it; empty when it names none. */
export function databaseNameOf(url: string): string {
  return parsed(url)?.pathname.slice(1) ?? '';
}

/**
 * How statements travel: `local` stays on this machine, `plain` can be read on the way, `unchecked` is
 * encrypted without checking who the server is. As node-postgres reads the URL, where `prefer` and
 * `require` check the certificate, too.
 */
type Transport = 'local' | 'plain' | 'unchecked' | 'checked';

export function transportOf(url: string): Transport {
  const { hostname = '', searchParams = new URLSearchParams() } = parsed(url) ?? {};
  const host = searchParams.get('host') ?? hostname;
  const direct = searchParams.get('pgbouncer') === 'true' ? (searchParams.get('direct') ?? '') : '';
  if ([host, direct.replace(/:\d+$/, '')].every(isThisMachine)) return 'local';
  const mode = searchParams.get('sslmode');
  const ssl = searchParams.get('ssl');
  const isLibpq = searchParams.get('uselibpqcompat') === 'true';
  if (mode === 'disable') return 'plain';
  if (mode === 'no-verify' || (mode === null && ssl === 'no-verify')) return 'unchecked';
  if (isLibpq && (mode === 'prefer' || mode === 'require') && !searchParams.has('sslrootcert'))
    return 'unchecked';
  const isOn = ['true', '1'].includes(ssl ?? '') || searchParams.get('sslnegotiation') === 'direct';
  const names = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert'];
  return isOn || names.some((name) => searchParams.has(name)) ? 'checked' : 'plain';
}

/** Without a host, as with a folder of sockets, the driver means this machine. */
function parsed(url: string): URL | null {
  const whole = url.replace('@/', '@localhost/');
  return URL.canParse(whole) ? new URL(whole) : null;
}

/** A loopback name or address, a folder of sockets, or nothing at all. */
function isThisMachine(host: string): boolean {
  return /^$|^\/|^%2f|^localhost$|^127(\.\d+){3}$|^\[?::1\]?$/i.test(host);
}

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
