import { z } from 'zod';
import { formatMajor } from '../platform/money.ts';
import type { Product } from './catalogue.ts';
import { metadata, ORDER_STATUSES, type Order } from './order.ts';

const money = z
  .string()
  .describe('Exact decimal text in major units, with all decimals of its currency: "12.50"');
const currency = z.string().describe('ISO 4217 code');

/** An order as any client that knows its id may see it: no e-mail, and of its payment only the reference. */
export const orderView = z.strictObject({
  orderId: z.string().brand<'OrderId'>(),
  status: z.enum(ORDER_STATUSES),
  amount: money,
  currency,
  lines: z.array(z.strictObject({ description: z.string(), unitAmount: money, quantity: z.int() })),
  paidAt: z.iso.datetime().nullable(),
  refunded: money.describe(
    'What went back, as the shop wrote it down: "0.00" when nothing; the order stays paid',
  ),
  reference: z
    .string()
    .brand<'Reference'>()
    .nullable()
    .describe('Of the payment that paid the order, else of the latest one'),
  metadata: metadata.describe('What the shop gave with the order'),
  payBy: z.iso.datetime().nullable().describe('Until when it may be paid; null: there is no deadline'),
});
type OrderView = z.output<typeof orderView>;

/** The same for the shop's own system. */
export const shopOrderView = orderView.extend({ externalId: z.string().nullable() });
export type ShopOrderView = z.output<typeof shopOrderView>;

/** A page of them, newest first. */
export const shopOrdersView = z.strictObject({
  orders: z.array(shopOrderView),
  next: z
    .string()
    .brand<'OrderId'>()
    .nullable()
    .describe('Send it as `after` for the next page. null: this was the last; a page may be short before it'),
});

/** A product as storefronts show it. */
export const productView = z.strictObject({
  sku: z.string(),
  name: z.string(),
  description: z.string(),
  image: z.string(),
  price: money,
  currency,
});
type ProductView = z.output<typeof productView>;

export function viewOf(order: Order): OrderView {
  const { id, status, total, lines, paidAt, refunded, reference, metadata, payBy } = order;
  return {
    orderId: id,
    status,
    amount: formatMajor(total),
    currency: total.currency,
    lines: lines.map(({ description, unitAmount, quantity }) => ({
      description,
      unitAmount: formatMajor({ amount: unitAmount, currency: total.currency }),
      quantity,
    })),
    paidAt: paidAt?.toISOString() ?? null,
    refunded: formatMajor({ amount: refunded, currency: total.currency }),
    reference,
    metadata,
    payBy: payBy?.toISOString() ?? null,
  };
}

export function shopViewOf(order: Order): ShopOrderView {
  return { ...viewOf(order), externalId: order.externalId };
}

export function viewOfProduct({ price, ...product }: Product): ProductView {
  return { ...product, price: formatMajor(price), currency: price.currency };
}
