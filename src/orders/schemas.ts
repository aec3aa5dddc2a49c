import { z } from 'zod';
import { MUST_BE_PAYABLE, payableCurrency } from '../platform/currencies.ts';
import { parseMajor } from '../platform/money.ts';
import { Problem } from '../platform/problem.ts';
import { fieldErrors } from '../platform/validation.ts';
import { metadata as metadataInput, type Metadata } from './metadata.ts';
import { MAX_TOTAL, totalOf, type OrderLine } from './order.ts';
import { shopperDetails, type ShopperDetails } from './shopper-details.ts';

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
  const parsed = orderInput.safeParse(body);
  if (!parsed.success) throw new Problem('invalid-input', { errors: fieldErrors(parsed.error) });
  const { externalId = null, email, returnUrl } = parsed.data;
  const currency = payableCurrency(parsed.data.currency) ?? parsed.data.currency;
  const { lines: given, metadata = {}, payBy } = parsed.data;
  if (Buffer.byteLength(JSON.stringify([given, metadata])) > MAX_LINES_BYTES)
    throw invalid('lines', 'are too long together, with the metadata: at most 64 KiB as JSON');
  const lines = given.map(({ description, unitAmount, quantity }, at) => {
    const size = parseMajor(unitAmount.replace('-', ''), currency);
    if (size === null) throw invalid(`lines.${at}.unitAmount`, `must be no finer than ${currency} allows`);
    if (size * BigInt(quantity) > MAX_TOTAL) throw invalid(`lines.${at}`, 'is too large');
    return { sku: null, description, unitAmount: unitAmount.startsWith('-') ? -size : size, quantity };
  });
  const total = totalOf(lines);
  if (total > MAX_TOTAL) throw invalid('lines', 'the total is too large');
  if (total <= 0n) throw invalid('lines', 'the total must be above zero');
  return {
    externalId,
    email,
    currency,
    lines,
    metadata,
    returnUrl,
    details: shopperDetails.parse(parsed.data),
    payBy: payBy === undefined ? null : new Date(payBy),
  };
}

function invalid(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}
