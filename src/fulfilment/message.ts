import { formatMajor } from '../platform/money.ts';
import type { Release } from './release.ts';

/**
 * What a receiver is sent of a release. It is made of stored facts alone, without the time of an
 * attempt, and it is kept before the first attempt (see keepMessage), because the code that makes it may
 * change between two attempts.
 */
export function messageOf(release: Omit<Release, 'message'>): string {
  const { orderId, externalId, reference, total, mode, paidAt, lines } = release;
  return JSON.stringify({
    type: 'order.paid',
    timestamp: paidAt.toISOString(),
    data: {
      orderId,
      externalId,
      reference,
      amount: formatMajor(total),
      currency: total.currency,
      mode,
      paidAt: paidAt.toISOString(),
      lines: lines.map(({ sku, description, unitAmount, quantity }) => ({
        sku,
        description,
        unitAmount: formatMajor({ amount: unitAmount, currency: total.currency }),
        quantity,
      })),
    },
  });
}
