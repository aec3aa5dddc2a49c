import type { Request, RequestHandler } from 'express';
import { bearerToken, isSecret } from '../platform/bearer.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { Problem } from '../platform/problem.ts';
import type { Secret } from '../platform/secret.ts';
import { sendPage } from '../platform/html.tsx';
import { cookieLine, cookieOf, COOKIES } from './login/cookies.ts';
import { StaleFormPage } from './login/login-page.tsx';
import { createSessions, SESSION_SEC } from './login/session.ts';

/**
 * Who may look at operations, and act. With an admin token: whoever shows it, or has logged in with it. Without one:
 * whoever sits at this machine, and nobody in production.
 */
export type AdminGuard = {
  /** For pages: sends people to the login page. */
  requireLogin: RequestHandler;
  /** For programs: answers 401. */
  requireToken: RequestHandler;
  /** For forms, behind {@link requireLogin} and the body's parser: refuses what one of our pages did not send. */
  requireForm: RequestHandler;
  visitorOf(req: Request): Visitor;
  /** The cookie of a fresh login, or null when the token is wrong. */
  login(token: string): string | null;
  /** Ends the session. @returns the cookie that makes the browser forget it */
  logout(req: Request): string;
};

/** Who looks at a page. */
export type Visitor = {
  /** The name this browser last signed a deed with; empty: none yet. */
  name: string;
  formToken: string;
  /** Whether there is a login to end. */
  hasSession: boolean;
};

const NO_SESSION = 'no session';

export function createAdminGuard(
  token: Secret | null,
  production: boolean,
  clock: Clock = systemClock,
): AdminGuard {
  const sessions = createSessions(token, clock);
  const sessionOf = (req: Request): string | null =>
    token === null ? null : sessions.idOf(cookieOf(req, COOKIES.session));

  function isAllowed(req: Request): boolean {
    if (token === null) return !production && isAtThisMachine(req);
    const shown = bearerToken(req.get('authorization'));
    return (shown !== null && isSecret(shown, token)) || sessionOf(req) !== null;
  }

  const visitorOf = (req: Request): Visitor => {
    const session = sessionOf(req);
    return {
      name: cookieOf(req, COOKIES.name),
      formToken: sessions.formTokenOf(session ?? NO_SESSION),
      hasSession: session !== null,
    };
  };

  return {
    visitorOf,
    requireLogin: (req, res, next) => {
      if (isAllowed(req)) next();
      else if (token === null) throw new Problem('not-found');
      else res.redirect(303, '/admin/login');
    },
    requireToken: (req, _res, next) => {
      if (!isAllowed(req)) throw new Problem(token === null ? 'not-found' : 'unauthorized');
      next();
    },
    requireForm: (req, res, next) => {
      const given = new URLSearchParams(String(req.body)).get('form') ?? '';
      if (isFromHere(req) && given === visitorOf(req).formToken) next();
      else sendPage(res, StaleFormPage(), 403);
    },
    login: (given) =>
      token !== null && isSecret(given, token)
        ? cookieLine(COOKIES.session, sessions.open(), SESSION_SEC)
        : null,
    logout: (req) => {
      const session = sessionOf(req);
      if (session !== null) sessions.close(session);
      return cookieLine(COOKIES.session, '', 0);
    },
  };
}

/**
 * The address alone does not say it: a tunnel to this machine calls from here for the whole world, and a page of a
 * stranger may have its name point here. Both show in the host that was asked for.
 */
function isAtThisMachine(req: Request): boolean {
  const isNear = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
  return isNear && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(req.get('host') ?? '');
}

/** Browsers say where a post comes from; other programs say nothing, and have no cookie that a stranger could use. */
export function isFromHere(req: Request): boolean {
  const site = req.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = req.get('origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === req.get('host'));
}
