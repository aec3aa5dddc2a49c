import { z } from 'zod';
import { MUST_BE_PAYABLE, payableCurrency, parseMajor } from '../platform/money.ts';
import { invalidField, parseInput } from '../platform/problem.ts';
import {
  MAX_TOTAL,
  metadata as metadataInput,
  ORDER_STATUSES,
  totalOf,
  type Metadata,
  type OrderLine,
} from './order.ts';
import { shopperDetails, type ShopperDetails } from './shopper-details.ts';
import { parseOrderId } from '../platform/ids.ts';
import type { OrderQuestion } from './shop-orders.sql.ts';

/**
 * PostgreSQL takes no NUL in a text and no half of a surrogate pair in JSON, and the other control characters
 * have no use in one.
 */
export const text = z.string().regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be text without control characters');
/** An amount above or at zero in major units. */
export const decimal = z.string().regex(/^\d{1,15}(\.\d{1,4})?$/, 'must be a decimal text like "12.50"');

/**
 * Lines and metadata as JSON. The receiver of the release gets them once the order is paid, and receivers
 * commonly take 100 kB: an order that is too large for them is refused before it is paid, not after.
 */
const MAX_LINES_BYTES = 64 * 1_024;

const line = z.strictObject({
  description: text.max(200),
  unitAmount: z
    .string()
    .regex(/^-?\d{1,15}(\.\d{1,4})?$/, 'must be a decimal text like "12.50"')
    .describe('Zero or less for a gift or a discount; the total must be above zero'),
  quantity: z.int().min(1).max(100_000),
});

/** What `POST /orders` takes. */
export const orderInput = z.strictObject({
  externalId: text.max(128).optional(),
  email: z.email().max(254),
  currency: z.string().refine((code) => payableCurrency(code) !== null, MUST_BE_PAYABLE),
  lines: z.array(line).min(1).max(500),
  metadata: metadataInput.optional().describe('Texts of your own; every reader of the order sees them'),
  payBy: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Until when it may be paid: at most 8 days from now. Later money is raised and never pays it'),
  returnUrl: z.string().max(2_048).optional(),
  ...shopperDetails.shape,
});

type OrderInput = {
  externalId: string | null;
  email: string;
  currency: string;
  lines: OrderLine[];
  metadata: Metadata;
  payBy: Date | null;
  returnUrl: string | undefined;
  details: ShopperDetails;
};

/** Reads the order of a shop that prices elsewhere. @throws {Problem} 422, one entry per faulty field */
export function readOrderInput(body: unknown): OrderInput {
  const input = parseInput(orderInput, body);
  const { externalId = null, email, returnUrl, lines: given, metadata = {}, payBy } = input;
  const currency = payableCurrency(input.currency) ?? input.currency;
  if (Buffer.byteLength(JSON.stringify([given, metadata])) > MAX_LINES_BYTES)
    throw invalidField('lines', 'are too long together, with the metadata: at most 64 KiB as JSON');
  const lines = given.map(({ description, unitAmount, quantity }, at) => {
    const size = parseMajor(unitAmount.replace('-', ''), currency);
    if (size === null)
      throw invalidField(`lines.${at}.unitAmount`, `must be no finer than ${currency} allows`);
    if (size * BigInt(quantity) > MAX_TOTAL) throw invalidField(`lines.${at}`, 'is too large');
    return { sku: null, description, unitAmount: unitAmount.startsWith('-') ? -size : size, quantity };
  });
  const total = totalOf(lines);
  if (total > MAX_TOTAL) throw invalidField('lines', 'the total is too large');
  if (total <= 0n) throw invalidField('lines', 'the total must be above zero');
  return {
    externalId,
    email,
    currency,
    lines,
    metadata,
    returnUrl,
    details: shopperDetails.parse(input),
    payBy: payBy === undefined ? null : new Date(payBy),
  };
}

/** What `POST /orders/:orderId/cancel` takes. */
export const cancelInput = z.strictObject({
  reason: text.max(500).describe('For you and your operators; the shopper does not see it'),
});

const PAGE_ROWS = 50;
const MAX_ROWS = 200;

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
  const {
    externalId = null,
    status = null,
    since,
    after = null,
    limit = PAGE_ROWS,
  } = parseInput(question, query);
  return { externalId, status, since: since === undefined ? null : new Date(since), after, limit };
}
