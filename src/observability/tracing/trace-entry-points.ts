import type { ReturnFromCheckout } from '../../checkout/return-from-checkout.ts';
import type { StartCheckout } from '../../checkout/checkout.ts';
import { ORDER_ID, OUTCOME, REFERENCE } from '../../platform/tracing/attributes.ts';
import type { Place, Tracing } from '../../platform/tracing/tracing.ts';
import type { Reference } from '../../platform/ids.ts';
import type { ReceiveWebhook } from '../../webhooks/receive.ts';

/** Adds outcome, order and payment to the request's own span. */
export function traceCheckout(start: StartCheckout, tracing: Tracing): StartCheckout {
  return async (...question) => {
    const result = await start(...question);
    tracing.note({
      [OUTCOME]: result.outcome,
      ...('orderId' in result && { [ORDER_ID]: result.orderId }),
      ...('reference' in result && { [REFERENCE]: result.reference }),
    });
    return result;
  };
}

export function traceReturn(handleReturn: ReturnFromCheckout, tracing: Tracing): ReturnFromCheckout {
  return async (reference, mayAsk, address) => {
    const order = await handleReturn(reference, mayAsk, address);
    // An unknown reference may be any text that a stranger wrote.
    if (order !== null)
      tracing.note({ [REFERENCE]: reference, [ORDER_ID]: order.orderId, [OUTCOME]: order.status });
    return order;
  };
}

export function traceWebhooks(receive: ReceiveWebhook, tracing: Tracing): ReceiveWebhook {
  return (request) =>
    tracing.span({ name: 'take webhook' }, async (span) => {
      const receipt = await receive(request);
      span.note({ [OUTCOME]: receipt.outcome });
      return receipt;
    });
}

export type Hints = {
  around(ring: () => void): (reference: Reference | null) => void;
  /** The spans of the webhooks that made us ask about a payment; empty when another process received them. */
  take(reference: Reference): Place[];
};

/**
 * At most this many webhooks are kept until their payment is confirmed. If another process checks the
 * payment, its webhook stays until newer ones push it out.
 */
const MAX_HINTS = 1_000;

export function traceHints(tracing: Tracing): Hints {
  const places = new Map<string, Place>();
  return {
    around: (ring) => (reference) => {
      const here = tracing.here();
      if (here !== null && reference !== null) {
        tracing.note({ [REFERENCE]: reference });
        places.delete(reference);
        places.set(reference, here);
        const [oldest] = places.keys();
        if (places.size > MAX_HINTS && oldest !== undefined) places.delete(oldest);
      }
      ring();
    },
    take: (reference) => {
      const place = places.get(reference);
      places.delete(reference);
      return place === undefined ? [] : [place];
    },
  };
}
