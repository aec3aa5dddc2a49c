import { z } from 'zod';
import type { Database } from '../platform/database/database.ts';
import type { Mode } from '../platform/mode.ts';
import { displayMoney, formatMajor, parseMajor } from '../platform/money.ts';
import { Problem } from '../platform/problem.ts';
import { fieldErrors } from '../platform/validation.ts';
import type { Order } from './order.ts';
import { SHOP } from './cancel.ts';
import { recordRefund } from './refunds.sql.ts';
import { decimal, text } from './schemas.ts';

/** What `POST /orders/:orderId/refunds` takes. The currency is the order's. */
export const refundInput = z.strictObject({
  amount: decimal,
  reason: text.max(500),
  externalId: text
    .max(128)
    .optional()
    .describe(
      'Your number of the refund, or the service’s: the same one with the same amount again changes nothing. ' +
        'Without one a repeated request is a second refund',
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
export async function takeRefund(
  database: Database,
  mode: Mode,
  order: Order,
  body: unknown,
): Promise<{ isNew: boolean; view: z.output<typeof refundView> }> {
  const parsed = refundInput.safeParse(body);
  if (!parsed.success) throw new Problem('invalid-input', { errors: fieldErrors(parsed.error) });
  const { reason, externalId = null } = parsed.data;
  const { currency } = order.total;
  const amount = parseMajor(parsed.data.amount, currency);
  if (amount === null || amount === 0n)
    throw invalid(`must be above zero and no finer than ${currency} allows`);
  const done = await recordRefund(database, mode, {
    ...{ orderId: order.id, amount, reason, externalId, by: SHOP },
  });
  switch (done.outcome) {
    case 'unknown':
      throw new Problem('not-found');
    case 'not-paid':
      throw new Problem('not-paid', { extra: { orderId: order.id } });
    case 'differs':
      throw new Problem('refund-differs', { detail: `It is refund ${done.refund.id}.` });
    case 'too-much':
      throw invalid(`is more than is left of what was paid: ${displayMoney({ ...done, amount: done.left })}`);
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

function invalid(message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path: 'amount', message }] });
}
