import type { Request, RequestHandler } from 'express';
import { systemClock, type Clock } from '../../platform/clock.ts';
import { isLocalRequest } from '../../platform/request.ts';
import { adminWith, type Operator } from '../../platform/operator.ts';
import { Problem } from '../../platform/problem.ts';
import type { Secret } from '../../platform/secret.ts';
import {
  cookieLine,
  cookieOf,
  COOKIES,
  createRoster,
  type Known,
  createSessions,
  SESSION_SEC,
} from './session.ts';
import { loginAddress } from './login-page.tsx';
import { requireForm, mayDo } from './require-form.ts';

/**
 * Who may see the pages of operations, and who may act there. With operators: requests with an
 * operator's token or login. Without operators: requests from this machine, and in production none.
 */
export type AdminGuard = {
  /** Whether a bearer token is valid here; null: there is no operator, so there is no token to guess. */
  isRight: ((token: string) => boolean) | null;
  /** For pages: sends people to the login page, which brings them back to the page. */
  requireLogin: RequestHandler;
  /** For programs: answers 401. */
  requireToken: RequestHandler;
  /**
   * For forms, after {@link requireLogin} and the body parser: rejects a form that one of our pages did
   * not send, and sets the field `by` of the others to the operator's name where it is known.
   * @throws {Problem} 403 for an action that the role of the operator may not do
   */
  requireForm: RequestHandler;
  /**
   * Before every page and form: a viewer may see pages and log out.
   * @throws {Problem} 403 for other requests of a viewer
   */
  refuseViewers: RequestHandler;
  visitorOf(req: Request): Visitor;
  /** The cookie of a fresh login, or null when the token is wrong. */
  login(token: string): string | null;
  /** Ends the session. @returns the cookie that makes the browser forget it */
  logout(req: Request): string;
};

/** The operator who requests a page. */
export type Visitor = {
  /**
   * The operator's own name, which signs their actions; else the name that this browser last
   * signed with, or empty.
   */
  name: string;
  /** Whether the operator is known, so that no name is typed. */
  isNamed: boolean;
  formToken: string;
  /** Whether there is a login to end. */
  hasSession: boolean;
  /** Whether pages may be shown at all: a page about an error has no navigation for a stranger. */
  isAllowed: boolean;
  /** Whether their role may do an action (see require-form.ts): pages hide the others. */
  may(action: string): boolean;
};

const NO_SESSION = 'no session';

/**
 * @param adminToken of the operator called admin. Several people may share it, so as long as it is the
 * only token, each of them types a name. If there are named operators, its actions are signed by "admin"
 * @param operators who have a token of their own
 */
export function createAdminGuard(
  adminToken: Secret | null,
  production: boolean,
  operators: readonly Operator[] = [],
  clock: Clock = systemClock,
): AdminGuard {
  const admin = adminToken === null ? [] : [adminWith(adminToken)];
  const { isEmpty, ownerOf, shownBy, sessionOf } = createRoster([...admin, ...operators], clock);
  const local = createSessions(null, clock);
  const whoIs = (req: Request): Known | null => shownBy(req) ?? sessionOf(req);
  const isAllowed = (req: Request): boolean =>
    whoIs(req) !== null || (isEmpty && !production && isLocalRequest(req));

  const visitorOf = (req: Request): Visitor => {
    const [shown, session] = [shownBy(req), sessionOf(req)];
    const who = shown ?? session;
    const isNamed = operators.length > 0 && who !== null;
    return {
      name: isNamed ? who.operator.name : cookieOf(req, COOKIES.name),
      isNamed,
      formToken:
        session?.sessions.formTokenOf(session.id) ?? (shown?.sessions ?? local).formTokenOf(NO_SESSION),
      hasSession: session !== null,
      isAllowed: isAllowed(req),
      may: (action) => mayDo(who?.operator.role ?? null, action),
    };
  };

  return {
    isRight: isEmpty ? null : (token) => ownerOf(token) !== null,
    visitorOf,
    requireLogin: (req, res, next) => {
      if (isAllowed(req)) next();
      else if (isEmpty) throw new Problem('not-found');
      else res.redirect(303, loginAddress(req));
    },
    requireToken: (req, _res, next) => {
      if (!isAllowed(req)) throw new Problem(isEmpty ? 'not-found' : 'unauthorized');
      next();
    },
    refuseViewers: (req, _res, next) => {
      const isLooking = ['GET', 'HEAD'].includes(req.method) || ['/login', '/logout'].includes(req.path);
      if (!isLooking && whoIs(req)?.operator.role === 'viewer') throw new Problem('viewer-may-not-act');
      next();
    },
    requireForm: requireForm(visitorOf),
    login: (given) => {
      const owner = ownerOf(given);
      return owner && cookieLine(COOKIES.session, owner.sessions.open(), SESSION_SEC);
    },
    logout: (req) => {
      const session = sessionOf(req);
      session?.sessions.close(session.id);
      return cookieLine(COOKIES.session, '', 0);
    },
  };
}
