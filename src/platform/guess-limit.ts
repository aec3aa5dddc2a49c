import type { RequestHandler } from 'express';
import { bearerToken, isSecret } from './bearer.ts';
import type { Database } from './database/database.ts';
import { Problem } from './problem.ts';
import { clientNetwork, createSharedLimit, type SharedLimit } from './rate-limits.ts';
import type { Secret } from './secret.ts';

const TRIES = 10;

/**
 * Limits wrong tokens per client address, for all nodes together.
 * @param name of the protected entry
 * @param windowSec for which attempts are counted, and then for which an address has to wait
 */
export function createGuessLimit(database: Database, name: string, windowSec: number): SharedLimit {
  return createSharedLimit(database, name, TRIES, windowSec);
}

/**
 * Refuses an address that has sent ten wrong bearer tokens. Even the right token has to wait there, or
 * guessing would go on behind the limit. A request without a bearer token is no guess, and a right
 * token costs no query.
 * @throws {Problem} 429 with Retry-After
 */
export function limitGuesses(limit: SharedLimit, isRight: (token: string) => boolean): RequestHandler {
  return async (req, _res, next) => {
    const shown = bearerToken(req.get('authorization'));
    if (shown !== null) {
      const address = clientNetwork(req.ip);
      const blockedSec = limit.blockedSec(address);
      const waitSec = blockedSec > 0 || isRight(shown) ? blockedSec : await limit.count(address);
      if (waitSec > 0) throw new Problem('too-many-requests', { retryAfterSec: waitSec });
    }
    next();
  };
}

/** Lets in who has the token, after {@link limitGuesses}. @throws {Problem} 401 */
export function requireBearer(limit: SharedLimit, token: Secret): RequestHandler[] {
  const isRight = (shown: string): boolean => isSecret(shown, token);
  return [
    limitGuesses(limit, isRight),
    (req, _res, next) => {
      if (!isRight(bearerToken(req.get('authorization')) ?? '')) throw new Problem('unauthorized');
      next();
    },
  ];
}
