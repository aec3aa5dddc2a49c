import { z } from 'zod';
import { MUST_BE_PAYABLE, payableCurrency } from '../platform/currencies.ts';
import { parseMajor } from '../platform/money.ts';
import { Problem } from '../platform/problem.ts';
import { fieldErrors } from '../platform/validation.ts';
import { MAX_TOTAL, totalOf, type OrderLine } from './order.ts';
import { shopperDetails, type ShopperDetails } from './shopper-details.ts';

/** PostgreSQL takes no NUL in a text, and the other control characters have no use in one. */
export const text = z.string().regex(/^\P{Cc}+$/u, 'must be text without control characters');
/** An amount above or at zero in major units. */
export const decimal = z.string().regex(/^\d{1,15}(\.\d{1,4})?$/, 'must be a decimal text like "12.50"');

/**
 * The lines as JSON. The receiver of the release gets them once the order is paid, and receivers
 * commonly take 100 kB: an order that is too large for them is refused before it is paid, not after.
 */
const MAX_LINES_BYTES = 64 * 1_024;

const line = z.strictObject({
  description: text.max(200),
  unitAmount: decimal,
  quantity: z.int().min(1).max(100_000),
});

/** What `POST /orders` takes. */
export const orderInput = z.strictObject({
  externalId: text.max(128).optional(),
  email: z.email().max(254),
  currency: z.string().refine((code) => payableCurrency(code) !== null, MUST_BE_PAYABLE),
  lines: z.array(line).min(1).max(500),
  returnUrl: z.string().max(2_048).optional(),
  ...shopperDetails.shape,
});

export type OrderInput = {
  externalId: string | null;
  email: string;
  currency: string;
  lines: OrderLine[];
  returnUrl: string | undefined;
  details: ShopperDetails;
};

/** Reads the order of a shop that prices elsewhere. @throws {Problem} 422, one entry per faulty field */
export function readOrderInput(body: unknown): OrderInput {
  const parsed = orderInput.safeParse(body);
  if (!parsed.success) throw new Problem('invalid-input', { errors: fieldErrors(parsed.error) });
  const { externalId = null, email, returnUrl } = parsed.data;
  const currency = payableCurrency(parsed.data.currency) ?? parsed.data.currency;
  if (Buffer.byteLength(JSON.stringify(parsed.data.lines)) > MAX_LINES_BYTES)
    throw invalid('lines', 'are too long together: at most 64 KiB as JSON');
  const lines = parsed.data.lines.map(({ description, unitAmount, quantity }, at) => {
    const minor = parseMajor(unitAmount, currency);
    if (minor === null || minor === 0n) {
      throw invalid(`lines.${at}.unitAmount`, `must be above zero and no finer than ${currency} allows`);
    }
    return { sku: null, description, unitAmount: minor, quantity };
  });
  if (totalOf(lines) > MAX_TOTAL) throw invalid('lines', 'the total is too large');
  return { externalId, email, currency, lines, returnUrl, details: shopperDetails.parse(parsed.data) };
}

function invalid(path: string, message: string): Problem {
  return new Problem('invalid-input', { errors: [{ path, message }] });
}
