import { setTimeout as sleep } from 'node:timers/promises';

import express, { Router, type Request, type RequestHandler } from 'express';
import { z } from 'zod';

import { noteCall } from './calls.ts';
import { answerOf, takeFault, type Endpoint, type Fault } from './faults.ts';
import { BODY_LIMIT, refusal, send, type Answer } from './http.ts';
import { balances, open, recordOf } from './ledger.ts';
import { parseAmount } from './money.ts';
import type { State } from './state.ts';

/** The work of a call. `fault` is the fault that affects it. */
type Act = (state: State, req: Request, fault: Fault | null) => Answer;

/** The calls under /v1. */
export function serviceRoutes(state: State): Router {
  const router = Router();
  router.use(express.json({ limit: BODY_LIMIT }));
  router.post('/transactions/initialize', serve(state, 'initialize', initialize));
  router.get('/transactions/verify/:reference', serve(state, 'verify', verify));
  router.get('/transactions/history', serve(state, 'history', history));
  router.get('/transfers', serve(state, 'transfers', transfers));
  router.get(
    '/balances',
    serve(state, 'balances', ({ ledger }) => found(balances(ledger))),
  );
  return router;
}

/** The steps of every call: record it, apply a fault, execute it, delay it, answer it. */
function serve(state: State, endpoint: Endpoint, act: Act): RequestHandler {
  return async (req, res) => {
    const reference = referenceIn(req);
    const isRightKey = req.get('x-api-key') === state.key;
    const call = noteCall(state.calls, req, { endpoint, reference, isRightKey });
    const fault = takeFault(state.faults, endpoint, reference);
    const carryOut = (): Answer =>
      isRightKey ? act(state, req, fault) : refusal(401, 'a valid x-api-key is required');
    const real = (fault?.applied ?? true) ? carryOut() : null;
    const pauseMs = state.latencyMs + (fault?.delayMs ?? 0);
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: state.closing });
    if (fault?.kind === 'hang') return;
    const isLost = fault?.kind === 'lost-before' || fault?.kind === 'lost-after';
    const answer = isLost ? null : ((fault && answerOf(fault)) ?? real);
    if (answer === null) {
      req.socket.destroy();
      return;
    }
    call.status = answer.status;
    send(res, answer);
  };
}

function referenceIn(req: Request): string | null {
  const body = req.body as { reference?: unknown } | undefined;
  const named: unknown = req.params.reference ?? body?.reference;
  return typeof named === 'string' ? named : null;
}

function found(data: unknown, message = 'found'): Answer {
  return { status: 200, body: { status: true, message, data } };
}

const initializeSchema = z.object({
  email: z.string().regex(/.@./).max(254),
  amount: z.number().refine((amount) => (parseAmount(amount) ?? 0n) > 0n, 'must be a plain decimal number above zero'),
  localCurrency: z.string().regex(/^[A-Z]{3}$/),
  amountCurrency: z.literal('local'),
  reference: z.string().regex(/^[\w-]{1,100}$/),
  redirectUrl: z.url({ protocol: /^https?$/ }).max(2_000),
});

const initialize: Act = ({ ledger, url }, req) => {
  const read = initializeSchema.safeParse(req.body);
  if (!read.success) return refusal(400, z.prettifyError(read.error));
  const { email, localCurrency: currency, reference, redirectUrl } = read.data;
  if (ledger.transactions.has(reference)) return refusal(409, 'a transaction with this reference exists already');
  open(ledger, { reference, email, amount: parseAmount(read.data.amount) ?? 0n, currency, redirectUrl });
  return found(`${url}/pay/${reference}`, 'initialized');
};

const verify: Act = ({ ledger }, req) => {
  const transaction = ledger.transactions.get(String(req.params.reference));
  if (transaction === undefined || transaction.hidden.verify) return refusal(404, 'there is no such transaction');
  return found(recordOf(ledger, transaction.rows[0], 'verify'));
};

const whole = z.coerce.number().int().min(1).max(1_000_000).default(1);
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());
/** At most a hundred rows per page, whatever the request asks for. */
const pageSchema = z.object({ page: whole, limit: whole.default(100).transform((asked) => Math.min(asked, 100)) });
const historySchema = pageSchema.extend({ from: time.default(''), to: time.default('9999') });

/** Newest first. A row is included if it was created within the window, including both ends. */
const history: Act = ({ ledger }, req, fault) => {
  const read = historySchema.safeParse(req.query);
  if (!read.success) return refusal(400, z.prettifyError(read.error));
  const { page, limit, from, to } = read.data;
  const shown = ledger.rows.filter(
    ({ transaction, createdAt }) => !transaction.hidden.list && createdAt >= from && createdAt <= to,
  );
  const rows = shown.reverse().slice(0, fault?.kind === 'cut-list' ? fault.rows : undefined);
  const isLoop = fault?.kind === 'page-loop';
  const start = isLoop ? 0 : (page - 1) * limit;
  const data = rows.slice(start, start + limit).map((row) => recordOf(ledger, row, 'list'));
  const pageCount = Math.ceil(rows.length / limit);
  return found({ data, page, limit, total: rows.length, pageCount, hasNextPage: isLoop || page < pageCount });
};

/** The sandbox never makes payouts. */
const transfers: Act = (_state, req) => {
  const read = pageSchema.safeParse(req.query);
  if (!read.success) return refusal(400, z.prettifyError(read.error));
  return found({ data: [], ...read.data, total: 0, pageCount: 0, hasNextPage: false });
};
