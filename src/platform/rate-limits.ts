import { isIPv4, isIPv6 } from 'node:net';
import type { RequestHandler } from 'express';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { systemClock, type Clock } from './clock.ts';
import type { Database } from './database/database.ts';
import { Problem } from './problem.ts';
import { bearerToken } from './request.ts';
import { isSecret, type Secret } from './secret.ts';

const GROUPS = 8;
const GROUPS_OF_ONE_CLIENT = 4;
/** As some proxies write them: `[2001:db8::1]:443` and `203.0.113.9:443`. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * The client that a limit counts: an IPv4 address, or the /64 network of an IPv6 one, because a client
 * with one address of such a network has all of them (RFC 6177). An IPv4 address in IPv6 notation counts
 * as the IPv4 one. All texts that are no address count as one client.
 */
export function clientNetwork(address: string | undefined): string {
  const text = (address ?? '').toLowerCase();
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const [plain = ''] = (bracketed ?? dotted ?? text).split('%');
  const mapped = plain.replace(/^(?:0*:)*ffff:(?=\d+\.)/, '');
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(plain)) return '';
  const [start = [], end] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  // The groups that "::" replaces; without it there are none.
  const zeros = end === undefined ? 0 : GROUPS - start.length - end.length;
  const groups = start.concat(Array.from({ length: zeros }, () => '0')).concat(end ?? []);
  const network = groups.slice(0, GROUPS_OF_ONE_CLIENT).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/**
 * A fixed-window limit of one process. It costs no query: rejecting a flood must cost less than serving it.
 */
export type Limit = {
  hasRoom(name: string): boolean;
  /** @returns false when that name has used up its share of the window */
  take(name: string): boolean;
  /** Whole seconds until the next window begins, at least 1. */
  resetsInSec(): number;
};

export function createLimit(max: number, windowMs: number, clock: Clock): Limit {
  let counts = new Map<string, number>();
  let endsAtMs = -Infinity;

  function countOf(name: string): number {
    const nowMs = clock.elapsedMs();
    // All names begin a new window together, so that names which do not come again are forgotten.
    if (nowMs >= endsAtMs) [counts, endsAtMs] = [new Map<string, number>(), nowMs + windowMs];
    return counts.get(name) ?? 0;
  }

  return {
    hasRoom: (name) => countOf(name) < max,
    take: (name) => {
      const count = countOf(name);
      counts.set(name, count + 1);
      return count < max;
    },
    resetsInSec: () => Math.max(1, Math.ceil((endsAtMs - clock.elapsedMs()) / 1_000)),
  };
}

/**
 * Limits what a client address reads.
 * @param perMinute GET and HEAD requests per client address; 0: no limit
 * @throws {Problem} 429 with Retry-After
 */
export function limitReads(perMinute: number): RequestHandler {
  const limit = createLimit(perMinute, 60_000, systemClock);
  return (req, _res, next) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (perMinute > 0 && isRead && !limit.take(clientNetwork(req.ip)))
      throw new Problem('too-many-requests', { retryAfterSec: limit.resetsInSec() });
    next();
  };
}

/** A limit that all nodes share, counted in PostgreSQL. */
export type SharedLimit = {
  /** Counts one. @returns seconds until there is room again; 0: this one is within the limit */
  count(key: string): Promise<number>;
  /** @returns seconds for which this process knows the key to be blocked; 0: it is not. Runs no query. */
  blockedSec(key: string): number;
  /** Counting starts anew. */
  forget(key: string): Promise<void>;
};

/** @param name part of the counter's key in the table */
export function createSharedLimit(
  database: Database,
  name: string,
  points: number,
  windowSec: number,
): SharedLimit {
  const limiter = new RateLimiterPostgres({
    storeClient: database.plainPool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: name,
    points,
    duration: windowSec,
  });
  // By {@link Clock.elapsedMs}. With it, a key over its limit costs no more queries.
  const blockedUntilMs = new Map<string, number>();
  const blockedSec = (key: string): number =>
    Math.max(0, Math.ceil(((blockedUntilMs.get(key) ?? 0) - systemClock.elapsedMs()) / 1_000));

  return {
    blockedSec,
    count: async (key) => {
      if (blockedSec(key) > 0) return blockedSec(key);
      try {
        await limiter.consume(key);
        return 0;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const nowMs = systemClock.elapsedMs();
        for (const [other, untilMs] of blockedUntilMs) if (untilMs <= nowMs) blockedUntilMs.delete(other);
        blockedUntilMs.set(key, nowMs + Math.max(1, refusal.msBeforeNext));
        return blockedSec(key);
      }
    },
    forget: async (key) => {
      blockedUntilMs.delete(key);
      await limiter.delete(key);
    },
  };
}

/** Wrong tokens that an address may send before it has to wait. */
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
