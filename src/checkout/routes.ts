import cors from 'cors';
import express, { Router, type Request, type Response } from 'express';
import { listedReturnUrl, type ReturnUrls } from '../orders/return-url.ts';
import { clientNetwork } from '../platform/rate-limits.ts';
import { parseReference, type OrderId, type Reference } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import { invalidField, jsonOf, Problem } from '../platform/problem.ts';
import {
  keyOfForm,
  readIdempotencyKey,
  type IdempotencyKey,
  openOrderIn,
  rememberOpenOrder,
} from './idempotency-key.ts';
import {
  readCheckoutForm,
  readCheckoutInput,
  type CheckoutInput,
  type OpenedCheckout,
} from './checkout-bodies.ts';
import { refuseForeignOrigins } from './check-origin.ts';
import type { CheckoutLimits } from './checkout-limits.ts';
import type { ReturnFromCheckout } from './return-from-checkout.ts';
import type { CheckoutResult, StartCheckout } from './checkout.ts';

type CheckoutRoutesParts = {
  startCheckout: StartCheckout;
  returnFromCheckout: ReturnFromCheckout;
  limits: CheckoutLimits;
  /** Our own origin as browsers reach it. */
  ownOrigin: () => string;
  storefrontOrigins: readonly string[];
  returnUrls: ReturnUrls;
  /** Where an order's shopper lands after the return, plus `order` and `status`. Null: on `orderPages`. */
  returnUrlOf: (orderId: OrderId) => Promise<URL | null>;
  /** Our own page of an order is this, and the order's id. */
  orderPages: string;
};

const MAX_BODY = '64kb';
const RETRY_AFTER_SEC = 10;
/** Such a stop ends after minutes or hours; when is unknown. */
const STOPPED_RETRY_AFTER_SEC = 300;

/** The shopper's routes: to the hosted checkout, and back from it. */
export function checkoutRoutes(parts: CheckoutRoutesParts): Router {
  const router = Router();
  router.use(
    '/checkout',
    cors({ origin: [...parts.storefrontOrigins], maxAge: 600, exposedHeaders: ['retry-after'] }),
  );

  router.post(
    '/checkout',
    refuseForeignOrigins(parts.ownOrigin, parts.storefrontOrigins),
    express.json({ limit: MAX_BODY, inflate: false }),
    express.text({ type: 'application/x-www-form-urlencoded', limit: MAX_BODY, inflate: false }),
    async (req, res) => {
      const isForm = typeof req.body === 'string';
      const network = clientNetwork(req.ip);
      await parts.limits.countAddress(network);
      const input = inputOf(req, isForm, parts.returnUrls);
      if ('email' in input) await parts.limits.countEmail(input.email);
      const key = keyOf(req, input, network);
      const openOrder = isForm ? openOrderIn(req.get('cookie')) : null;
      answer(res, await parts.startCheckout(input, key, openOrder), isForm);
    },
  );

  router.get('/checkout/return/:reference', async (req, res) => {
    const reference = parseReference(req.params.reference);
    const order = reference === null ? null : await askWithinLimits(parts, reference, clientNetwork(req.ip));
    if (order === null) throw new Problem('not-found');
    const target = await parts.returnUrlOf(order.orderId);
    if (target === null) {
      res.redirect(303, parts.orderPages + order.orderId);
      return;
    }
    const landing = new URL(target);
    landing.searchParams.set('order', order.orderId);
    landing.searchParams.set('status', order.status);
    res.redirect(303, landing.href);
  });
  return router;
}

/** Beyond the limit the order is shown as it stands: the poller asks the service all the same. */
async function askWithinLimits(
  { limits, returnFromCheckout }: CheckoutRoutesParts,
  reference: Reference,
  address: string,
): Promise<Awaited<ReturnType<ReturnFromCheckout>>> {
  const mayAsk = await limits.countReturn(address);
  return returnFromCheckout(reference, mayAsk, address);
}

function inputOf(req: Request, isForm: boolean, listed: ReturnUrls): CheckoutInput {
  const input = isForm
    ? readCheckoutForm(req.body as string)
    : readCheckoutInput(jsonOf(req, 'Send JSON or an HTML form.'));
  const returnUrl = listedReturnUrl(input.returnUrl, listed);
  return returnUrl === null ? input : { ...input, returnUrl };
}

function keyOf(req: Request, input: CheckoutInput, network: string): IdempotencyKey | null {
  const key = readIdempotencyKey(req.get('idempotency-key'), input);
  if (key !== null || typeof req.body !== 'string' || !('email' in input)) return key;
  return keyOfForm(input, network, new URLSearchParams(req.body).get('intent'));
}

/** Maps each result to its answer; a new result does not compile until it is listed here. */
function answer(res: Response, result: CheckoutResult, isForm: boolean): void {
  switch (result.outcome) {
    case 'opened': {
      const { orderId, reference, money, checkoutUrl } = result;
      if (isForm) {
        res.append('set-cookie', rememberOpenOrder(orderId)).redirect(303, checkoutUrl);
        return;
      }
      const { currency } = money;
      const amount = formatMajor(money);
      const opened = { orderId, reference, status: 'pending', amount, currency, checkoutUrl } as const;
      res.status(201).json(opened satisfies OpenedCheckout);
      return;
    }
    case 'unknown-sku':
      throw invalidField('items', `not on sale: ${result.skus.join(', ')}`);
    case 'out-of-stock':
      throw outOfStock(result.skus.join(', '));
    case 'mixed-currencies':
      throw invalidField('items', `must share one currency, these have ${result.currencies.join(' and ')}`);
    case 'wrong-currency':
      throw invalidField('currency', `these items are sold in ${result.currencies.join()}`);
    case 'total-too-large':
      throw invalidField('items', 'the total is too large');
    case 'total-too-small':
      throw invalidField('items', 'the total must be above zero');
    case 'unknown-order':
      throw invalidField('orderId', 'there is no such order');
    case 'already-paid':
    case 'under-review':
    case 'order-cancelled':
    case 'order-expired':
      throw new Problem(result.outcome);
    case 'too-many-open-payments':
      throw new Problem('too-many-open-payments', { retryAfterSec: 60 });
    case 'currency-stopped':
      // No Retry-After: a person has to end the stop, and when is unknown.
      throw new Problem('currency-stopped', {
        detail: `New payments in ${result.currency} are stopped.`,
        about: result.currency,
      });
    case 'checkouts-stopped':
      throw new Problem('checkouts-stopped', { retryAfterSec: STOPPED_RETRY_AFTER_SEC });
    case 'key-reused':
      throw new Problem('idempotency-key-reused');
    case 'in-flight':
      throw new Problem('request-in-flight', { retryAfterSec: 2 });
    case 'refused':
      throw new Problem('payment-refused', { extra: { orderId: result.orderId } });
    case 'unavailable':
      throw new Problem('payment-service-unavailable', {
        detail:
          result.misconfigured === undefined
            ? 'The order is kept. Send the same Idempotency-Key again, or start a checkout with its orderId.'
            : `The order is kept, but ${result.misconfigured}.`,
        retryAfterSec: result.retryAfterSec ?? RETRY_AFTER_SEC,
        extra: { orderId: result.orderId },
      });
  }
}

function outOfStock(skus: string): Problem {
  const errors = [{ path: 'items', message: `not enough left: ${skus}` }];
  return new Problem('out-of-stock', { errors, about: skus });
}
