import { createHash } from 'node:crypto';
import { systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { Problem } from '../platform/problem.ts';
import { createLimit, createSharedLimit, type SharedLimit } from '../platform/rate-limits.ts';

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
  const byAddress = createSharedLimit(database, 'checkout-address', perMinute, WINDOW_SEC);
  const emailsPerMinute = Math.max(1, Math.floor(perMinute / EMAIL_SHARE));
  const byEmail = createSharedLimit(database, 'checkout-email', emailsPerMinute, WINDOW_SEC);
  // Each checkout may make the service write to that person. A day allows as many as an
  // address has in a minute.
  const byEmailDaily = createSharedLimit(database, 'checkout-email-day', perMinute, DAY_SEC);
  // The first returns of an address, as many as it may start checkouts, are counted in this process and
  // cost no query. PostgreSQL counts only addresses that come back more often than they can buy, and
  // from there on the processes share the limit.
  const fewReturns = createLimit(perMinute, WINDOW_SEC * 1_000, systemClock);
  const returnsPerMinute = RETURNS_PER_CHECKOUT * perMinute;
  const manyReturns = createSharedLimit(database, 'return-address', returnsPerMinute, WINDOW_SEC);
  return {
    countReturn: async (address) => fewReturns.take(address) || (await manyReturns.count(address)) === 0,
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

async function count(limit: SharedLimit, key: string): Promise<void> {
  const retryAfterSec = await limit.count(key);
  if (retryAfterSec > 0) throw new Problem('too-many-requests', { retryAfterSec });
}
