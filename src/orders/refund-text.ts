import { displayMoment } from '../platform/locale.ts';
import { displayMoney } from '../platform/money.ts';
import type { Order } from './order.ts';

type Refunded = Pick<Order, 'total' | 'refunded' | 'refundedAt'>;

/** What the shopper reads of an order of which money went back. The order is paid all the same. */
export type RefundText = { stamp: string; heading: string; sentence: string };

/** @returns null when no refund was written down */
export function refundTextOf({ total, refunded, refundedAt }: Refunded, locale?: string): RefundText | null {
  if (refundedAt === null) return null;
  const isWhole = refunded >= total.amount;
  const money = displayMoney({ amount: refunded, currency: total.currency }, locale);
  const { text } = displayMoment(refundedAt, locale ?? 'en');
  return {
    stamp: isWhole ? 'Paid, refunded' : 'Paid, refunded in part',
    heading: isWhole ? 'Your payment was given back' : 'A part of your payment was given back',
    sentence: `Refunded ${money} on ${text} UTC. It can take some days until your bank shows it.`,
  };
}
