import { z } from 'zod';
import { ORDER_STATUSES } from '../order.ts';
import { text } from '../schemas.ts';
import { parseOrderId } from '../../platform/ids.ts';
import { Problem } from '../../platform/problem.ts';
import { fieldErrors } from '../../platform/validation.ts';
import type { OrderQuestion } from '../shop-orders.sql.ts';

const PAGE_ROWS = 50;
const MAX_ROWS = 200;

/** What `POST /orders/:orderId/cancel` takes. */
export const cancelInput = z.strictObject({
  reason: text.max(500).describe('For you and your operators; the shopper does not see it'),
});

/** @throws {Problem} 422 */
export function readCancelInput(body: unknown): z.output<typeof cancelInput> {
  return read(cancelInput, body);
}

const question = z.strictObject({
  externalId: text.max(128).optional(),
  status: z.enum(ORDER_STATUSES).optional(),
  since: z.iso.datetime({ offset: true, message: 'must be a time like 2026-11-20T09:00:00Z' }).optional(),
  after: z
    .string()
    .transform((id) => parseOrderId(id))
    .pipe(z.custom<NonNullable<OrderQuestion['after']>>((id) => id !== null, 'is not the `next` of a page'))
    .optional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, `must be a number from 1 to ${MAX_ROWS}`)
    .transform(Number)
    .pipe(z.number().max(MAX_ROWS))
    .optional(),
});

/** Reads the parameters of `GET /orders`. @throws {Problem} 422, one entry per faulty parameter */
export function readOrderQuestion(query: unknown): OrderQuestion {
  const { externalId = null, status = null, since, after = null, limit = PAGE_ROWS } = read(question, query);
  return { externalId, status, since: since === undefined ? null : new Date(since), after, limit };
}

function read<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Problem('invalid-input', { errors: fieldErrors(parsed.error) });
}
