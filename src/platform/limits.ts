import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import type { Pool } from 'pg';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
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

/**
 * A limit for each key, in windows of fixed length. Keys stand in the table `rate_limits` as they are given: pass a
 * digest in place of an e-mail address, and at most 200 characters. While the database is away this process counts
 * for itself: a limit is never the reason why a request fails.
 */
export function createLimit({ pool, name, points, perSec }: LimitOptions): Limit {
  if (points === 0) return { take: () => Promise.resolve(), has: () => Promise.resolve(true) };
  const own = { keyPrefix: name, points, duration: perSec };
  const memory = new RateLimiterMemory(own);
  const limiter =
    pool === null
      ? memory
      : new RateLimiterPostgres({
          ...own,
          storeClient: pool,
          storeType: 'pool',
          tableName: 'rate_limits',
          tableCreated: true,
          insuranceLimiter: memory,
          // A key that has used its window up costs no more queries: refusing a flood must cost less than serving it.
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

/** As some proxies write them: `[2001:db8::1]:443` and `203.0.113.9:443`. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/**
 * The client that a limit counts: an IPv4 address, or the /64 network of an IPv6 one, because a client with one
 * address of such a network has all of them (RFC 6177). An IPv4 address in IPv6 notation counts as the IPv4 one. All
 * texts that are no address count as one client.
 */
export function networkOf(ip: string | undefined): string {
  const [, bracketed, dotted] = WITH_PORT.exec(ip ?? '') ?? [];
  const [address = ''] = (bracketed ?? dotted ?? ip ?? '').split('%');
  if (isIP(address) === 0) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64`;
}
