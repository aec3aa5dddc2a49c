import express, { Router } from 'express';
import { SHOP } from '../../orders/cancel.ts';
import type { CheckoutStops } from '../../payments/checkout-stops.ts';
import { EVERY_CURRENCY, readCheckoutStops } from '../../payments/checkout-stops.sql.ts';
import { payableCurrency } from '../../platform/money.ts';
import type { Database } from '../../platform/database/database.ts';
import { requireBearer, type SharedLimit } from '../../platform/rate-limits.ts';
import type { Mode } from '../../platform/mode.ts';
import { jsonOf, parseInput } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import { checkoutResume, checkoutStop, type StoppedView } from '../checkout-bodies.ts';

type StopRoutesParts = {
  database: Database;
  mode: Mode;
  checkoutStops: CheckoutStops;
  /** Null: the routes are off. */
  shopApiToken: Secret | null;
  guesses: SharedLimit;
};

/** For the shop's own system: stops new checkouts, all or those of one currency, and lets them go on. */
export function stopRoutes(parts: StopRoutesParts): Router {
  const { database, mode, checkoutStops, shopApiToken, guesses } = parts;
  const router = Router();
  if (shopApiToken === null) return router;
  const opened: express.RequestHandler[] = [
    ...requireBearer(guesses, shopApiToken),
    express.json({ limit: '4kb', inflate: false }),
  ];
  const stopped = async (): Promise<StoppedView[]> =>
    (await readCheckoutStops(database, mode)).map(({ currency, stoppedAt, ...by }) => ({
      currency: currency === EVERY_CURRENCY ? null : currency,
      since: stoppedAt.toISOString(),
      reason: by.reason ?? `payment ${by.reference} came in another unit`,
      by: by.stoppedBy,
    }));

  router.post('/checkouts/stop', opened, async (req: express.Request, res: express.Response) => {
    const { currency, reason } = parseInput(checkoutStop, jsonOf(req));
    await checkoutStops.stop({ currency: codeOf(currency), by: SHOP, note: reason });
    res.json(await stopped());
  });
  router.post('/checkouts/resume', opened, async (req: express.Request, res: express.Response) => {
    const { currency, reason = '' } = parseInput(checkoutResume, jsonOf(req));
    await checkoutStops.resume({ currency: codeOf(currency), by: SHOP, note: reason });
    res.json(await stopped());
  });
  return router;
}

function codeOf(currency: string | undefined): string {
  return currency === undefined ? EVERY_CURRENCY : (payableCurrency(currency) ?? currency);
}
