import express, { Router, type Request, type RequestHandler, type Response } from 'express';
import type { z } from 'zod';

import type { CallBook } from '../calls.ts';
import { heal, type Conditions } from '../conditions.ts';
import type { DecisionOutcome, Ledger } from '../ledger/ledger.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { aimAt, payByHand } from './decide.ts';
import { toEntry } from './entry.ts';
import { sendLedger } from './send-ledger.ts';
import * as requests from './requests.ts';

export type ControlDeps = {
  ledger: Ledger;
  calls: CallBook;
  conditions: Conditions;
  deliveries: Deliveries;
  checkoutUrl: (token: string) => string;
};

/** A person's hand over HTTP, for tests and demonstrations; mounted at /sandbox. No real service has this. */
export function controlRoutes(deps: ControlDeps): Router {
  const { ledger, calls, conditions, deliveries } = deps;
  const router = Router();
  router.use(refuseBrowsers);
  // Whatever the content type says: a body that is overlooked would pay another amount than the test meant.
  router.use(express.json({ type: () => true, strict: false }));

  addTransactionRoutes(router, deps);
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
    '/keys/refuse',
    setting(requests.keysSchema, ({ refuse }) => {
      conditions.areKeysRefused = refuse;
    }),
  );
  router.post(
    '/outage',
    setting(requests.outageSchema, ({ status }) => {
      conditions.outageStatus = status;
    }),
  );
  router.post(
    '/reset',
    setting(requests.emptySchema, async () => {
      ledger.reset();
      deliveries.reset();
      calls.reset();
      heal(conditions);
      await ledger.saved();
    }),
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
  router.post('/transactions/:reference/pay', decision(deps, requests.paymentSchema, payByHand));
  router.post(
    '/transactions/:reference/fail',
    decision(deps, requests.decisionSchema, (_ledger, reference, aim) =>
      ledger.fail(aimAt(ledger, reference, aim)),
    ),
  );
  router.post(
    '/transactions/:reference/reverse',
    decision(deps, requests.decisionSchema, (_ledger, reference, aim) =>
      ledger.reverse(aimAt(ledger, reference, aim)),
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
  deed: (ledger: Ledger, reference: string, input: z.infer<T>) => DecisionOutcome,
): RequestHandler {
  return withBody(schema, async (input, req, res) => {
    const outcome = deed(deps.ledger, String(req.params.reference), input);
    await deps.ledger.saved();
    sendOutcome(deps, res, outcome);
  });
}

function setting<T extends z.ZodType>(
  schema: T,
  deed: (input: z.infer<T>) => void | Promise<void>,
): RequestHandler {
  return withBody(schema, async (input, _req, res) => {
    await deed(input);
    res.status(204).end();
  });
}

function withBody<T extends z.ZodType>(
  schema: T,
  handle: (input: z.infer<T>, req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    const input = schema.safeParse(req.body ?? {});
    if (input.success) await handle(input.data, req, res);
    else
      res
        .status(422)
        .json({ error: input.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) });
  };
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
