import { createHmac, randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';
import { bearerToken, isSecret } from '../platform/bearer.ts';
import { Problem } from '../platform/problem.ts';
import { Secret } from '../platform/secret.ts';

/**
 * Who may look at operations. With an admin token: whoever shows it, or has logged in with it. Without one: whoever
 * sits at this machine, and nobody in production.
 */
export type AdminGuard = {
  /** For pages: sends people to the login page. */
  requireLogin: RequestHandler;
  /** For programs: answers 401. */
  requireToken: RequestHandler;
  /** The cookie of a fresh login, or null when the token is wrong. */
  login(token: string): string | null;
};

// The prefix makes browsers take the cookie only from this very host, over https (or on localhost) and for all paths.
const COOKIE = '__Host-admin';
const SESSION_SEC = 12 * 3_600;

export function createAdminGuard(token: Secret | null, production: boolean): AdminGuard {
  // A new key per process: a restart logs everybody out, and the cookie never holds the token itself.
  const sessionKey = randomBytes(32);
  const session = (): Secret | null =>
    token === null
      ? null
      : new Secret(createHmac('sha256', sessionKey).update(token.reveal()).digest('base64url'));

  const isAllowed: (req: Parameters<RequestHandler>[0]) => boolean = (req) => {
    const known = session();
    if (token === null || known === null) return !production && isOnThisMachine(req.socket.remoteAddress);
    const shown = bearerToken(req.get('authorization'));
    return (shown !== null && isSecret(shown, token)) || isSecret(cookieOf(req.get('cookie')), known);
  };

  return {
    requireLogin: (req, res, next) => {
      if (isAllowed(req)) next();
      else if (token === null) throw new Problem('not-found');
      else res.redirect(303, '/admin/login');
    },
    requireToken: (req, _res, next) => {
      if (!isAllowed(req)) throw new Problem(token === null ? 'not-found' : 'unauthorized');
      next();
    },
    login: (given) => {
      const known = session();
      if (token === null || known === null || !isSecret(given, token)) return null;
      return `${COOKIE}=${known.reveal()}; Path=/; Max-Age=${SESSION_SEC}; HttpOnly; Secure; SameSite=Strict`;
    },
  };
}

function isOnThisMachine(address: string | undefined): boolean {
  return address === '127.0.0.1' || address === '::1' || address === '::ffff:127.0.0.1';
}

function cookieOf(header: string | undefined): string {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? '';
}
