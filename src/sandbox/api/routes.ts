import { Router, text, type Request, type RequestHandler, type Response } from 'express';
import { parse } from 'lossless-json';

import { sleep } from '../../platform/clock.ts';
import { BODY_LIMIT } from '../assumptions.ts';
import type { Call, CallBook, Endpoint } from '../calls.ts';
import type { Conditions } from '../conditions.ts';
import type { KeyRing, Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { refused, type Answer } from './answer.ts';
import { history } from './history.ts';
import { initialize } from './initialize.ts';
import { verify } from './verify.ts';

export type ApiDeps = {
  ledger: Ledger;
  keys: KeyRing;
  calls: CallBook;
  conditions: Conditions;
  checkoutUrl: (token: string) => string;
};

type Deed = (mode: Mode, req: Request) => Answer;

/** The service's own interface, mounted at /v1. */
export function apiRoutes(deps: ApiDeps): Router {
  const router = Router();

  router.post(
    '/transactions/initialize',
    text({ type: 'application/json', limit: BODY_LIMIT }),
    readExactJson,
    serve(deps, 'initialize', (mode, req) => initialize(deps.ledger, mode, req.body, deps.checkoutUrl)),
  );
  router.get(
    '/transactions/verify/:reference',
    serve(deps, 'verify', (mode, req) => verify(deps.ledger, mode, String(req.params.reference))),
  );
  router.get(
    '/transactions/history',
    serve(deps, 'history', (mode, req) => history(deps.ledger, mode, req.query)),
  );
  router.use((_req, res) => {
    send(res, refused(404, 'no such endpoint'));
  });
  return router;
}

/** Numbers keep their own digits: {@link text} and this instead of a parser that makes floats of them. */
const readExactJson: RequestHandler = (req, _res, next) => {
  try {
    req.body = typeof req.body === 'string' ? parse(req.body) : undefined;
  } catch {
    req.body = undefined; // refused with the fields it lacks, after the key was checked
  }
  next();
};

/** The way of every call: written down, let in, carried out, saved, delayed, answered. */
function serve(deps: ApiDeps, endpoint: Endpoint, deed: Deed): RequestHandler {
  const { ledger, calls, conditions } = deps;
  return async (req, res) => {
    const call = calls.begin(endpoint, referenceIn(req));
    const answer = carryOut(deps, req, call, deed);
    await ledger.saved();
    if (conditions.latencyMs > 0) await sleep(conditions.latencyMs);
    calls.end(call, answer.status);
    send(res, answer);
  };
}

function referenceIn(req: Request): string | null {
  const named: unknown =
    req.params.reference ?? (req.body as { reference?: unknown } | null | undefined)?.reference;
  return typeof named === 'string' ? named : null;
}

function carryOut({ keys, conditions }: ApiDeps, req: Request, call: Call, deed: Deed): Answer {
  if (conditions.outageStatus !== null)
    return refused(conditions.outageStatus, 'the service is not available');
  call.mode = conditions.areKeysRefused ? null : keys(req.get('x-api-key'));
  if (call.mode === null) return refused(401, 'a valid x-api-key is required');
  return deed(call.mode, req);
}

function send(res: Response, { status, body }: Answer): void {
  res.status(status).type('json').send(body);
}
