import type { Pool, QueryConfig } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { siteOf } from './addresses.ts';
import { Problem } from './problem.ts';

export type Limit = {
  /**
   * Takes `n` (1) of the key's points.
   * @throws {Problem} 429 with Retry-After, when fewer were left
   */
  take(key: string, n?: number): Promise<void>;
  /** Whether there is room; takes nothing. For what is counted only after it has happened. */
  has(key: string): Promise<boolean>;
};

type LimitOptions = {
  /** All processes on the database count together; null: this process counts for itself. */
  pool: Pool | null;
  /** Part of every key. */
  name: string;
  /** How many in `perSec` seconds, from the first one on. 0: no limit. */
  points: number;
  perSec: number;
};

/** A site of IPv6 may take as much as this many of its networks. */
export const NETWORKS_OF_SITE = 5;

/**
 * A limit for each key, in windows of fixed length. A key that is a network of IPv6 also counts for
 * its site, with NETWORKS_OF_SITE times the points. Keys stand in the table `rate_limits` as they
 * are given: pass a digest in place of an e-mail address, and at most 200 characters. While the
 * database is away this process counts for itself: a limit is never the reason why a request fails.
 */
export function createLimit(options: LimitOptions): Limit {
  const { name, points } = options;
  if (points === 0) return { take: () => Promise.resolve(), has: () => Promise.resolve(true) };
  const ofKey = createCounter(options);
  const ofSite = createCounter({ ...options, name: `${name}-site`, points: points * NETWORKS_OF_SITE });
  return {
    take: async (key, n = 1) => {
      const site = siteOf(key);
      // A site that has used up its points writes no row for each of its networks.
      if (site !== null && !(await ofSite.has(site))) await ofSite.take(site, n);
      await ofKey.take(key, n);
      if (site !== null) await ofSite.take(site, n);
    },
    has: async (key) => {
      const site = siteOf(key);
      return (await ofKey.has(key)) && (site === null || (await ofSite.has(site)));
    },
  };
}

function createCounter({ pool, name, points, perSec }: LimitOptions): Limit {
  const own = { keyPrefix: name, points, duration: perSec };
  const memory = new RateLimiterMemory(own);
  const limiter =
    pool === null
      ? memory
      : new RateLimiterPostgres({
          ...own,
          // The library names its statements, and a pooler may take none with a name.
          storeClient: { query: ({ text, values }: QueryConfig) => pool.query(text, values) },
          storeType: 'pool',
          tableName: 'rate_limits',
          tableCreated: true,
          insuranceLimiter: memory,
          // A key that has used its window up costs no more queries: refusing a flood must cost
          // less than serving it.
          inMemoryBlockOnConsumed: points,
        });
  return {
    take: async (key, n = 1) => {
      try {
        await limiter.consume(key, n);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw new Problem('too-many-requests', { retryAfterSec: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)) });
      }
    },
    has: async (key) => ((await limiter.get(key))?.consumedPoints ?? 0) < points,
  };
}
