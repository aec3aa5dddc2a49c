import type { RequestHandler } from 'express';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { bearerToken } from './bearer.ts';
import { clientNetwork } from './client-network.ts';
import { systemClock, type Clock } from './clock.ts';
import type { Database } from './database/database.ts';
import { Problem } from './problem.ts';

/** Limits wrong tokens per client address, counted in PostgreSQL for all nodes together. */
export type GuessLimit = {
  /** Counts an attempt. @returns seconds until the next one is allowed; 0: this one is allowed */
  count(address: string): Promise<number>;
  /** @returns seconds for which this process knows the address to be blocked; 0: it is not. Runs no query. */
  blockedSec(address: string): number;
  /** The right token was given: counting starts anew, because an office may share one address. */
  forget(address: string): Promise<void>;
};

const TRIES = 10;

/**
 * @param name of the protected entry, part of the counter's key
 * @param windowSec for which attempts are counted, and then for which an address has to wait
 */
export function createGuessLimit(
  database: Database,
  name: string,
  windowSec: number,
  clock: Clock = systemClock,
): GuessLimit {
  const limiter = new RateLimiterPostgres({
    storeClient: database.plainPool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: name,
    points: TRIES,
    duration: windowSec,
  });
  // By {@link Clock.elapsedMs}. With it, neither a flood of guesses nor a right token costs a query.
  const blockedUntilMs = new Map<string, number>();
  const blockedSec = (address: string): number =>
    Math.max(0, Math.ceil(((blockedUntilMs.get(address) ?? 0) - clock.elapsedMs()) / 1_000));

  return {
    blockedSec,
    count: async (address) => {
      if (blockedSec(address) > 0) return blockedSec(address);
      try {
        await limiter.consume(address);
        return 0;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const nowMs = clock.elapsedMs();
        for (const [other, untilMs] of blockedUntilMs) if (untilMs <= nowMs) blockedUntilMs.delete(other);
        blockedUntilMs.set(address, nowMs + Math.max(1, refusal.msBeforeNext));
        return blockedSec(address);
      }
    },
    forget: async (address) => {
      blockedUntilMs.delete(address);
      await limiter.delete(address);
    },
  };
}

/**
 * Refuses an address that has sent ten wrong bearer tokens. Even the right token has to wait there, or
 * guessing would go on behind the limit. A request without a bearer token is no guess, and a right
 * token costs no query.
 * @throws {Problem} 429 with Retry-After
 */
export function limitGuesses(limit: GuessLimit, isRight: (token: string) => boolean): RequestHandler {
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
