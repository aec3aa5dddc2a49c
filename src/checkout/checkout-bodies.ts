import { z } from 'zod';
import { shopperDetails } from '../orders/shopper-details.ts';
import { MUST_BE_PAYABLE, payableCurrency } from '../platform/money.ts';
import { ORDER_ID_PATTERN } from '../platform/ids.ts';
import { parseInput } from '../platform/problem.ts';

// Plenty for a basket, and small enough that one order cannot keep the database busy.
const MAX_LINES = 50;
const MAX_QUANTITY = 1_000;

const item = z.strictObject({
  sku: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'is not a sku'),
  quantity: z.int().min(1).max(MAX_QUANTITY),
});

/** One of the configured addresses: the route compares it with them. */
const returnUrl = z.string().max(2_048).optional();

const basket = z.strictObject({
  email: z.email().max(254),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three capital letters')
    .optional(),
  items: z.array(item).min(1).max(MAX_LINES),
  returnUrl,
  ...shopperDetails.shape,
});

const existingOrder = z.strictObject({
  orderId: z.string().regex(ORDER_ID_PATTERN, 'is not an order id').brand<'OrderId'>(),
  returnUrl,
});

/** What `POST /checkout` takes. There is no price in it: prices are the server's. */
export const checkoutInput = z.union([basket, existingOrder]);
export type CheckoutInput = z.output<typeof checkoutInput>;
export type Basket = z.output<typeof basket>;

/** @throws {Problem} 422 with one entry per faulty field */
export function readCheckoutInput(body: unknown): CheckoutInput {
  const schema = typeof body === 'object' && body !== null && 'orderId' in body ? existingOrder : basket;
  return parseInput(schema, body);
}

/**
 * A plain HTML form: `email`, and as many `sku` as `quantity` fields. Rows with quantity 0 are left out, and
 * so are those whose `skuCurrency`, where the rows have one, is not the form's `currency`.
 */
export function readCheckoutForm(text: string): CheckoutInput {
  const form = new URLSearchParams(text);
  const orderId = form.get('orderId');
  const landing = form.get('returnUrl') ?? '';
  const chosen = landing !== '' && { returnUrl: landing };
  if (orderId !== null) return readCheckoutInput({ orderId, ...chosen });
  const quantities = form.getAll('quantity');
  const currency = form.get('currency') ?? '';
  const currencies = form.getAll('skuCurrency');
  const items = form
    .getAll('sku')
    .map((sku, at) => ({ sku, quantity: Number(quantities[at] ?? '1') }))
    .filter(({ quantity }, at) => quantity !== 0 && (currencies[at] ?? currency) === currency);
  const email = form.get('email') ?? '';
  return readCheckoutInput({ email, items, ...(currency !== '' && { currency }), ...chosen });
}

/** What `POST /checkout` gives: where to send the shopper, and how to ask for the order afterwards. */
export const openedCheckout = z.strictObject({
  orderId: z.string().brand<'OrderId'>(),
  reference: z.string().brand<'Reference'>(),
  status: z.literal('pending'),
  amount: z.string().describe('Exact decimal text in major units: "25.00"'),
  currency: z.string(),
  checkoutUrl: z.url().describe("The service's hosted page: send the browser there"),
});
export type OpenedCheckout = z.output<typeof openedCheckout>;

const currency = z.string().refine((code) => payableCurrency(code) !== null, MUST_BE_PAYABLE);
// PostgreSQL takes neither a NUL nor half of a surrogate pair in a text, and the other control characters
// have no use.
const reason = z
  .string()
  .max(500)
  .regex(/^[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}][^\p{Cc}\p{Cs}]*$/u, 'must be text without control characters');

/** What `POST /checkouts/stop` takes. */
export const checkoutStop = z.strictObject({
  currency: currency.optional().describe('Left out: all of them'),
  reason: reason.describe('Operators read it'),
});

/** What `POST /checkouts/resume` takes. */
export const checkoutResume = z.strictObject({
  currency: currency.optional().describe('Left out: ends the stop of all; stops of one currency stay'),
  reason: reason.optional(),
});

/** One stop of new checkouts. */
export const stoppedView = z.strictObject({
  currency: z.string().nullable().describe('null: all of them'),
  since: z.iso.datetime(),
  reason: z.string(),
  by: z.string().nullable().describe('null: the program itself, because payments came in another unit'),
});
export type StoppedView = z.output<typeof stoppedView>;
