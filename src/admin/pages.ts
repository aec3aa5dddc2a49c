import type { Request, RequestHandler, Response, Router } from 'express';
import type { VNode } from 'preact';
import { pipeline } from 'node:stream/promises';
import type { Database, Queryable } from '../platform/database/database.ts';
import { MAX_BEHIND_SEC, type Picked, type Reads } from '../platform/database/reads.ts';
import { sendPage } from '../platform/html.tsx';
import type { Mode } from '../platform/mode.ts';
import { readActionForm, type ActionForm, addressTelling, sentencesOf, type Told } from './action-form.ts';
import type { Frame } from './layout/frame.tsx';
import { cookieLine, cookieOf, COOKIES } from './login/session.ts';
import type { AdminGuard } from './login/guard.ts';
import { textOfSheet, type Sheet } from '../platform/csv.ts';
import type { Redeliver } from '../fulfilment/redeliver.sql.ts';
import type { CancelOrder } from '../orders/cancel.ts';
import type { Order } from '../orders/order.ts';
import type { Accept } from '../payments/accept.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { CheckoutStops } from '../payments/checkout-stops.ts';
import type { AskRequest } from '../payments/checks.sql.ts';
import type { WorkerWatch } from '../platform/heartbeat.sql.ts';

/** What a shopper reads of an order. */
export type ShopperText = { heading: string; truth: string; advice: string };

/**
 * Asks the service about a payment at once, for an operator. It is a hint like any other: it proves
 * nothing, it causes three calls at once and then one in ten seconds at most, and when the service cannot
 * be asked, the scheduled checks continue.
 */
type AskService = (ask: AskRequest) => Promise<Told>;

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

const A_YEAR_SEC = 365 * 86_400;
/** Twice as long as the standby may be behind: clocks differ. */
const ACTED_SEC = 2 * MAX_BEHIND_SEC;

/** Who may see the pages, and whose shop they are about. */
type SiteGuard = AdminGuard & { shop: string };

type Pages = {
  /**
   * A page that only shows, or a download, for those who may log in. It is read from the standby. From the
   * primary are read: all pages of a browser that has just acted, so that they show what it did; and a page
   * that the standby could not make, such as that of an order which it does not have yet.
   * @param atMostSec how old it may be
   */
  show(
    address: string,
    answer: (req: Request, res: Response, from: { database: Database; frame: Frame }) => Promise<void>,
    atMostSec?: number,
  ): void;
  /**
   * Performs the action of a form of ours and redirects to a page that shows the result. The browser stores
   * the name for the next time.
   * @param back the address to redirect to, built from the form's fields; always a page of ours
   * @param askFirst returns a page to answer with: a confirmation of what cannot be undone, or what was asked
   * to be seen; null: act
   */
  act(
    address: string,
    back: (req: Request, fields: URLSearchParams) => string,
    perform: (form: ActionForm, req: Request) => Told | Promise<Told>,
    askFirst?: (form: ActionForm, req: Request) => Promise<VNode | null>,
  ): void;
};

type Parts = {
  router: Router;
  database: Database;
  reads: Reads;
  guard: SiteGuard;
  mode: Mode;
  /** Reads the body of a form. */
  form: RequestHandler;
};

export function frameOf({ visitorOf, shop }: SiteGuard, mode: Mode, req: Request): Frame {
  return { visitor: visitorOf(req), shop, mode, told: sentencesOf(req.query.told) };
}

/** How the pages of operations get their addresses. */
export function createPages({ router, database, reads, guard, mode, form }: Parts): Pages {
  const newest = { database, behindSec: 0 };
  return {
    show: (address, answer, atMostSec) => {
      router.get(address, guard.requireLogin, async (req, res) => {
        const answerFrom = (from: Picked): Promise<void> => {
          const frame = { ...frameOf(guard, mode, req), behindSec: from.behindSec };
          return answer(req, res, { database: from.database, frame });
        };
        const picked = cookieOf(req, COOKIES.acted) === '' ? await reads.pick(atMostSec) : newest;
        try {
          await answerFrom(picked);
        } catch (error) {
          if (picked.database === database || res.headersSent) throw error;
          await answerFrom(newest);
        }
      });
    },
    act: (address, back, perform, askFirst) => {
      router.post(address, guard.requireLogin, form, guard.requireForm, async (req, res) => {
        const filled = readActionForm(req.body);
        const question = 'told' in filled ? null : ((await askFirst?.(filled, req)) ?? null);
        if (question !== null) {
          sendPage(res, question);
          return;
        }
        const told = 'told' in filled ? filled.told : await perform(filled, req);
        if (!('told' in filled)) res.append('set-cookie', cookieLine(COOKIES.name, filled.by, A_YEAR_SEC));
        res.redirect(303, addressTelling(back(req, new URLSearchParams(String(req.body))), told));
      });
    },
  };
}

/** Marks a browser that acts by a cookie. Without a standby it sets none. */
export function markActing({ look }: Reads): RequestHandler {
  return (req, res, next) => {
    if (look !== null && req.method === 'POST')
      res.append('set-cookie', cookieLine(COOKIES.acted, 'yes', ACTED_SEC));
    next();
  };
}

/**
 * Answers with a table as a file. Rows are read as fast as the client takes them, and no further once it has
 * left; if reading fails, the connection breaks, so that a part does not look like the whole.
 */
export async function sendCsv(res: Response, name: string, sheet: Sheet): Promise<void> {
  res.set({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${name}.csv"` });
  res.type('text/csv');
  try {
    await pipeline(textOfSheet(sheet, 'csv'), res);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** The link to such a file. */
export function downloadAddress(name: string, params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `/admin/exports/${name}${query === '' ? '' : `?${query}`}`;
}
