import type { Request, RequestHandler } from 'express';

import { sleep } from '../../../src/platform/clock.ts';
import type { Call, CallBook, Endpoint } from '../calls.ts';
import { profileOf, type Conditions } from '../conditions.ts';
import type { FaultBook } from '../faults/book.ts';
import { ON_ANSWERS } from '../faults/deck.ts';
import type { Way } from '../faults/fault.ts';
import type { KeyRing, Mode } from '../keys.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Profile } from '../profiles/profile.ts';
import { tooManyCalls } from '../profiles/shapes/too-many.ts';
import type { Turnstile } from '../rate.ts';
import type { ServiceClock } from '../service-clock.ts';
import type { Answer } from './answer.ts';
import { send } from './send.ts';

export type ApiDeps = {
  ledger: Ledger;
  keys: KeyRing;
  calls: CallBook;
  conditions: Conditions;
  faults: FaultBook;
  turnstile: Turnstile;
  checkoutUrl: (token: string) => string;
  clock: ServiceClock;
};

/** What an accepted call does. */
export type Deed = (given: { profile: Profile; mode: Mode; req: Request }) => Answer;

/** The way of every call: written down, let in, carried out, saved, delayed, answered. */
export function serve(deps: ApiDeps, endpoint: Endpoint, deed: Deed): RequestHandler {
  const { ledger, calls, conditions, clock } = deps;
  return async (req, res) => {
    const call = calls.begin(endpoint, referenceIn(req));
    const { answer: said, way } = carryOut(deps, req, call, deed);
    const answer =
      clock.aheadMs() === 0
        ? said
        : { ...said, headers: { date: clock.now().toUTCString(), ...said.headers } };
    await ledger.saved();
    if (conditions.latencyMs > 0) await sleep(conditions.latencyMs);
    calls.end(call, answer.status);
    await send(res, answer, way);
  };
}

function referenceIn(req: Request): string | null {
  const named: unknown =
    req.params.reference ?? (req.body as { reference?: unknown } | null | undefined)?.reference;
  return typeof named === 'string' ? named : null;
}

function carryOut(
  deps: ApiDeps,
  req: Request,
  call: Call,
  deed: Deed,
): { answer: Answer; way?: Way | undefined } {
  const { keys, conditions, clock } = deps;
  const profile = profileOf(conditions);
  if (conditions.outageStatus !== null)
    return { answer: profile.refused(conditions.outageStatus, 'the service is not available') };
  const mode = conditions.areKeysRefused ? null : keys(req.get('x-api-key'));
  call.mode = mode;
  if (mode === null) return { answer: profile.refused(401, 'a valid x-api-key is required') };
  const waitSec = deps.turnstile.refusesFor(conditions.limit);
  if (waitSec !== null) {
    const form = conditions.limit?.form ?? profile.tooMany;
    return { answer: tooManyCalls(form, profile.refused, waitSec, clock.now()) };
  }
  const name = deps.faults.strike(ON_ANSWERS, call.endpoint, call.reference);
  const fault = name === null ? null : ON_ANSWERS[name];
  const real = fault?.acts === false ? null : deed({ profile, mode, req });
  const said = fault?.answer?.({ profile, reference: call.reference, now: clock.now() });
  const answer = said ?? real ?? profile.refused(500, 'the sandbox failed');
  return {
    answer:
      fault?.skewSec === undefined
        ? answer
        : dated(answer, new Date(clock.now().getTime() + fault.skewSec * 1_000)),
    way: fault?.way,
  };
}

function dated(answer: Answer, at: Date): Answer {
  return { ...answer, headers: { ...answer.headers, date: at.toUTCString() } };
}
