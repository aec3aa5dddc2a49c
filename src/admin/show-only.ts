import type { RequestHandler } from 'express';
import { MAX_BEHIND_SEC, type Picked } from '../platform/database/reads.ts';
import type { AdminParts, ShowOnly } from './admin-parts.ts';
import { frameOf } from './actions/action-handler.ts';
import { cookieLine, cookieOf, COOKIES } from './login/cookies.ts';

/**
 * Such pages are read from the standby. From the primary are read: all pages of a browser that has just
 * acted, so that they show what it did; and a page that the standby could not make, such as that of an order
 * which it does not have yet.
 */
export function createShowOnly({
  database,
  reads,
  guard,
  gateway: { mode },
}: Pick<AdminParts, 'database' | 'reads' | 'guard' | 'gateway'>): ShowOnly {
  const newest = { database, behindSec: 0 };
  return (answer, atMostSec) => async (req, res) => {
    const answerFrom = (picked: Picked): Promise<void> =>
      answer(req, res, {
        database: picked.database,
        frame: { ...frameOf(guard, mode, req), behindSec: picked.behindSec },
      });
    const picked = cookieOf(req, COOKIES.acted) === '' ? await reads.pick(atMostSec) : newest;
    try {
      await answerFrom(picked);
    } catch (error) {
      if (picked.database === database || res.headersSent) throw error;
      await answerFrom(newest);
    }
  };
}

/** Twice as long as the standby may be behind: clocks differ. */
const ACTED_SEC = 2 * MAX_BEHIND_SEC;

/** Marks a browser that acts by a cookie. Without a standby it sets none. */
export function markActing({ reads }: Pick<AdminParts, 'reads'>): RequestHandler {
  return (req, res, next) => {
    if (reads.look !== null && req.method === 'POST')
      res.append('set-cookie', cookieLine(COOKIES.acted, 'yes', ACTED_SEC));
    next();
  };
}
