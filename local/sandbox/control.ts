/*
 * The control of the sandbox: JSON over HTTP under /sandbox, without a key (the sandbox listens on loopback alone).
 * Amounts are numbers or texts in major units. What cannot be read is answered 400, an unknown reference or id 404.
 *
 * POST /sandbox/transactions/:reference/…  -> {reference, email, redirectUrl, hidden, verify, list}: the records as they
 *             stand then, hidden or not
 *   /pay      {amount?, currency?, times?: 1}  charges, whatever happened before: the first charge fills the row that is
 *             there, each further one is a row of its own; verify shows the first. With {create: true, email, amount,
 *             currency} the transaction need not exist
 *   /reverse  {amount?}  of the newest charge first: REVERSED when nothing of it is left, and amount_refunded
 *   /fail {}, /expire {}, /status {word}  FAILED, EXPIRED, any word: on the record of verify and its row of the list
 *             These five also take {notify?: true, webhook?: "once" | "lost" | "late" | "twice" | "reordered", delayMs?};
 *             late: after delayMs, or 2 s; reordered: a transaction.pending comes 0.2 s after it
 *   /record   {…fields, verifyOnly?}  laid over the records of verify and list from now on; null takes a field away
 *   /hide     {from: "verify" | "list" | "both", hidden}
 *   /webhook  {body?}  posts one (a text as it is) -> {status} of the receiver, null for none
 * GET /sandbox/transactions -> all of them
 * POST /sandbox/faults -> {id}  {endpoint: "initialize" | "verify" | "history" | "transfers" | "balances" | "*", reference?,
 *             kind, times?: 1 (0: until removed), delayMs?}; the oldest fault that fits a call befalls it
 *   lost-before, lost-after   the connection breaks; nothing, or everything, was done by then
 *   status    {status?: 500, body?, contentType?, headers?}  nothing was done, unless {applied: true}
 *   body      the same with 200; all was done, unless {applied: false}. A text is sent as it is, anything else as JSON
 *   delay     all is done at once, and answered after delayMs      hang   all is done, and nothing answered
 *   page-loop every page is the first, and has a next one          cut-list  {rows: 0}  the newest rows are the whole list
 * GET /sandbox/faults -> those in wait, with how often each has struck (hits);  DELETE /sandbox/faults[/:id]
 * GET /sandbox/calls?endpoint=&reference= -> the newest 5,000 (calls.ts), oldest first; status null: not answered
 * POST /sandbox/settings  {webhookUrl?: string | null, latencyMs?, hidePaid?}  hidePaid: what is paid is shown as PENDING
 * POST /sandbox/reset     everything as at the start;  GET /sandbox/  a page for people
 */
import express, { Router, type RequestHandler } from 'express';
import { z } from 'zod';

import { actRoutes } from './acts.ts';
import { delaySchema, faultSchema, type Faults } from './faults.ts';
import { BODY_LIMIT, httpError } from './http.ts';
import { overviewContent, sendPage } from './page.ts';
import type { State } from './state.ts';

const settingsSchema = z.strictObject({
  webhookUrl: z.url({ protocol: /^https?$/ }).nullish(),
  latencyMs: delaySchema.optional(),
  hidePaid: z.boolean().optional(),
});

/** @param webhookUrl the one that a reset goes back to */
export function controlRoutes(state: State, webhookUrl: string | null): Router {
  const { ledger, faults, webhooks } = state;
  const router = Router();
  // curl -d says that it sends a form.
  router.use(refusePages, express.json({ limit: BODY_LIMIT, type: () => true }));
  router.use('/transactions', actRoutes(state));
  router.use('/faults', faultRoutes(faults));
  router.get('/', (_req, res) => {
    sendPage(res, 200, 'Payment sandbox', overviewContent(ledger, faults), 'wide');
  });
  router.get('/calls', ({ query: { endpoint, reference } }, res) => {
    const isAsked = (filter: unknown, value: string | null): boolean => filter === undefined || filter === value;
    res.json(state.calls.filter((call) => isAsked(endpoint, call.endpoint) && isAsked(reference, call.reference)));
  });
  router.post('/settings', (req, res) => {
    const given = settingsSchema.parse(req.body ?? {});
    if (given.webhookUrl !== undefined) webhooks.url = given.webhookUrl;
    state.latencyMs = given.latencyMs ?? state.latencyMs;
    ledger.hidePaid = given.hidePaid ?? ledger.hidePaid;
    res.json({ webhookUrl: webhooks.url, latencyMs: state.latencyMs, hidePaid: ledger.hidePaid });
  });
  router.post('/reset', (_req, res) => {
    webhooks.drop();
    webhooks.url = webhookUrl;
    ledger.transactions.clear();
    faults.clear();
    ledger.rows = [];
    state.calls = [];
    state.latencyMs = 0;
    ledger.hidePaid = false;
    res.json({});
  });
  return router;
}

function faultRoutes(faults: Faults): Router {
  const router = Router();
  let lastId = 0;
  router.get('/', (_req, res) => {
    res.json([...faults].map(([id, fault]) => ({ id, ...fault })));
  });
  router.post('/', (req, res) => {
    lastId += 1;
    faults.set(lastId, faultSchema.parse(req.body ?? {}));
    res.json({ id: lastId });
  });
  router.delete('/', (_req, res) => {
    faults.clear();
    res.json({});
  });
  router.delete('/:id', (req, res) => {
    if (!faults.delete(Number(req.params.id))) throw httpError(404, 'there is no such fault');
    res.json({});
  });
  return router;
}

/** A page of somebody else, open in a browser on this machine, must not steer the sandbox. */
const refusePages: RequestHandler = (req, _res, next) => {
  const isPage = req.get('origin') !== undefined;
  next(isPage ? httpError(403, 'the control of the sandbox takes no calls from pages') : undefined);
};
