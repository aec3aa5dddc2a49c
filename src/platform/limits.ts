import type { Pool, QueryConfig } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { siteOf } from './addresses.ts';
import { Problem } from './problem.ts';

export type Limit = {
  /**
   * Takes `n` points of the key, 1 by default.
   * @throws {Problem} 429 with Retry-After if fewer points are left
   */
  take(key: string, n?: number): Promise<void>;
  /**
   * Whether points are left. It takes none: for events that are counted only after they happened.
   */
  has(key: string): Promise<boolean>;
};

type LimitOptions = {
  /** All processes on the database share the count. Null: this process counts alone. */
  pool: Pool | null;
  /** A prefix of every key. */
  name: string;
  /**
   * The number of points per `perSec` seconds, which start with the first one. 0 means no limit.
   */
  points: number;
  perSec: number;
};

/** An IPv6 site may take as many points as this many of its networks. */
export const NETWORKS_OF_SITE = 5;

/**
 * A limit per key, in windows of fixed length. A key that is an IPv6 network also counts for its
 * site, which has NETWORKS_OF_SITE times the points. The table `rate_limits` stores keys as they
 * are given: pass a digest instead of an e-mail address, and at most 200 characters. While the
 * database is unreachable, this process counts alone, so a limit never makes a request fail.
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
          // The library names its statements, and a pooler may not support named statements.
          storeClient: { query: ({ text, values }: QueryConfig) => pool.query(text, values) },
          storeType: 'pool',
          tableName: 'rate_limits',
          tableCreated: true,
          insuranceLimiter: memory,
          // A key that has used up its window costs no more queries, because refusing a flood must
          // be cheaper than serving it.
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
