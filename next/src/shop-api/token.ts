import type { Request, RequestHandler } from 'express';
import { createLimit, networkOf } from '../platform/limits.ts';
import { Problem } from '../platform/problem.ts';
import { isSecret, type Secret } from '../platform/secret.ts';

const WRONG_PER_MIN = 10;

/**
 * Lets a request pass that bears one of these tokens. Wrong ones are limited, or they could be guessed.
 * @param name of the variable, for people
 * @param withoutTokens decides where there is none; left out: nothing is there then
 */
export function requireToken(
  tokens: readonly Secret[],
  name: string,
  withoutTokens?: (req: Request) => boolean,
): RequestHandler {
  const wrong = createLimit({ pool: null, name, points: WRONG_PER_MIN, perSec: 60 });
  return async (req, _res, next) => {
    if (tokens.length === 0 && withoutTokens === undefined) throw new Problem('not-found');
    const network = networkOf(req.ip);
    if (!(await wrong.has(network))) throw new Problem('too-many-requests', { retryAfterSec: 60 });
    const given = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '')?.[1] ?? '';
    const isKnown = tokens.length === 0 ? withoutTokens?.(req) : tokens.some((token) => isSecret(given, token));
    if (isKnown !== true) {
      await wrong.take(network);
      throw new Problem('unauthorized', { detail: `Send "Authorization: Bearer" with ${name}.` });
    }
    next();
  };
}
