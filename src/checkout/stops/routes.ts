import { SHOP } from '../../orders/cancel.ts';
import express, { Router, type Request } from 'express';
import type { z } from 'zod';
import type { CheckoutStops } from '../../payments/checkout-stops.ts';
import { EVERY_CURRENCY, stoppedCurrencies } from '../../payments/currency-stops.sql.ts';
import { bearerToken, isSecret } from '../../platform/bearer.ts';
import { payableCurrency } from '../../platform/currencies.ts';
import type { Database } from '../../platform/database/database.ts';
import { limitGuesses, type GuessLimit } from '../../platform/guess-limit.ts';
import type { Mode } from '../../platform/mode.ts';
import { Problem } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import { fieldErrors } from '../../platform/validation.ts';
import { checkoutResume, checkoutStop, type StoppedView } from '../schemas.ts';

type StopRoutesParts = {
  database: Database;
  mode: Mode;
  checkoutStops: CheckoutStops;
  /** Null: the routes are off. */
  shopApiToken: Secret | null;
  guesses: GuessLimit;
};

/** For the shop's own system: stops new checkouts, all or those of one currency, and lets them go on. */
export function stopRoutes({
  database,
  mode,
  checkoutStops,
  shopApiToken,
  guesses,
}: StopRoutesParts): Router {
  const router = Router();
  if (shopApiToken === null) return router;
  const guard = limitGuesses(guesses, (token) => isSecret(token, shopApiToken));
  const body = express.json({ limit: '4kb', inflate: false });
  const read = <Schema extends z.ZodType>(req: Request, schema: Schema): z.output<Schema> => {
    const token = bearerToken(req.get('authorization'));
    if (token === null || !isSecret(token, shopApiToken)) throw new Problem('unauthorized');
    if (req.body === undefined) throw new Problem('unsupported-media-type', { detail: 'Send JSON.' });
    const parsed = schema.safeParse(req.body);
    if (!parsed.success) throw new Problem('invalid-input', { errors: fieldErrors(parsed.error) });
    return parsed.data;
  };
  const stopped = async (): Promise<StoppedView[]> =>
    (await stoppedCurrencies(database, mode)).map(({ currency, stoppedAt, ...by }) => ({
      currency: currency === EVERY_CURRENCY ? null : currency,
      since: stoppedAt.toISOString(),
      reason: by.reason ?? `payment ${by.reference} came in another unit`,
      by: by.stoppedBy,
    }));

  router.post('/checkouts/stop', guard, body, async (req, res) => {
    const { currency, reason } = read(req, checkoutStop);
    await checkoutStops.stop({ currency: codeOf(currency), by: SHOP, note: reason });
    res.json(await stopped());
  });
  router.post('/checkouts/resume', guard, body, async (req, res) => {
    const { currency, reason = '' } = read(req, checkoutResume);
    await checkoutStops.resume({ currency: codeOf(currency), by: SHOP, note: reason });
    res.json(await stopped());
  });
  return router;
}

function codeOf(currency: string | undefined): string {
  return currency === undefined ? EVERY_CURRENCY : (payableCurrency(currency) ?? currency);
}
