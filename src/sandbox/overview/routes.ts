import { Router } from 'express';

import { sendPage } from '../../platform/html.tsx';
import { MODES, type Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { OverviewPage } from './overview-page.tsx';
import type { Shelf } from './transaction-table.tsx';

export type OverviewDeps = {
  ledger: Ledger;
  deliveries: Deliveries;
  /** Where the interface is reached, without a slash at its end. */
  baseUrl: () => string;
};

const ROWS_PER_PAGE = 25;

/** The page at / for people. `?test=2&live=1` turns the pages of each mode. */
export function overviewRoutes({ ledger, deliveries, baseUrl }: OverviewDeps): Router {
  const router = Router();
  router.get('/', (req, res) => {
    const pages: Record<Mode, number> = {
      test: pageNumber(req.query.test),
      live: pageNumber(req.query.live),
    };
    sendPage(
      res,
      OverviewPage({
        baseUrl: baseUrl(),
        webhookUrl: deliveries.url(),
        pendingWebhooks: deliveries.pending(),
        shelves: MODES.map((mode) => shelfOf(ledger, mode, pages)),
      }),
    );
  });
  return router;
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
