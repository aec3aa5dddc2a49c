import type { RequestHandler, Router } from 'express';
import type { Redeliver } from '../fulfilment/redeliver.sql.ts';
import type { CancelOrder } from '../orders/cancel.ts';
import type { Order } from '../orders/order.ts';
import type { Accept } from '../payments/accept.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { CheckoutStops } from '../payments/checkout-stops.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { Reads } from '../platform/database/reads.ts';
import type { AskService } from './verify-now.ts';
import type { Pages, SiteGuard } from './pages.ts';
import type { WorkerWatch } from '../platform/heartbeat.sql.ts';

/** What a shopper reads of an order. */
export type ShopperText = { heading: string; truth: string; advice: string };

/** What the pages of operations depend on. */
export type AdminParts = Pages & {
  /** For actions, and for the pages on which people decide about money. */
  database: Database;
  reads: Reads;
  /** For addresses that {@link Pages} does not fit. */
  router: Router;
  gateway: Gateway;
  guard: SiteGuard;
  /** Reads the body of a form, for {@link SiteGuard.requireForm} and the action after it. */
  form: RequestHandler;
  askService: AskService;
  cancelOrder: CancelOrder;
  checkoutStops: CheckoutStops;
  accept: Accept;
  /** What the shopper reads of an order, as far as `db` sees; null: the shop's pages are its own. */
  shopperText: ((db: Queryable, order: Order) => Promise<ShopperText>) | null;
  redeliver: Redeliver;
  /** Whether a receiver of releases is configured. */
  hasReceiver: boolean;
  workerWatch: WorkerWatch;
  /** Minutes between scheduled reconciliations; 0: there is no schedule. */
  reconcileEveryMin: number;
};
