import express, { Router, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';

import type { DecisionOutcome } from '../ledger/ledger.ts';
import { setting, withBody } from './bodies.ts';
import { aimAt, payByHand, refundByHand } from './decide.ts';
import { toEntry } from './entry.ts';
import { addMoneyRoutes } from './money/routes.ts';
import { resetAll, type ControlDeps } from './reset.ts';
import { sendLedger } from './send-ledger.ts';
import * as requests from './requests.ts';
import { addWeatherRoutes } from './weather/routes.ts';

/** A person's hand over HTTP, for tests and demonstrations; mounted at /sandbox. No real service has this. */
export function controlRoutes(deps: ControlDeps): Router {
  const { calls, deliveries } = deps;
  const router = Router();
  router.use(refuseBrowsers);
  // Whatever the content type says: a body that is overlooked would pay another amount than the test meant.
  router.use(express.json({ type: () => true, strict: false }));

  addTransactionRoutes(router, deps);
  addWeatherRoutes(router, deps);
  addMoneyRoutes(router, deps);
  router.get('/calls', (req, res) => {
    const { reference } = req.query;
    res.json(calls.report(typeof reference === 'string' ? reference : undefined));
  });
  router.get('/webhooks', (_req, res) => {
    res.json({ url: deliveries.url(), pending: deliveries.pending() });
  });
  router.post(
    '/webhooks',
    setting(requests.webhookSchema, ({ url }) => {
      deliveries.setUrl(url);
    }),
  );
  router.post(
    '/reset',
    setting(requests.emptySchema, () => resetAll(deps)),
  );
  return router;
}

function addTransactionRoutes(router: Router, deps: ControlDeps): void {
  const { ledger } = deps;
  router.get('/transactions', (req, res) => sendLedger(deps, req.query.mode, res));
  router.get('/transactions/:reference', (req, res) => {
    const { reference } = req.params;
    const found = ledger.find('test', reference) ?? ledger.find('live', reference);
    sendOutcome(
      deps,
      res,
      found ? { outcome: 'done', transaction: found } : { outcome: 'unknown-reference' },
    );
  });
  router.post(
    '/transactions/:reference/pay',
    decision(deps, requests.paymentSchema, (reference, payment) => payByHand(ledger, reference, payment)),
  );
  const move = (to: 'failed' | 'reversed'): RequestHandler =>
    decision(deps, requests.decisionSchema, (reference, aim) =>
      ledger.move(aimAt(ledger, reference, aim), to),
    );
  router.post('/transactions/:reference/fail', move('failed'));
  router.post('/transactions/:reference/reverse', move('reversed'));
  router.post(
    '/transactions/:reference/refund',
    decision(deps, requests.refundSchema, (reference, part) => refundByHand(ledger, reference, part)),
  );
  router.post(
    '/transactions/:reference/move',
    decision(deps, requests.moveSchema, (reference, { to, ...aim }) =>
      ledger.move(aimAt(ledger, reference, aim), to),
    ),
  );
  router.post(
    '/transactions/:reference/play',
    decision(deps, requests.playSchema, (reference, { fault, ...aim }) =>
      deps.player.play(fault, aimAt(ledger, reference, aim)),
    ),
  );
}

/** Every browser sends Origin with a cross-site POST, no test does: a web page must not steer a sandbox on localhost. */
const refuseBrowsers: RequestHandler = (req, res, next) => {
  if (req.get('origin') === undefined) next();
  else res.status(403).json({ error: 'the control routes are not for browsers' });
};

function decision<T extends z.ZodType>(
  deps: ControlDeps,
  schema: T,
  deed: (reference: string, input: z.infer<T>) => DecisionOutcome,
): RequestHandler {
  return withBody(schema, async (input, req, res) => {
    const outcome = deed(String(req.params.reference), input);
    await deps.ledger.saved();
    sendOutcome(deps, res, outcome);
  });
}

function sendOutcome({ checkoutUrl }: ControlDeps, res: Response, outcome: DecisionOutcome): void {
  switch (outcome.outcome) {
    case 'done':
      res.json(toEntry(outcome.transaction, checkoutUrl));
      return;
    case 'unknown-reference':
      res.status(404).json({ error: 'no transaction has this reference' });
      return;
    case 'refused':
      res.status(409).json({ error: outcome.reason });
  }
}
