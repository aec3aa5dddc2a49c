import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId, Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { DELIVERY, leaseOf, EVENTS, type Due } from './delivery.sql.ts';
import type { EventType, HappenedEvent } from './event.ts';

const LEASE = leaseOf(
  EVENTS,
  `c.type, c.data, c.happened_at AS "happenedAt",
      coalesce((c.data ->> 'amount')::bigint, o.amount) AS amount,
      coalesce(c.data ->> 'currency', o.currency) AS currency`,
);

export type DueEvent = HappenedEvent & Due;

type Row = DueEvent & { amount: bigint; currency: string };

/** Leases up to `limit` events whose delivery is due, at most `repeats` of them tried before. */
export async function leaseDueEvents(
  db: Queryable,
  mode: Mode,
  limit: number,
  repeats: number,
): Promise<DueEvent[]> {
  const rows = await db.query<Row>(LEASE, [mode, limit, Math.max(repeats, 0), true]);
  return rows.map(({ amount, currency, ...row }) => ({ ...row, total: { amount, currency } }));
}

/**
 * From now on events of these types are delivered, and no others. What is recorded already stays as it is.
 */
export async function wantEvents(db: Queryable, mode: Mode, types: readonly EventType[]): Promise<void> {
  await db.query(
    `WITH dropped AS (DELETE FROM wanted_events WHERE mode = $1 AND type <> ALL($2::text[]))
     INSERT INTO wanted_events (mode, type) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`,
    [mode, types],
  );
}

/** An event as an operator sees it. */
export type EventRow = {
  id: string;
  type: EventType;
  orderId: OrderId | null;
  reference: Reference | null;
  delivery: 'unneeded' | 'waiting' | 'delivered' | 'dead';
  attempts: number;
  lastError: string | null;
  happenedAt: Date;
  nextDeliveryAt: Date | null;
};

const EVENT_ROW = { ...DELIVERY, type: true, happenedAt: true } as const;

/** Events that wait for their receiver or were given up, oldest first. @param type null: of every type */
export async function undeliveredEvents(
  database: Database,
  mode: Mode,
  type: EventType | null = null,
): Promise<EventRow[]> {
  const { event } = await database.prisma();
  const where = { mode, ...(type !== null && { type }), delivery: { in: ['waiting', 'dead'] } };
  return (await event.findMany({ where, orderBy: { seq: 'asc' }, select: EVENT_ROW })) as EventRow[];
}

/** The events of an order, in the order in which they happened. */
export async function eventsOf(database: Database, orderId: OrderId): Promise<EventRow[]> {
  const { event } = await database.prisma();
  const where = { orderId };
  return (await event.findMany({ where, orderBy: { seq: 'asc' }, select: EVENT_ROW })) as EventRow[];
}
