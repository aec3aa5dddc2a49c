import { moneyAbout } from '../cases/suspense.sql.ts';
import type { Order } from '../orders/order.ts';
import type { Queryable } from '../platform/database/database.ts';
import { statusTextOf, type OrderStatusText } from './order-status-text.ts';

/**
 * What the shopper of an order reads on its page, as far as `db` sees: in a transaction, what would be read
 * after it.
 */
export async function shopperTextOf(db: Queryable, order: Order): Promise<OrderStatusText> {
  const { decisions, ...money } = await moneyAbout(db, order.id);
  return statusTextOf(order, decisions, money);
}
