import { sleep, systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { leaseForCheck } from './checks.sql.ts';
import type { Payment } from './payment.ts';

/** How long a person waits for another check of a payment to end; its answer is seconds away. */
export const LEASE_WAIT_MS = 8_000;
const LOOK_AGAIN_MS = 100;

/**
 * Leases a payment for a check, once no other check holds it: answers are written in the order of their
 * questions.
 * @returns null when another check still holds it after `waitMs`, or when the signal is aborted before
 */
export async function leaseWhenFree(
  { database, mode }: { database: Database; mode: Mode },
  reference: Reference,
  waitMs: number,
  signal?: AbortSignal,
): Promise<Payment | null> {
  const until = systemClock.elapsedMs() + waitMs;
  for (;;) {
    const payment = await leaseForCheck(database, reference, mode);
    const isOver = systemClock.elapsedMs() > until || signal?.aborted === true;
    if (payment !== null || isOver) return payment;
    await sleep(LOOK_AGAIN_MS, signal);
  }
}
