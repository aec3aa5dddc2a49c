import { z } from 'zod';
import { formatMajor } from '../platform/money.ts';
import type { Product } from './catalogue.ts';
import { ORDER_STATUSES, type Order } from './order.ts';

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
});
export type OrderView = z.output<typeof orderView>;

/** A product as storefronts show it. */
export const productView = z.strictObject({
  sku: z.string(),
  name: z.string(),
  description: z.string(),
  image: z.string(),
  price: money,
  currency,
});
export type ProductView = z.output<typeof productView>;

export function viewOf({ id, status, total, lines, paidAt, refunded, reference }: Order): OrderView {
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
  };
}

export function viewOfProduct({ price, ...product }: Product): ProductView {
  return { ...product, price: formatMajor(price), currency: price.currency };
}
