import type { Pool } from 'pg';
import { createLimit } from '../platform/limits.ts';
import { digestOf } from '../platform/ids.ts';

export type CheckoutLimits = ReturnType<typeof createCheckoutLimits>;

const MINUTE = 60;
const DAY = 86_400;

/**
 * All limits for shoppers follow from N, which is CHECKOUTS_PER_MINUTE. 0 means no limits. A client
 * address has N checkouts a minute, and 5N returns and 5N reads a minute. An e-mail address has
 * N/10 checkouts a minute and N a day. For an e-mail address, only checkouts that the service
 * opened count. Otherwise anybody could lock an address out with checkouts that never open.
 */
export function createCheckoutLimits(pool: Pool, n: number) {
  const ofAddress = createLimit({ pool, name: 'checkout', points: n, perSec: MINUTE });
  const perMinute = createLimit({
    pool,
    name: 'email-minute',
    points: n === 0 ? 0 : Math.max(1, Math.round(n / 10)),
    perSec: MINUTE,
  });
  const perDay = createLimit({ pool, name: 'email-day', points: n, perSec: DAY });
  const returns = createLimit({ pool: null, name: 'return', points: 5 * n, perSec: MINUTE });
  const reads = createLimit({ pool: null, name: 'read', points: 5 * n, perSec: MINUTE });
  const keyOf = (email: string): string => Buffer.from(digestOf(email.toLowerCase())).toString('base64url');
  return {
    /** @throws {Problem} 429 */
    countCheckout: (network: string): Promise<void> => ofAddress.take(network),
    /** Whether the e-mail address may open another checkout. */
    hasRoom: async (email: string): Promise<boolean> =>
      (await perMinute.has(keyOf(email))) && (await perDay.has(keyOf(email))),
    countOpened: async (email: string): Promise<void> => {
      // Checkouts in flight at the same moment may exceed the limit. They count, and the next one
      // is refused.
      await Promise.allSettled([perMinute.take(keyOf(email)), perDay.take(keyOf(email))]);
    },
    /**
     * Whether a return may verify its payment now. Beyond the limit, the order is shown as it is,
     * and the schedule verifies the payment.
     */
    mayAsk: async (network: string): Promise<boolean> => {
      const isAllowed = await returns.has(network);
      if (isAllowed) await returns.take(network).catch(() => undefined);
      return isAllowed;
    },
    /** @throws {Problem} 429 */
    countRead: (network: string): Promise<void> => reads.take(network),
  };
}
