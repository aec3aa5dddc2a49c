import type { RequestHandler } from 'express';
import type { Alarm } from './alerts/alert.ts';
import type { StartCheckout } from './checkout/checkout.ts';
import type { ReturnFromCheckout } from './checkout/return-from-checkout.ts';
import type { Config } from './config.ts';
import type { Extensions, ShopParts } from './extensions.ts';
import type { Redeliver, SendUnsent } from './fulfilment/redeliver.sql.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { CancelOrder } from './orders/cancel.ts';
import type { Catalogue } from './orders/catalogue.ts';
import type { CheckoutStops } from './payments/checkout-stops.ts';
import type { Accept } from './payments/accept.ts';
import type { Confirm } from './payments/confirm.ts';
import type { Database } from './platform/database/database.ts';
import type { Reads } from './platform/database/reads.ts';
import type { WakeUp } from './platform/database/wake-up.ts';
import type { WorkerWatch } from './platform/heartbeat.sql.ts';
import type { Logger } from './platform/logger.ts';
import type { Poller } from './platform/poller.ts';
import type { Tracing } from './platform/tracing/tracing.ts';
import type { Reconcile } from './reconciliation/reconcile.ts';
import type { ReceiveWebhook } from './webhooks/receive.ts';

/** Every part of the program, as `compose` wires them. Nothing runs yet, no port is open. */
export type Program = {
  config: Config;
  logger: Logger;
  database: Database;
  reads: Reads;
  gateway: Gateway;
  extensions: Extensions;
  /** Our own origin as browsers reach it. */
  publicOrigin: () => string;
  catalogue: Catalogue;
  confirm: Confirm;
  cancelOrder: CancelOrder;
  accept: Accept;
  startCheckout: StartCheckout;
  returnFromCheckout: ReturnFromCheckout;
  receiveWebhook: ReceiveWebhook;
  reconcile: Reconcile;
  alarm: Alarm;
  /** Ends alerts that hold no longer, and tells what is due. Never fails. */
  sendDueAlerts(): Promise<void>;
  workerWatch: WorkerWatch;
  checkoutStops: CheckoutStops;
  redeliver: Redeliver;
  sendUnsent: SendUnsent;
  /** Whether releases are sent to a receiver: FULFILMENT_URL, or the shop's own receiver. */
  hasReceiver: boolean;
  /** What answers `GET /metrics`. */
  metrics: () => RequestHandler;
  /** Null: traces are not wanted. */
  tracing: Tracing | null;
  /** The poller's loops; {@link wakeUp} wakes them. */
  duePayments: Poller;
  dueReleases: Poller;
  dueEvents: Poller;
  wakeUp: WakeUp;
  close(): Promise<void>;
};

/** What the shop's own routes and commands are given of it. */
export function partsForShop({ database, catalogue, gateway, publicOrigin, logger }: Program): ShopParts {
  return { database, catalogue, mode: gateway.mode, publicOrigin, logger };
}
