import express, { Router, type Request, type RequestHandler } from 'express';

import { sendPage } from '../../../src/platform/html.tsx';
import { profileOf } from '../conditions.ts';
import { refundByHand } from '../control/decide.ts';
import { resetAll, type ControlDeps } from '../control/reset.ts';
import { clockSchema, faultSchema, profileSchema, refundSchema } from '../control/requests.ts';
import { MODES, type Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { placesOf } from '../faults/deck.ts';
import { openByHand } from './open-by-hand.ts';
import { OverviewPage } from './overview-page.tsx';
import type { Shelf } from './transaction-table.tsx';

export type OverviewDeps = Omit<ControlDeps, 'checkoutUrl'> & {
  /** Where the interface is reached, without a slash at its end. */
  baseUrl: () => string;
  webhookSecret: string;
  /** Where a checkout opened by hand leads back to. */
  shopUrl: string;
};

const ROWS_PER_PAGE = 25;

/** The page at / for people. `?test=2&live=1` turns the pages of each mode. */
export function overviewRoutes(deps: OverviewDeps): Router {
  const { ledger, deliveries, conditions, faults, baseUrl } = deps;
  const router = Router();
  router.get('/', (req, res) => {
    const pages: Record<Mode, number> = {
      test: pageNumber(req.query.test),
      live: pageNumber(req.query.live),
    };
    // Its own forms must be told from those of other pages, which takes an Origin.
    res.set('referrer-policy', 'same-origin');
    sendPage(
      res,
      OverviewPage({
        baseUrl: baseUrl(),
        profileName: conditions.profileName,
        profile: profileOf(conditions),
        shopUrl: deps.shopUrl,
        webhookUrl: deliveries.url(),
        webhookSecret: deps.webhookSecret,
        pendingWebhooks: deliveries.pending(),
        faults: faults.all(),
        now: deps.clock.now(),
        aheadMs: deps.clock.aheadMs(),
        balances: MODES.flatMap((mode) => ledger.balances(mode).map((balance) => ({ mode, ...balance }))),
        shelves: MODES.map((mode) => shelfOf(ledger, mode, pages)),
      }),
    );
  });
  addForms(router, deps);
  return router;
}

/** What the page can do, each a form. Back to the page afterwards; what no form can have sent does nothing. */
function addForms(router: Router, deps: OverviewDeps): void {
  const { conditions, faults } = deps;
  /** @param deed gives the path to go to; anything else: back to the page */
  const form = (path: string, deed: (body: unknown) => unknown): void => {
    const body = express.urlencoded({ extended: false, limit: '2kb' });
    const handle: RequestHandler = async (req, res) => {
      const next = await deed(req.body ?? {});
      res.redirect(303, typeof next === 'string' ? next : '/');
    };
    router.post(path, refuseStrangers, body, handle);
  };
  form('/profile', (body) => {
    const choice = profileSchema.safeParse(body);
    if (choice.success) conditions.profileName = choice.data.name;
  });
  form('/faults', (body) => {
    const { fault, calls } = body as Partial<Record<string, string>>;
    const choice = faultSchema.safeParse({ fault, ...(calls && { calls: Number(calls) }) });
    if (!choice.success) return;
    const [place, ...others] = placesOf(choice.data.fault);
    const endpoint = others.length > 0 ? null : place;
    faults.set({ fault: choice.data.fault, endpoint, reference: null, calls: choice.data.calls ?? null });
  });
  form('/faults/clear', () => {
    faults.clear();
  });
  form('/reset', () => resetAll(deps));
  form('/refund', async (body) => {
    const { reference, amount } = body as Partial<Record<string, string>>;
    const choice = refundSchema.safeParse({ amount: amount?.trim() });
    if (!choice.success || reference === undefined) return;
    refundByHand(deps.ledger, reference, choice.data);
    await deps.ledger.saved();
  });
  form('/clock', (body) => {
    const { hours } = body as Partial<Record<string, string>>;
    const choice = clockSchema.safeParse({ forwardSec: Number(hours) * 3_600 });
    if (choice.success) deps.clock.forward(choice.data.forwardSec * 1_000);
  });
  form('/open', (body) => openByHand(deps.ledger, body));
}

/** A page of somebody else must not steer a sandbox on localhost; every browser says where a form comes from. */
const refuseStrangers: RequestHandler = (req, res, next) => {
  if (isOwnForm(req)) next();
  else res.status(403).json({ error: 'only the forms of this page may do that' });
};

function isOwnForm(req: Request): boolean {
  const origin = req.get('origin');
  if (origin === undefined || !URL.canParse(origin)) return req.get('sec-fetch-site') === 'same-origin';
  return new URL(origin).host === req.get('host');
}

function shelfOf(ledger: Ledger, mode: Mode, pages: Record<Mode, number>): Shelf {
  const total = ledger.count(mode);
  const page = pages[mode];
  const turnTo = (to: number): string =>
    `/?test=${pages.test}&live=${pages.live}`.replace(`${mode}=${page}`, `${mode}=${to}`);
  return {
    mode,
    rows: ledger.page(mode, (page - 1) * ROWS_PER_PAGE, ROWS_PER_PAGE),
    total,
    newer: page > 1 ? turnTo(page - 1) : null,
    older: page * ROWS_PER_PAGE < total ? turnTo(page + 1) : null,
  };
}

function pageNumber(text: unknown): number {
  return typeof text === 'string' && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}
