import type { RequestHandler } from 'express';
import type { ReturnFromCheckout } from '../checkout/return-from-checkout.ts';
import type { StartCheckout } from '../checkout/checkout.ts';
import type { Receiver } from '../fulfilment/release.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Database } from '../platform/database/database.ts';
import type { Clock } from '../platform/clock.ts';
import type { Reference } from '../platform/ids.ts';
import type { LoopWatch } from '../platform/poller.ts';
import { traceLoops, traceDatabase } from './trace-loops.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import type { Reconcile } from '../reconciliation/reconcile.ts';
import type { WatchStep } from '../reconciliation/steps.ts';
import type { Confirm } from '../payments/confirm.ts';
import type { ReceiveWebhook } from '../webhooks/receive.ts';
import { createMeters } from './meters.ts';
import { createMetrics, type MetricsParts } from './metrics.ts';
import {
  traceCheckout,
  traceHints,
  traceReturn,
  traceWebhooks,
  traceReceiver,
  traceReconcile,
  traceConfirm,
} from './trace-use-cases.ts';
import { traceGateway } from './trace-gateway.ts';

/**
 * Adds metrics and traces to the parts of a program. Each function takes a part and returns the
 * one to use in its place.
 */
export type Watch = Traced & {
  /** `GET /metrics`. */
  metrics(parts: Omit<MetricsParts, 'meters'>): RequestHandler;
};

type Traced = {
  database(database: Database): Database;
  gateway(gateway: Gateway): Gateway;
  receiver(receive: Receiver): Receiver;
  confirm(confirm: Confirm): Confirm;
  checkout(start: StartCheckout): StartCheckout;
  handleReturn(handleReturn: ReturnFromCheckout): ReturnFromCheckout;
  webhooks(receive: ReceiveWebhook): ReceiveWebhook;
  /** Wraps the wake-up call after a webhook has made its payment due. */
  hint(ring: () => void): (reference: Reference | null) => void;
  reconcile(reconcile: Reconcile): Reconcile;
  step?: WatchStep;
  loops?: LoopWatch;
};

const same = <Part>(part: Part): Part => part;

/** The only entry point of this folder. @param tracing null: traces are not configured */
export function observe(tracing: Tracing | null, clock: Clock): Watch {
  const meters = createMeters(clock);
  const traced = tracing === null ? UNTRACED : traceWith(tracing);
  return {
    ...traced,
    gateway: (gateway) => meters.observeGateway(traced.gateway(gateway)),
    confirm: (confirm) => meters.observeConfirm(traced.confirm(confirm)),
    webhooks: (receive) => meters.observeWebhooks(traced.webhooks(receive)),
    metrics: (parts) => createMetrics({ ...parts, meters }),
  };
}

/** Every part is returned unchanged, so that disabled tracing costs nothing. */
const UNTRACED: Traced = {
  database: same,
  gateway: same,
  receiver: same,
  confirm: same,
  checkout: same,
  handleReturn: same,
  webhooks: same,
  hint: same,
  reconcile: same,
};

function traceWith(tracing: Tracing): Traced {
  const hints = traceHints(tracing);
  return {
    database: (database) => traceDatabase(database, tracing),
    gateway: (gateway) => traceGateway(gateway, tracing),
    receiver: (receive) => traceReceiver(receive, tracing),
    confirm: (confirm) => traceConfirm(confirm, hints, tracing),
    checkout: (start) => traceCheckout(start, tracing),
    handleReturn: (handleReturn) => traceReturn(handleReturn, tracing),
    webhooks: (receive) => traceWebhooks(receive, tracing),
    hint: hints.around,
    reconcile: (reconcile) => traceReconcile(reconcile, tracing),
    step: (step, work) => tracing.span({ name: step }, work),
    loops: traceLoops(tracing),
  };
}
