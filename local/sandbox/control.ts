/*
 * The control of the sandbox: JSON over HTTP under /sandbox. It needs no key, because the sandbox listens on loopback
 * only. Amounts are numbers or strings in major units. Unreadable input is answered 400, an unknown reference or id 404.
 *
 * POST /sandbox/transactions/:reference/…  -> {reference, email, redirectUrl, hidden, verify, list}: the current records,
 *             hidden or not
 *   /pay      {amount?, currency?, times?: 1}  charges, whatever happened before. The first charge fills the existing
 *             row, and each further one adds a row. Verify shows the first row. With {create: true, email, amount,
 *             currency}, the transaction need not exist
 *   /reverse  {amount?}  returns money from the newest charge first: amount_refunded, and REVERSED if nothing is left
 *   /fail {}, /expire {}, /status {word}  set the word FAILED, EXPIRED or any other on the record of verify and its row
 *             These five also accept {notify?: true, webhook?: "once" | "lost" | "late" | "twice" | "reordered",
 *             delayMs?}; late: after delayMs, or 2 s; reordered: a transaction.pending follows 0.2 s later
 *   /record   {…fields, verifyOnly?}  override the records of verify and history from now on; null removes a field
 *   /hide     {from: "verify" | "list" | "both", hidden}
 *   /webhook  {body?}  posts one webhook (a string as it is) -> {status} of the receiver, null if there was no answer
 * GET /sandbox/transactions -> all transactions
 * POST /sandbox/faults -> {id}  {endpoint: "initialize" | "verify" | "history" | "transfers" | "balances" | "*", reference?,
 *             kind, times?: 1 (0: until removed), delayMs?}; a call gets the oldest fault that matches it
 *   lost-before, lost-after   the connection breaks, before the work or after it
 *   status    {status?: 500, body?, contentType?, headers?}  the work is not done, unless {applied: true}
 *   body      the same with 200; the work is done, unless {applied: false}. A string is sent as it is, anything else as JSON
 *   delay     the work is done immediately, and the answer follows after delayMs
 *   hang      the work is done, and there is no answer
 *   page-loop every page is the first one, and has a next page
 *   cut-list  {rows: 0}  the history consists of the newest rows only
 * GET /sandbox/faults -> the pending faults, with their number of uses (hits);  DELETE /sandbox/faults[/:id]
 * GET /sandbox/calls?endpoint=&reference= -> the newest 5,000 calls (calls.ts), oldest first; status null: not answered
 * POST /sandbox/settings  {webhookUrl?: string | null, latencyMs?, hidePaid?}  hidePaid: paid rows are shown as PENDING
 * POST /sandbox/reset     restores the initial state;  GET /sandbox/  a page for people
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

/** @param webhookUrl the URL that a reset restores */
export function controlRoutes(state: State, webhookUrl: string | null): Router {
  const { ledger, faults, webhooks } = state;
  const router = Router();
  // curl -d sends the content type of a form.
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

/** A page of another site, open in a browser on this machine, must not control the sandbox. */
const refusePages: RequestHandler = (req, _res, next) => {
  const isPage = req.get('origin') !== undefined;
  next(isPage ? httpError(403, 'the control of the sandbox accepts no calls from web pages') : undefined);
};
