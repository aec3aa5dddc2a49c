import type { Request, RequestHandler } from 'express';
import { networkOf } from '../platform/addresses.ts';
import { createLimit } from '../platform/limits.ts';
import { Problem } from '../platform/problem.ts';
import { isSecret, type Secret } from '../platform/secret.ts';

const WRONG_PER_MIN = 10;

/**
 * Admits a request that bears one of these tokens. Wrong tokens are counted and limited, so that
 * nobody can guess one. A correct token is never refused because of wrong ones.
 * @param name the name of the variable, for people
 * @param withoutTokens decides if there are no tokens; left out: the route does not exist then
 */
export function requireToken(
  tokens: readonly Secret[],
  name: string,
  withoutTokens?: (req: Request) => boolean,
): RequestHandler {
  const wrong = createLimit({ pool: null, name, points: WRONG_PER_MIN, perSec: 60 });
  return async (req, _res, next) => {
    if (tokens.length === 0 && withoutTokens === undefined) throw new Problem('not-found');
    const given = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '')?.[1] ?? '';
    const isKnown = tokens.length === 0 ? withoutTokens?.(req) : tokens.some((token) => isSecret(given, token));
    // Compare before counting: behind an untrusted proxy, other clients' wrong tokens count for the
    // same address.
    if (isKnown !== true) {
      await wrong.take(networkOf(req.ip));
      throw new Problem('unauthorized', { detail: `Send "Authorization: Bearer" with ${name}.` });
    }
    next();
  };
}

/** Headers that proxies and tunnels of any kind add to the requests that they forward. */
const PASSED_ON =
  /^(forwarded|via|cdn-loop|x-(forwarded|real|original|client|cluster|proxy|envoy|amzn|azure).*|.*-(client|connecting)-ip)$/;

/**
 * Whether the client is on this machine. The address alone does not prove it, because a local proxy
 * forwards requests from anywhere.
 */
export function isLocal(req: Request): boolean {
  const isNear = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
  const isOwnName = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(req.get('host') ?? '');
  return (
    isNear && isOwnName && req.httpVersion !== '1.0' && !Object.keys(req.headers).some((name) => PASSED_ON.test(name))
  );
}
