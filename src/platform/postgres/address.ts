/**
 * Where a DATABASE_URL leads. Behind PgBouncer in transaction mode each transaction may run on another connection, so
 * whatever a session keeps (locks, LISTEN, temporary tables, prepared statements, settings) needs PostgreSQL itself:
 * `postgres://user:password@bouncer:6432/shop?pgbouncer=true&direct=postgres:5432`.
 */
export type DatabaseAddress = {
  /** For statements and short transactions. */
  pooled: string;
  /** For what needs a session of its own. The same one without a pooler. */
  direct: string;
  isPooled: boolean;
};

/** @param url as configured; what is no URL is passed through, and the driver says what is wrong with it */
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

/** Whether the URL names a pooler and not what stands behind it. */
export function lacksDirectAddress(url: string): boolean {
  const { searchParams } = URL.canParse(url) ? new URL(url) : { searchParams: new URLSearchParams() };
  const isPooled = searchParams.get('pgbouncer') === 'true';
  return isPooled && !/^[^\s/@?#]+$/.test(searchParams.get('direct') ?? '');
}
