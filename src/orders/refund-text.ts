import { displayMoment } from '../platform/locale.ts';
import { displayMoney } from '../platform/money.ts';
import type { Order } from './order.ts';

type Refunded = Pick<Order, 'total' | 'came' | 'refunded' | 'refundedAt'>;

/** What the shopper reads of an order of which money went back. The order is paid all the same. */
type RefundText = { stamp: string; heading: string; sentence: string };

/** In English; the shopper's pages have them in other languages, too. */
export const REFUND_WORDS = {
  whole: { stamp: 'Paid, refunded', heading: 'Your payment was refunded' },
  part: { stamp: 'Paid, refunded in part', heading: 'A part of your payment was refunded' },
  sentence: (money: string, at: string) =>
    `Refunded ${money} on ${at} UTC. It can take some days until your bank shows it.`,
};

/** @returns null when no refund was written down */
export function refundTextOf(
  { total, came, refunded, refundedAt }: Refunded,
  locale?: string,
  words = REFUND_WORDS,
): RefundText | null {
  if (refundedAt === null) return null;
  const money = displayMoney({ amount: refunded, currency: total.currency }, locale);
  const { text } = displayMoment(refundedAt, locale ?? 'en');
  return { ...(refunded >= came ? words.whole : words.part), sentence: words.sentence(money, text) };
}
