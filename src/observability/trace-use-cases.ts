import type { Receiver } from '../fulfilment/release.ts';
import {
  ATTEMPT,
  CAUSE,
  ORDER_ID,
  OUTCOME,
  REFERENCE,
  RELEASE,
  type Tracing,
  type Place,
} from '../platform/tracing/tracing.ts';
import type { Reconcile } from '../reconciliation/reconcile.ts';
import type { Confirm } from '../payments/confirm.ts';
import { failureOf } from './meters.ts';
import type { ReturnFromCheckout } from '../checkout/return-from-checkout.ts';
import type { StartCheckout } from '../checkout/checkout.ts';
import type { Reference } from '../platform/ids.ts';
import type { ReceiveWebhook } from '../webhooks/receive.ts';

/**
 * A span around confirmation, whichever entry point asked for it. The webhook that caused it is linked,
 * because it was a request of its own.
 */
export function traceConfirm(confirm: Confirm, hints: Hints, tracing: Tracing): Confirm {
  return (payment, cause) => {
    const { reference, orderId } = payment;
    const attributes = { [REFERENCE]: reference, [ORDER_ID]: orderId, [CAUSE]: cause, ...attemptOf(payment) };
    return tracing.span({ name: 'confirm', attributes, links: hints.take(reference) }, async (span) => {
      try {
        const confirmed = await confirm(payment, cause);
        span.note({
          [OUTCOME]: confirmed.outcome,
          'integrator.payment': confirmed.status,
          'integrator.released': confirmed.released,
        });
        return confirmed;
      } catch (error) {
        span.note({ [OUTCOME]: failureOf(error) });
        throw error;
      }
    });
  };
}

export function traceReceiver(receive: Receiver, tracing: Tracing): Receiver {
  return (release, context) => {
    const { id, reference, orderId } = release;
    const attributes = { [RELEASE]: id, [REFERENCE]: reference, [ORDER_ID]: orderId, ...attemptOf(release) };
    return tracing.span({ name: 'deliver release', kind: 'client', attributes }, () =>
      receive(release, context),
    );
  };
}

/** Rows that a poller takes repeatedly have a count of attempts. */
function attemptOf(row: object): { [ATTEMPT]?: number } {
  const { checks, attempts } = row as { checks?: unknown; attempts?: unknown };
  const attempt = checks ?? attempts;
  return typeof attempt === 'number' ? { [ATTEMPT]: attempt } : {};
}

export function traceReconcile(reconcile: Reconcile, tracing: Tracing): Reconcile {
  return (options) =>
    tracing.span({ name: 'reconcile', attributes: { 'integrator.dry': options.dryRun } }, async (span) => {
      const report = await reconcile(options);
      span.note({
        [OUTCOME]: report.verdict,
        'integrator.run': report.runId,
        'integrator.records': report.history.records,
        'integrator.verified': report.verified,
        'integrator.findings': report.items.length,
      });
      return report;
    });
}

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

type Hints = {
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
