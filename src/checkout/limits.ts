import { createHash } from 'node:crypto';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../platform/database.ts';
import { Problem } from '../platform/problem.ts';

/** Stops one address from making the service mail a stranger, or from filling the shop with orders. */
export type CheckoutLimits = {
  /** @throws {Problem} 429 with Retry-After */
  countAddress(address: string): Promise<void>;
  /** @throws {Problem} 429 with Retry-After */
  countEmail(email: string): Promise<void>;
};

const WINDOW_SEC = 60;
const EMAIL_SHARE = 10;

/** Counts in PostgreSQL, so all nodes share the limit. @param perMinute per client address; 0: no limit */
export function createCheckoutLimits(database: Database, perMinute: number): CheckoutLimits {
  if (perMinute === 0) return { countAddress: () => Promise.resolve(), countEmail: () => Promise.resolve() };
  const limiter = (keyPrefix: string, points: number): RateLimiterPostgres =>
    new RateLimiterPostgres({
      storeClient: database.plainPool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix,
      points,
      duration: WINDOW_SEC,
    });
  const byAddress = limiter('checkout-address', perMinute);
  const byEmail = limiter('checkout-email', Math.max(1, Math.floor(perMinute / EMAIL_SHARE)));
  return {
    countAddress: (address) => count(byAddress, address),
    // A digest: the table of counters is no place for addresses, and its key has a fixed width.
    countEmail: (email) => count(byEmail, createHash('sha256').update(email.toLowerCase()).digest('hex')),
  };
}

async function count(limiter: RateLimiterPostgres, key: string): Promise<void> {
  await limiter.consume(key).catch((refusal: unknown) => {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw new Problem('too-many-requests', {
      retryAfterSec: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)),
    });
  });
}
