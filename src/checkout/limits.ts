import type { Pool } from 'pg';
import { createLimit } from '../platform/limits.ts';
import { digestOf } from '../platform/ids.ts';

export type CheckoutLimits = ReturnType<typeof createCheckoutLimits>;

const MINUTE = 60;
const DAY = 86_400;

/**
 * All limits of shoppers follow from CHECKOUTS_PER_MINUTE, N; 0: none. Checkouts of one client
 * address: N a minute. Of one e-mail address: N/10 a minute and N a day, and only what the service
 * opened counts, or a stranger could lock an address out with baskets of nothing. Returns and reads
 * of one client address: 5N a minute.
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
    /** Whether the address may open another one. */
    hasRoom: async (email: string): Promise<boolean> =>
      (await perMinute.has(keyOf(email))) && (await perDay.has(keyOf(email))),
    countOpened: async (email: string): Promise<void> => {
      // Over the limit by those that were in flight together: they count, and the next one is
      // refused.
      await Promise.allSettled([perMinute.take(keyOf(email)), perDay.take(keyOf(email))]);
    },
    /** Beyond it the order is shown as it stands: the schedule asks all the same. */
    mayAsk: async (network: string): Promise<boolean> => {
      const isAllowed = await returns.has(network);
      if (isAllowed) await returns.take(network).catch(() => undefined);
      return isAllowed;
    },
    /** @throws {Problem} 429 */
    countRead: (network: string): Promise<void> => reads.take(network),
  };
}
