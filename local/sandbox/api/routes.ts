import { Router, text, type RequestHandler } from 'express';
import { parse } from 'lossless-json';

import { BODY_LIMIT } from '../assumptions.ts';
import { profileOf } from '../conditions.ts';
import { ON_HISTORY, ON_RECORDS } from '../faults/deck.ts';
import { PROFILES } from '../profiles/all.ts';
import { listOf } from './history.ts';
import { initialize } from './initialize.ts';
import { send } from './send.ts';
import { serve, type ApiDeps, type Deed } from './serve.ts';
import { neighbourOf, verify } from './verify.ts';

/** The service's own interface, mounted at /v1. */
export function apiRoutes(deps: ApiDeps): Router {
  const { ledger, checkoutUrl } = deps;
  const router = Router();

  router.post(
    '/transactions/initialize',
    text({ type: 'application/json', limit: BODY_LIMIT }),
    readExactJson,
    serve(deps, 'initialize', ({ profile, mode, req }) =>
      initialize(ledger, profile, mode, req.body, checkoutUrl),
    ),
  );
  router.get('/transactions/verify/:reference', serve(deps, 'verify', verifyUnderFaults(deps)));
  router.get(
    '/transactions/history',
    serve(deps, 'history', ({ profile, mode, req }) => {
      const name = deps.faults.strike(ON_HISTORY, 'history', null);
      const list = listOf(ledger, mode, new Date(deps.clock.now().getTime() - profile.listLagMs));
      return profile.history(name === null ? list : ON_HISTORY[name].bend(list), req.query);
    }),
  );
  addMoneyRoutes(router, deps);
  router.use((_req, res) => send(res, profileOf(deps.conditions).refused(404, 'no such endpoint')));
  return router;
}

function verifyUnderFaults({ ledger, faults, clock }: ApiDeps): Deed {
  return ({ profile, mode, req }) => {
    const reference = String(req.params.reference);
    const answer = verify(ledger, profile, mode, reference, clock.now());
    const transaction = ledger.find(mode, reference);
    const name = faults.strike(ON_RECORDS, 'verify', reference);
    if (name === null || transaction === undefined) return answer;
    const neighbour = neighbourOf(ledger, mode, reference);
    return ON_RECORDS[name].spoil(answer, { profile, transaction, neighbour });
  };
}

/** The reference says that balances and transfers exist and not where: each profile has them elsewhere. */
function addMoneyRoutes(router: Router, deps: ApiDeps): void {
  const { ledger, conditions } = deps;
  for (const { balances, transfers } of Object.values(PROFILES)) {
    router.get(
      balances.path,
      onlyIf(() => profileOf(conditions).balances.path === balances.path),
      serve(deps, 'balances', ({ profile, mode }) => profile.balances.answer(ledger.balances(mode))),
    );
    router.get(
      transfers.path,
      onlyIf(() => profileOf(conditions).transfers.path === transfers.path),
      serve(deps, 'transfers', ({ profile, mode }) => profile.transfers.answer(ledger.transfers(mode))),
    );
  }
}

function onlyIf(isTrue: () => boolean): RequestHandler {
  return (_req, _res, next) => {
    next(isTrue() ? undefined : 'route');
  };
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
