import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../platform/database.ts';

/** Nobody guesses the admin token: so many tries for each address, counted in PostgreSQL for all nodes together. */
export type LoginLimit = {
  /** Counts a try. @returns seconds until the next one is allowed; 0: this one is */
  count(address: string): Promise<number>;
  /** The right token was given: an office behind one address starts anew. */
  forget(address: string): Promise<void>;
};

const TRIES = 10;
const WINDOW_SEC = 15 * 60;

export function createLoginLimit(database: Database): LoginLimit {
  const limiter = new RateLimiterPostgres({
    storeClient: database.plainPool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: 'admin-login',
    points: TRIES,
    duration: WINDOW_SEC,
  });
  return {
    count: async (address) => {
      try {
        await limiter.consume(address);
        return 0;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
      }
    },
    forget: async (address) => {
      await limiter.delete(address);
    },
  };
}
