import type { VNode } from 'preact';
import { eventsOf } from '../../fulfilment/events.sql.ts';
import { noteLook } from '../../orders/erasure.sql.ts';
import type { Database } from '../../platform/database/database.ts';
import type { OrderId } from '../../platform/ids.ts';
import { emailOf } from '../../reporting/circumstances.sql.ts';
import { explain } from '../../reporting/explain.ts';
import type { Frame } from '../layout/frame.tsx';
import { releaseOf } from '../releases/releases.sql.ts';
import { OrderDetailPage } from './order-page.tsx';
import { evidenceOf } from './orders.sql.ts';

/**
 * The page of an order; null when there is none.
 * @param look who sees the customer's whole address on it, and why; that is written into the journal first
 */
export async function orderPage(
  database: Database,
  orderId: OrderId,
  frame: Frame,
  look?: { by: string; note: string },
): Promise<VNode | null> {
  const email = look === undefined ? null : await emailOf(database, orderId);
  if (look !== undefined && email !== null) await noteLook(database, [orderId], look.by, look.note);
  const story = await explain(database, orderId);
  if (story === null) return null;
  const [evidence, release, events] = await Promise.all([
    evidenceOf(database, orderId),
    releaseOf(database, orderId),
    eventsOf(database, orderId),
  ]);
  const { orderDetail } = story;
  return OrderDetailPage({ frame, orderDetail, evidence, release, events, ...(email !== null && { email }) });
}
