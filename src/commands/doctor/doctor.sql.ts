import type { Alert } from '../../alerts/alert.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';

/** PostgreSQL itself: its version (`17.2`, and 170002), how this connection is encrypted, and its clock. */
export type ServerState = { version: string; number: number; tls: string | null; now: Date };

export async function serverState(db: Queryable): Promise<ServerState> {
  const [row] = await db.query<ServerState>(
    `SELECT current_setting('server_version') AS version,
       current_setting('server_version_num')::int AS number, clock_timestamp() AS now,
       (SELECT s.version FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid() AND s.ssl) AS tls`,
  );
  if (row === undefined) throw new Error('the database says nothing of itself');
  return row;
}

// Walks the index of orders by time: go-live asks about the newest of them only.
const RECENT = `
  SELECT p.reference, p.currency, p.status, p.created_at,
    substring(p.checkout_url from '^https?://([[][^]]*[]]|[^/?#:]+)') AS host
  FROM (SELECT id FROM orders WHERE mode = $1 ORDER BY created_at DESC, id DESC LIMIT 500) o
  JOIN payments p ON p.order_id = o.id WHERE p.checkout_url IS NOT NULL`;

/**
 * The hosts, without port, that recent checkouts of a mode led to, in which currencies money was confirmed
 * there, exactly, and when the newest was opened.
 */
export type Tried = { host: string; paid: string[]; openedAt: Date };

export function triedHosts(db: Queryable, mode: Mode): Promise<Tried[]> {
  return db.query(
    `SELECT host, coalesce(array_agg(DISTINCT currency) FILTER (WHERE status = 'paid'), '{}') AS paid,
       max(created_at) AS "openedAt"
     FROM (${RECENT}) recent WHERE host IS NOT NULL GROUP BY host ORDER BY host`,
    [mode],
  );
}

/** The last begin of reconciliation of a mode. */
export async function lastBegin(database: Database, mode: Mode): Promise<{ at: Date; by: string } | null> {
  const { reconciliationBegin } = await database.prisma();
  const begin = await reconciliationBegin.findFirst({ where: { mode }, orderBy: { begunAt: 'desc' } });
  return begin && { at: begin.begunAt, by: begin.begunBy };
}

/** The release of the payment of a mode that was confirmed first. */
export async function firstPaid(database: Database, mode: Mode) {
  const { release } = await database.prisma();
  return release.findFirst({ where: { mode }, orderBy: { releasedAt: 'asc' } });
}

/** Whether the newest webhook of a mode came signed; null: none came. */
export async function isNewestWebhookSigned(db: Queryable, mode: Mode): Promise<boolean | null> {
  const [row] = await db.query<{ signed: boolean }>(
    `SELECT authenticity = 'signed' AS signed
     FROM (SELECT id, mode, authenticity FROM webhooks ORDER BY id DESC LIMIT 1000) newest
     WHERE mode = $1 ORDER BY id DESC LIMIT 1`,
    [mode],
  );
  return row?.signed ?? null;
}

/** A state that was told and is not over, why, and when a process saw it last. */
type OpenAlert<Event> = { event: Event; reason: string | null; agoSec: number };

export function openAlerts<Event extends Alert['event']>(
  db: Queryable,
  mode: Mode,
  events: readonly Event[],
): Promise<OpenAlert<Event>[]> {
  return db.query(
    `SELECT event, alert ->> 'reason' AS reason, extract(epoch FROM now() - seen_at)::float8 AS "agoSec"
     FROM alert_states WHERE mode = $1 AND event = ANY($2) AND ended_at IS NULL ORDER BY event, key`,
    [mode, events],
  );
}
