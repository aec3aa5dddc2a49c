import { z } from 'zod';
import { emailAddress } from '../platform/email.ts';
import { MUST_BE_PAYABLE, parseMajor, payableCurrency } from '../platform/money.ts';
import { ORDER_ID } from '../platform/ids.ts';
import { invalidField, parseInput } from '../platform/problem.ts';

/**
 * PostgreSQL text cannot contain NUL or half of a surrogate pair. Other control characters have no
 * use.
 */
const printable = z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be text without control characters');
/**
 * A text of at most `max` characters. A character outside the basic plane counts once, as in JSON
 * Schema.
 */
const text = (max: number) =>
  printable
    .min(1)
    .refine((value) => Array.from(value).length <= max, `must be at most ${max} characters`)
    .meta({ maxLength: max });
const decimal = z.string().regex(/^-?\d{1,15}(\.\d{1,4})?$/, 'must be a decimal text like "12.50"');
const currency = z.string().refine((code) => payableCurrency(code) !== null, MUST_BE_PAYABLE);
const time = z.iso
  .datetime({ offset: true, abort: true, message: 'must be a time with a zone, like 2026-11-20T09:00:00Z' })
  .regex(/^(19|20)/, 'must be a time of this century or the last');
const email = emailAddress;
const returnUrl = z.string().max(2_048).optional();
const metadata = z.record(text(64), printable.max(1_000));

/** In minor units. The limit leaves room for sums in a bigint. */
const MAX_TOTAL = 10n ** 15n;

const sku = z.string().regex(/^[\w.-]{1,64}$/, 'is not a sku');
const item = z.strictObject({ sku, quantity: z.int().min(1).max(1_000) });

/** The input of `POST /checkout`. It has no price, because the server sets the prices. */
export const basketInput = z.strictObject({
  email,
  currency: currency.optional(),
  items: z.array(item).min(1).max(50),
  returnUrl,
});
export const againInput = z.strictObject({ orderId: z.string().regex(ORDER_ID, 'is not an order id') });
export type Basket = z.output<typeof basketInput>;

const line = z.strictObject({ description: text(200), unitAmount: decimal, quantity: z.int().min(1).max(100_000) });

/** The input of `POST /orders`. */
export const orderInput = z.strictObject({
  externalId: text(128).optional(),
  email,
  currency,
  metadata: metadata.optional(),
  lines: z.array(line).min(1).max(500),
  payBy: time.optional(),
  returnUrl,
});

export const cancelInput = z.strictObject({ reason: text(500) });
export const refundInput = z.strictObject({
  amount: z.string().regex(/^\d{1,15}(\.\d{1,4})?$/, 'must be a decimal text like "12.50"'),
  reason: text(500),
  externalId: text(128).optional(),
  elsewhere: z.boolean().optional(),
});
export const stopInput = z.strictObject({ currency: currency.optional(), reason: text(500) });
export const resumeInput = z.strictObject({ currency: currency.optional(), reason: text(500).optional() });
export const listInput = z.strictObject({
  externalId: text(128).optional(),
  status: z.enum(['pending', 'paid', 'failed', 'expired', 'review', 'cancelled']).optional(),
  since: time.optional(),
  updatedSince: time.optional(),
  after: z.string().regex(ORDER_ID, 'is not the `next` of a page').optional(),
});

/** A line of an order, in minor units. Zero or less is a gift or a discount. */
export type Line = { sku: string | null; description: string; unitAmount: bigint; quantity: number };

/** The sum of an order's lines. @throws {Problem} 422 unless it is above zero and not too large */
export function totalOf(lines: readonly Line[], path: string): bigint {
  const total = lines.reduce((sum, { unitAmount, quantity }) => sum + unitAmount * BigInt(quantity), 0n);
  if (total <= 0n) throw invalidField(path, 'the total must be above zero');
  if (total > MAX_TOTAL) throw invalidField(path, 'the total is too large');
  return total;
}

/**
 * Reads the order of a shop that sets its own prices.
 * @throws {Problem} 422 with one entry for each faulty field
 */
export function readOrderInput(body: unknown) {
  const input = parseInput(orderInput, body);
  const code = payableCurrency(input.currency) ?? input.currency;
  const lines = input.lines.map(({ description, unitAmount, quantity }, index): Line => {
    const amount = parseMajor(unitAmount, code);
    if (amount === null) throw invalidField(`lines.${index}.unitAmount`, `must be no finer than ${code} allows`);
    return { sku: null, description, unitAmount: amount, quantity };
  });
  const payBy = input.payBy === undefined ? null : new Date(input.payBy);
  return { ...input, currency: code, lines, amount: totalOf(lines, 'lines'), payBy };
}

/**
 * Checks that a landing page that a checkout names is configured. Otherwise an attacker could
 * choose it.
 */
export function listedLanding(given: string | undefined, landings: readonly URL[]): string | undefined {
  if (given === undefined) return undefined;
  const found = landings.find(({ href }) => URL.canParse(given) && href === new URL(given).href);
  if (found === undefined) throw invalidField('returnUrl', 'must be one of the addresses in STOREFRONT_RETURN_URL');
  return found.href;
}
