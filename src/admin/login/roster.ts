import type { Request } from 'express';
import { bearerToken, isSecret } from '../../platform/bearer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Operator } from '../../platform/operator.ts';
import { cookieOf, COOKIES } from './cookies.ts';
import { createSessions, type Sessions } from './session.ts';

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
