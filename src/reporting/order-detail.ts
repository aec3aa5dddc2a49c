import { findOrder } from '../orders/orders.sql.ts';
import type { Metadata, Order, OrderStatus } from '../orders/order.ts';
import type { ShopperDetails } from '../orders/shopper-details.ts';
import type { Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import { circumstancesOf, type Circumstances } from './circumstances.sql.ts';
import { contradictionsOf, headOf, type ChainHead } from './integrity.sql.ts';
import { paymentsOf, storyOf, type PaymentStanding, type StoryEvent } from './timeline.sql.ts';

/** One order's whole story as data. Amounts in `story` and `cases` are in minor units, as in the rows. */
export type OrderDetail = Circumstances & {
  orderId: OrderId;
  externalId: string | null;
  status: OrderStatus;
  /** In major units. */
  amount: string;
  /** What refunds were written down, in major units. */
  refunded: string;
  currency: string;
  mode: string;
  /** `amount`: of all pieces of the line, in major units; below zero for a discount. */
  lines: { description: string; quantity: number; amount: string }[];
  details: ShopperDetails;
  metadata: Metadata;
  payBy: Date | null;
  payments: PaymentStanding[];
  story: StoryEvent[];
  journal: ChainHead;
  /** One sentence per row that was changed by other means than this program; empty when there is none. */
  contradictions: string[];
};

/**
 * Everything known about one order, within the caller's snapshot.
 * @returns null when there is no such order
 */
export async function detailOf(
  tx: Queryable,
  id: OrderId,
): Promise<{ order: Order; orderDetail: OrderDetail } | null> {
  const order = await findOrder(tx, id);
  const circumstances = await circumstancesOf(tx, id);
  if (order === null || circumstances === null) return null;
  const orderDetail = {
    ...headingOf(order),
    ...circumstances,
    payments: await paymentsOf(tx, order.id),
    story: await storyOf(tx, order.id),
    journal: await headOf(tx, order.id),
    contradictions: (await contradictionsOf(tx, [order.id])).map(({ what }) => what),
  };
  return { order, orderDetail };
}

function headingOf({ id, externalId, status, total, refunded, mode, lines, ...rest }: Order) {
  const { details, metadata, payBy } = rest;
  return {
    orderId: id,
    externalId,
    status,
    amount: formatMajor(total),
    refunded: formatMajor({ amount: refunded, currency: total.currency }),
    currency: total.currency,
    mode,
    lines: lines.map(({ description, quantity, unitAmount }) => ({
      description,
      quantity,
      amount: formatMajor({ amount: unitAmount * BigInt(quantity), currency: total.currency }),
    })),
    details,
    metadata,
    payBy,
  };
}
