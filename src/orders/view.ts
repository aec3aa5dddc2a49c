import type { Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { figuresOf, ledgerOf } from '../ledger/stored.ts';
import { formatMajor } from '../platform/money.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { dueOf } from './order.ts';

/** The rows that the views of an order need. */
export const VIEWED = {
  lines: { orderBy: { position: 'asc' } },
  payments: { include: { ledgers: true }, orderBy: { createdAt: 'desc' } },
  refunds: true,
} satisfies Prisma.OrderInclude;
export type ViewedOrder = Prisma.OrderGetPayload<{ include: typeof VIEWED }>;

/**
 * An order as shown to any client that knows its id, without personal data. Amounts are decimal
 * texts in major units.
 */
export function viewOf(order: ViewedOrder) {
  const major = (amount: bigint): string => formatMajor({ amount, currency: order.currency });
  return {
    orderId: order.id,
    status: order.status,
    amount: major(order.amount),
    currency: order.currency,
    lines: order.lines.map(({ description, unitAmount, quantity }) => ({
      description,
      unitAmount: major(unitAmount),
      quantity,
    })),
    paidAt: order.paidAt?.toISOString() ?? null,
    reference: order.paidReference ?? order.payments[0]?.reference ?? null,
    refunded: major(order.refunds.reduce((sum, { amount }) => sum + amount, 0n)),
    held: major(heldOf(order)),
    due: major(dueOf(order)),
  };
}

/**
 * Held money in the order's currency, in minor units. A storefront shows it, so that the shopper
 * does not pay again.
 */
function heldOf({ payments, currency }: ViewedOrder): bigint {
  const rows = payments.flatMap(({ ledgers }) => ledgers.filter((row) => row.currency === currency));
  return rows.reduce((sum, row) => sum + figuresOf(ledgerOf(row)).held, 0n);
}

/** An order as shown to the shop's own system. */
export function shopViewOf(order: ViewedOrder) {
  return {
    ...viewOf(order),
    email: order.email,
    externalId: order.externalId,
    metadata: order.metadata,
    payBy: order.payBy?.toISOString() ?? null,
  };
}

/** @returns null if there is no such order, or if the text is no order id */
export function findOrder(prisma: PrismaClient, orderId: string): Promise<ViewedOrder | null> {
  return ORDER_ID.test(orderId)
    ? prisma.order.findUnique({ where: { id: orderId }, include: VIEWED })
    : Promise.resolve(null);
}
