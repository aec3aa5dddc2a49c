import { GatewayKeyRefused, GatewayUnavailable } from '../gateway/errors.ts';
import type { Database } from '../platform/database/database.ts';
import type { Reference } from '../platform/ids.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mode } from '../platform/mode.ts';
import { endLease, leaseWhenFree } from '../payments/checks.sql.ts';
import type { VerificationOutcome } from '../payments/decide.ts';
import type { Confirm } from '../payments/confirm.ts';
import type { Progress } from './progress.ts';

export type Verified = {
  answers: { reference: Reference; hasReleased: boolean; outcome: VerificationOutcome }[];
  /** Why some could not be asked; null when all were. */
  problem: string | null;
};

export type VerifyParts = {
  database: Database;
  mode: Mode;
  confirm: Confirm;
  logger: Logger;
  concurrency: number;
};

/**
 * After this many checks in a row that brought nothing (no answer, or one that could not be recorded), the
 * run asks no more: more calls would only harm.
 */
const MAX_FAILURES = 5;
/** How long to wait for a payment: a check holds it for half a minute at most. */
const MAX_WAIT_MS = 35_000;

/**
 * Asks the service about payments, each by a call of its own and at most `concurrency` at a time, and lets
 * confirmation act on the answers. An answer that cannot be recorded does not end the run. The history
 * releases nothing: confirmation decides whether money came.
 */
export async function verifyPayments(
  { database, mode, confirm, logger, concurrency }: VerifyParts,
  references: readonly Reference[],
  onProgress?: (progress: Progress) => void,
  signal?: AbortSignal,
): Promise<Verified> {
  const answers: Verified['answers'] = [];
  const queue = references.values();
  let problem: string | null = null;
  let failures = 0;
  let isOver = false;

  async function ask(reference: Reference): Promise<void> {
    const payment = await leaseWhenFree({ database, mode }, reference, MAX_WAIT_MS, signal);
    if (payment === null) {
      problem = 'not every payment could be verified: another check of one does not end';
      return;
    }
    try {
      const { released, outcome } = await confirm(payment, 'reconciliation');
      answers.push({ reference, hasReleased: released, outcome });
      failures = 0;
    } catch (error) {
      await endLease(database, reference);
      const isAway = error instanceof GatewayUnavailable || error instanceof GatewayKeyRefused;
      const reason = (error as Error).message;
      logger[isAway ? 'warn' : 'error'](
        { reference, orderId: payment.orderId, ...(isAway ? { reason } : { err: error }) },
        'payment not verified',
      );
      problem = `not every payment could be verified: ${isAway ? reason : 'an answer could not be recorded'}`;
      failures += 1;
      isOver ||= error instanceof GatewayKeyRefused || failures >= MAX_FAILURES;
    }
    onProgress?.({ step: 'verify', done: answers.length, total: references.length });
  }

  async function work(): Promise<void> {
    for (const reference of queue) {
      if (isOver) return;
      if (signal?.aborted === true) {
        problem = 'the run was stopped';
        return;
      }
      await ask(reference);
    }
  }

  await Promise.all(Array.from({ length: Math.max(concurrency, 1) }, work));
  return { answers, problem };
}
