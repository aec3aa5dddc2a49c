import { createHmac, randomBytes, scryptSync } from 'node:crypto';
import type { Request } from 'express';
import { isSecret, Secret } from '../../platform/secret.ts';
import { bearerToken, cookieIn, cookieLine as lineOf } from '../../platform/request.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Operator } from '../../platform/operator.ts';

/** Logins of operators: each has an id of its own, expires, and can be ended. */
export type Sessions = {
  /** A new session as the value of its cookie. */
  open(): string;
  /** @returns the session's id, or null when it was never opened, has ended, or was changed */
  idOf(cookie: string): string | null;
  close(id: string): void;
  /** The token of that session's forms: another site can make a browser post, but cannot know this. */
  formTokenOf(id: string): string;
};

export const SESSION_SEC = 12 * 3_600;

/**
 * The sessions of one operator. They are signed, not stored. The key is derived from the
 * operator's token. So every node accepts a login made on another one, a restart ends no session,
 * and a new token ends all sessions of that operator. The key is stretched (scrypt): a stolen
 * cookie must not reveal the token.
 */
export function createSessions(token: Secret | null, clock: Clock): Sessions {
  // Stretching takes some 50 ms, so the key is derived only at the first login.
  let key: Buffer | undefined;
  const keyOnce = (): Buffer =>
    (key ??=
      token === null ? randomBytes(32) : scryptSync(token.reveal(), 'payment-integrator/admin-session', 32));
  const sign = (text: string): string => createHmac('sha256', keyOnce()).update(text).digest('base64url');
  // Known to this process only: on other nodes a closed session ends with its cookie, which the
  // browser was told to delete.
  const closed = new Map<string, number>();
  const nowSec = (): number => Math.floor(clock.now().getTime() / 1_000);

  return {
    open: () => {
      const id = `${randomBytes(18).toString('base64url')}.${nowSec() + SESSION_SEC}`;
      return `${id}.${sign(`session ${id}`)}`;
    },
    idOf: (cookie) => {
      const [, id = '', until = '', signature = ''] = /^([\w-]+\.(\d{1,12}))\.([\w-]+)$/.exec(cookie) ?? [];
      if (signature === '' || !isSecret(signature, new Secret(sign(`session ${id}`)))) return null;
      return Number(until) > nowSec() && !closed.has(id) ? id : null;
    },
    close: (id) => {
      for (const [old, until] of closed) if (until < nowSec()) closed.delete(old);
      closed.set(id, nowSec() + SESSION_SEC);
    },
    formTokenOf: (id) => sign(`form ${id}`),
  };
}

export const COOKIES = {
  session: '__Host-admin',
  name: '__Host-admin-name',
  acted: '__Host-admin-acted',
} as const;
type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** The value of a cookie; empty when there is none, or not one that we wrote. */
export function cookieOf(req: Request, name: CookieName): string {
  return cookieIn(req.get('cookie'), name);
}

/** A `Set-Cookie` line. @param maxAgeSec 0 makes the browser forget the cookie */
export function cookieLine(name: CookieName, value: string, maxAgeSec: number): string {
  return lineOf({ name, value, maxAgeSec, sameSite: 'Strict' });
}

/** An operator, and the logins made with that operator's token. */
export type Known = { operator: Operator; sessions: Sessions };

/** Finds the operator of a token or a cookie; null: it belongs to no operator. */
type Roster = {
  isEmpty: boolean;
  ownerOf(token: string): Known | null;
  /** By the bearer token of a request. */
  shownBy(req: Request): Known | null;
  /** By the cookie of a login, with the login's id. */
  sessionOf(req: Request): (Known & { id: string }) | null;
};

export function createRoster(operators: readonly Operator[], clock: Clock): Roster {
  const known = operators.map((operator) => ({ operator, sessions: createSessions(operator.token, clock) }));

  function ownerOf(token: string): Known | null {
    // All tokens are compared, so that the response time does not reveal which one nearly matched.
    const owners = known.filter(({ operator }) => isSecret(token, operator.token));
    return owners.at(0) ?? null;
  }

  return {
    isEmpty: known.length === 0,
    ownerOf,
    shownBy: (req) => {
      const shown = bearerToken(req.get('authorization'));
      return shown === null ? null : ownerOf(shown);
    },
    sessionOf: (req) => {
      const cookie = cookieOf(req, COOKIES.session);
      for (const one of known) {
        const id = one.sessions.idOf(cookie);
        if (id !== null) return { ...one, id };
      }
      return null;
    },
  };
}
