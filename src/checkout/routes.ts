import cors from 'cors';
import express, { Router, type Request, type Response } from 'express';
import { againInput, basketInput, listedLanding } from '../orders/input.ts';
import { digestOf } from '../platform/ids.ts';
import { networkOf } from '../platform/addresses.ts';
import { formatMajor } from '../platform/money.ts';
import { parseInput, Problem } from '../platform/problem.ts';
import { returnFromCheckout } from './return.ts';
import type { Opened } from './open-payment.ts';
import type { Key } from './place-order.ts';
import { claimKey, continueCheckout, startCheckout, type CheckoutParts } from './start.ts';

export type CheckoutRoutesParts = CheckoutParts & {
  /** Our own origin, as browsers reach it. */
  ownOrigin: () => string;
  storefrontOrigins: readonly string[];
  /**
   * The landing pages, the default first. If there are none, shoppers land on our page of the
   * order.
   */
  landings: readonly URL[];
  /** Called when a payment may be due. */
  onDue: () => void;
};

const MAX_BODY = '64kb';

/** The shopper's routes to the hosted page and back. */
export function checkoutRoutes(parts: CheckoutRoutesParts): Router {
  const router = Router();
  const storefronts = cors({ origin: [...parts.storefrontOrigins], maxAge: 600, exposedHeaders: ['retry-after'] });
  router.options('/checkout', storefronts);
  router.post(
    '/checkout',
    storefronts,
    (req, _res, next) => {
      refuseForeignOrigin(req, parts);
      next();
    },
    express.json({ limit: MAX_BODY, inflate: false }),
    express.text({ type: 'application/x-www-form-urlencoded', limit: MAX_BODY, inflate: false }),
    async (req, res) => {
      await parts.limits.countCheckout(networkOf(req.ip));
      const isForm = typeof req.body === 'string';
      answer(res, await checkout(parts, req), isForm);
    },
  );

  // Services send the shopper back by GET or POST, with any content.
  router.all('/checkout/return/:reference', async (req, res) => {
    if (!['GET', 'POST', 'HEAD'].includes(req.method)) throw new Problem('method-not-allowed');
    const reference = parts.gateway.references.parse(req.params.reference);
    const mayAsk = req.method !== 'HEAD' && (await parts.limits.mayAsk(networkOf(req.ip)));
    const returned = reference === null ? null : await returnFromCheckout(parts, reference, mayAsk);
    if (returned === null) throw new Problem('not-found');
    res.redirect(303, landingOf(parts, returned));
  });
  return router;
}

/**
 * Browsers send the origin of a form or a script. Other programs do not, and they hold no shopper's
 * cookies.
 */
function refuseForeignOrigin(req: Request, { ownOrigin, storefrontOrigins }: CheckoutRoutesParts): void {
  const origin = req.get('origin');
  if (origin !== undefined && origin !== ownOrigin() && !storefrontOrigins.includes(origin))
    throw new Problem('foreign-origin');
}

async function checkout(parts: CheckoutRoutesParts, req: Request): Promise<Opened> {
  const given = typeof req.body === 'string' ? readForm(req.body) : { input: req.body as unknown, intent: undefined };
  const { input } = given;
  if (input === undefined) throw new Problem('unsupported-media-type', { detail: 'Send JSON or an HTML form.' });
  const header = req.get('idempotency-key') ?? given.intent;
  if (typeof input === 'object' && input !== null && 'orderId' in input) {
    const { orderId } = parseInput(againInput, input);
    const order = await parts.prisma.order.findUnique({ where: { id: orderId, mode: parts.gateway.mode } });
    if (order === null) throw new Problem('not-found');
    await claimKey(parts, readKey(header, order.email, { orderId }), orderId);
    return continueCheckout(parts, orderId);
  }
  const basket = parseInput(basketInput, input);
  const returnUrl = listedLanding(basket.returnUrl, parts.landings);
  const key = readKey(header, basket.email, { ...basket, returnUrl });
  return startCheckout(parts, { ...basket, returnUrl }, key);
}

/**
 * Reads a plain HTML form: `email` and, for each `sku`, a `quantity` (1 if it is missing), or only
 * `orderId`. `intent` is the idempotency key.
 */
function readForm(text: string): { input: unknown; intent: string | undefined } {
  const form = new URLSearchParams(text);
  const one = (name: string): Record<string, string> => (form.get(name) ? { [name]: form.get(name) ?? '' } : {});
  const intent = form.get('intent') ?? undefined;
  if (form.get('orderId')) return { input: one('orderId'), intent };
  const quantities = form.getAll('quantity');
  const items = form.getAll('sku').map((sku, index) => ({ sku, quantity: Number(quantities[index] ?? '1') }));
  return {
    input: {
      email: form.get('email') ?? '',
      items: items.filter(({ quantity }) => quantity !== 0),
      ...one('currency'),
      ...one('returnUrl'),
    },
    intent,
  };
}

function landingOf(
  { landings, ownOrigin }: CheckoutRoutesParts,
  { orderId, status, returnUrl }: { orderId: string; status: string; returnUrl: string | null },
): string {
  const target = returnUrl ?? landings[0]?.href;
  if (target === undefined) return `${ownOrigin()}/orders/${orderId}/page`;
  const landing = new URL(target);
  landing.searchParams.set('order', orderId);
  landing.searchParams.set('status', status);
  return landing.href;
}

function answer(res: Response, { orderId, reference, amount, currency, checkoutUrl }: Opened, isForm: boolean): void {
  if (isForm) res.redirect(303, checkoutUrl);
  else
    res.status(201).json({
      orderId,
      reference,
      status: 'pending',
      amount: formatMajor({ amount, currency }),
      currency,
      checkoutUrl,
    });
}

const KEY_FORM = /^[\x21-\x7e]{1,255}$/;

/**
 * @param header the value of the header; undefined: the request has none
 * @param owner the e-mail address that the key belongs to, so that a guessed key of another person
 * is a different key
 * @param request everything that must be the same when the key is sent again
 * @throws {Problem} 400 for an invalid key
 */
export function readKey(header: string | undefined, owner: string, request: unknown): Key | null {
  if (header === undefined || header === '') return null;
  if (!KEY_FORM.test(header))
    throw new Problem('malformed-request', {
      detail: 'Idempotency-Key must be 1 to 255 printable characters without spaces.',
    });
  return { key: digestOf([owner.toLowerCase(), header]), digest: digestOf(request) };
}
