import { formatMajor } from '../platform/money.ts';
import type { Order } from './order.ts';

/** An order as anybody who knows its id may see it: no e-mail, nothing of how it is paid but the reference. */
export type OrderView = {
  orderId: string;
  status: Order['status'];
  amount: string;
  currency: string;
  lines: { description: string; unitAmount: string; quantity: number }[];
  paidAt: string | null;
  reference: string | null;
};

export function viewOf({ id, status, total, lines, paidAt, reference }: Order): OrderView {
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
    reference,
  };
}
