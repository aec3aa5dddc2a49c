import { createHash } from 'node:crypto';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import type { Database } from '../platform/database/database.ts';
import { Problem } from '../platform/problem.ts';

/** Stops an address from mailing strangers through the service, flooding the shop, or using up our calls. */
export type CheckoutLimits = {
  /** @throws {Problem} 429 with Retry-After */
  countAddress(address: string): Promise<void>;
  /** @throws {Problem} 429 with Retry-After */
  countEmail(email: string): Promise<void>;
  /** @returns whether a shopper who comes back from there may still have the service asked */
  countReturn(address: string): Promise<boolean>;
};

const WINDOW_SEC = 60;
const DAY_SEC = 86_400;
const EMAIL_SHARE = 10;
/** Shoppers press reload, and many of them may share an address. */
const RETURNS_PER_CHECKOUT = 5;

/** Counts in PostgreSQL, so all nodes share the limit. @param perMinute per client address; 0: no limit */
export function createCheckoutLimits(database: Database, perMinute: number): CheckoutLimits {
  if (perMinute === 0) {
    const noLimit = (): Promise<void> => Promise.resolve();
    return { countAddress: noLimit, countEmail: noLimit, countReturn: () => Promise.resolve(true) };
  }
  const limiter = (keyPrefix: string, points: number, duration = WINDOW_SEC): RateLimiterPostgres =>
    new RateLimiterPostgres({
      storeClient: database.plainPool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix,
      points,
      duration,
      // A key over the limit costs no more queries.
      inMemoryBlockOnConsumed: points + 1,
    });
  const byAddress = limiter('checkout-address', perMinute);
  const byEmail = limiter('checkout-email', Math.max(1, Math.floor(perMinute / EMAIL_SHARE)));
  // Each checkout may make the service write to that person. A day allows as many as an
  // address has in a minute.
  const byEmailDaily = limiter('checkout-email-day', perMinute, DAY_SEC);
  // The first returns of an address, as many as it may start checkouts, are counted in this process and
  // cost no query. PostgreSQL counts only addresses that come back more often than they can buy, and
  // from there on the processes share the limit.
  const fewReturns = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SEC });
  const manyReturns = limiter('return-address', RETURNS_PER_CHECKOUT * perMinute);
  return {
    countReturn: async (address) =>
      (await isWithin(fewReturns, address)) || (await isWithin(manyReturns, address)),
    countAddress: (address) => count(byAddress, address),
    countEmail: async (email) => {
      // A digest: the table of counters is no place for addresses, and its key has a fixed width.
      const key = createHash('sha256').update(email.toLowerCase()).digest('hex');
      await count(byEmail, key);
      // A checkout that the limit of the minute refused does not use up the day.
      await count(byEmailDaily, key);
    },
  };
}

async function isWithin(limiter: RateLimiterAbstract, key: string): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return false;
  }
}

async function count(limiter: RateLimiterPostgres, key: string): Promise<void> {
  await limiter.consume(key).catch((refusal: unknown) => {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw new Problem('too-many-requests', {
      retryAfterSec: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)),
    });
  });
}
