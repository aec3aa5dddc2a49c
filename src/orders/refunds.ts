import { z } from 'zod';
import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { displayMoney, formatMajor, parseMajor } from '../platform/money.ts';
import { invalidField, parseInput, Problem } from '../platform/problem.ts';
import type { Order } from './order.ts';
import { SHOP } from './cancel.ts';
import { recordRefund } from './refunds.sql.ts';
import { decimal, text } from './order-input.ts';

/** What `POST /orders/:orderId/refunds` takes. The currency is the order's. */
export const refundInput = z.strictObject({
  amount: decimal,
  reason: text.max(500),
  externalId: text
    .max(128)
    .optional()
    .describe(
      'Your number of the refund, or the service’s: the same one with the same amount again changes ' +
        'nothing. Without one a repeated request is a second refund',
    ),
});

/** A refund as it was written down. Amounts are exact decimal texts in major units. */
export const refundView = z.strictObject({
  refundId: z.string(),
  orderId: z.string().brand<'OrderId'>(),
  amount: z.string(),
  currency: z.string(),
  refunded: z.string().describe('Of the order in all, this one included'),
  reason: z.string(),
  externalId: z.string().nullable(),
});

/**
 * Writes down what the shop's own system says it has given back.
 * @returns `isNew` false: the same was written down before
 * @throws {Problem} 422 for what is no refund or above what is left, 409 for an order that is not paid, and
 * for a number that stands for another refund
 */
export async function noteRefundOfShop(
  database: Database,
  mode: Mode,
  order: Order,
  body: unknown,
): Promise<{ isNew: boolean; view: z.output<typeof refundView> }> {
  const { reason, externalId = null, amount: given } = parseInput(refundInput, body);
  const { currency } = order.total;
  const amount = parseMajor(given, currency);
  if (amount === null || amount === 0n)
    throw invalidField('amount', `must be above zero and no finer than ${currency} allows`);
  const refund = { orderId: order.id, amount, reason, externalId, by: SHOP };
  const done = await recordRefund(database, mode, refund);
  switch (done.outcome) {
    case 'unknown':
      throw new Problem('not-found');
    case 'not-paid':
      throw new Problem('not-paid', { extra: { orderId: order.id } });
    case 'differs':
      throw new Problem('refund-differs', { detail: `It is refund ${done.refund.id}.` });
    case 'too-much':
      throw invalidField(
        'amount',
        `is more than is left of what was paid: ${displayMoney({ ...done, amount: done.left })}`,
      );
    case 'recorded':
    case 'repeated': {
      const { id, orderId, reason: written } = done.refund;
      const view = {
        refundId: id,
        orderId,
        amount: formatMajor({ amount, currency }),
        currency,
        refunded: formatMajor({ amount: done.refunded, currency }),
        reason: written,
        externalId,
      };
      return { isNew: done.outcome === 'recorded', view };
    }
  }
}
