import type { Undelivered } from '../../fulfilment/releases.sql.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import type { OrderId } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

/** A release in any state of its delivery. */
export type ReleaseRow = Omit<Undelivered, 'delivery'> & {
  delivery: Undelivered['delivery'] | 'unneeded' | 'delivered';
  deliveredAt: Date | null;
};

export const PAGE_ROWS = 50;

const COLUMNS = `id, order_id AS "orderId", reference, amount, currency,
  delivery, attempts, last_error AS "lastError",
  released_at AS "releasedAt", delivered_at AS "deliveredAt", next_check_at AS "nextDeliveryAt"`;

/**
 * Releases in every state of delivery, newest first.
 * @param before the release after which the page begins
 */
export function latestReleases(db: Queryable, mode: Mode, before: string | null): Promise<ReleaseRow[]> {
  const older =
    before === null ? '' : 'AND (released_at, id) < ((SELECT released_at FROM releases WHERE id = $2), $2)';
  return db.query(
    `SELECT ${COLUMNS} FROM releases WHERE mode = $1 ${older}
     ORDER BY released_at DESC, id DESC LIMIT ${PAGE_ROWS + 1}`,
    before === null ? [mode] : [mode, before],
  );
}

/** The release of an order, if it has one. */
export async function releaseOf(database: Database, orderId: OrderId): Promise<ReleaseRow | null> {
  return (await (await database.prisma()).release.findUnique({ where: { orderId } })) as ReleaseRow | null;
}
