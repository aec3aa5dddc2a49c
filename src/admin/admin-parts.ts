import type { Request, RequestHandler, Response } from 'express';
import type { Redeliver } from '../fulfilment/redeliver.ts';
import type { CancelOrder } from '../orders/cancel.ts';
import type { Order } from '../orders/order.ts';
import type { Accept } from '../payments/accept.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { CheckoutStops } from '../payments/checkout-stops.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { Reads } from '../platform/database/reads.ts';
import type { Frame } from './layout/frame.tsx';
import type { AdminGuard } from './login/guard.ts';
import type { AskService } from './actions/verify-now.ts';
import type { WorkerWatch } from '../platform/heartbeat/worker-watch.ts';

/** Who may see the pages, and whose shop they are about. */
export type SiteGuard = AdminGuard & { shop: string };

/** What a shopper reads of an order. */
export type ShopperText = { heading: string; truth: string; advice: string };

/** What a page that only shows is made of. */
type Shown = { database: Database; frame: Frame };

/** Makes the handler of a page that only shows, or of a download. @param atMostSec how old it may be */
export type ShowOnly = (
  answer: (req: Request, res: Response, from: Shown) => Promise<void>,
  atMostSec?: number,
) => RequestHandler;

/** What the pages of operations depend on. */
export type AdminParts = {
  /** For actions, and for the pages on which people decide about money. */
  database: Database;
  reads: Reads;
  showOnly: ShowOnly;
  gateway: Gateway;
  guard: SiteGuard;
  /** Reads the body of a form, for {@link AdminGuard.requireForm} and the action after it. */
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
