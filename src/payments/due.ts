import type { Logger } from 'pino';
import { Unanswered } from '../gateway/errors.ts';
import type { Evidence } from '../gateway/evidence.ts';
import type { Priority } from '../gateway/traffic.ts';
import { startCrew, type Loop } from '../platform/loop.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { AGGREGATE, dueFrom, partPaymentOf, type Policy } from './aggregate.ts';
import type { Alongside, Confirm, Lease } from './confirm.ts';
import { NOTIFICATION_PAUSES_SEC } from './schedule.ts';

/** Verifications that one process makes at once. Calls to the service have their own limits. */
const CHECKS_AT_ONCE = 16;
/** A payment that another process made due is found at most this late. */
const LOOK_EVERY_MS = 500;

export type AskParts = { prisma: PrismaClient; policy: Policy; confirm: Confirm };

/**
 * Takes the exclusive right to verify a payment.
 * @returns null if another process has it, or the payment is not ours
 */
export async function lease(parts: AskParts, reference: string, cause: Lease['cause']): Promise<Lease | null> {
  const { prisma, policy } = parts;
  // Only the database's clock counts, because the clocks of processes differ. A lease that ends
  // later than a lease can was written before that clock was set back, and counts as ended. A
  // return is a notification, and is followed up like one.
  const [row] = await prisma.$queryRaw<Omit<Lease, 'cause'>[]>`
    UPDATE payments SET leased_until = clock_timestamp() + interval '30 seconds',
      notified_at = CASE WHEN ${cause === 'return'} THEN clock_timestamp() ELSE notified_at END,
      next_check_at = CASE WHEN ${cause === 'return'} THEN coalesce(next_check_at, clock_timestamp())
        ELSE next_check_at END
    WHERE reference = ${reference} AND mode = ${policy.mode}::mode AND order_id IS NOT NULL
      AND (leased_until IS NULL
        OR leased_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '31 seconds')
    RETURNING reference, order_id AS "orderId", leased_until AS "leasedUntil", clock_timestamp() AS "askedAt",
      (SELECT part_paid > 0 FROM orders WHERE id = order_id) AS "isRestDue"`;
  return row === undefined ? null : { ...row, cause };
}

const WAIT_STEP_MS = 250;
const WAIT_MS = 5_000;
/**
 * Milliseconds that remain for a call after the wait for another process. Most services answer
 * within them, and a shopper hardly notices them.
 */
const MIN_CALL_MS = 500;

type Asking = {
  /** Of the call. Left out: it follows from the cause. */
  priority?: Priority;
  alongside?: Alongside | undefined;
  /** Milliseconds for the wait and the call together. */
  withinMs?: number | undefined;
  isNested?: boolean;
};

/**
 * Verifies a payment now, for example before a person's decision or a deadline. If another process
 * is verifying it, this waits for up to five seconds.
 * @returns whether a readable answer was stored
 */
export async function askNow(
  parts: AskParts,
  reference: string,
  cause: Lease['cause'],
  { alongside, withinMs, isNested = false, ...asked }: Asking = {},
): Promise<boolean> {
  const usual = cause === 'deadline' || cause === 'reconciliation' ? 'background' : 'interactive';
  const priority = asked.priority ?? usual;
  const begun = performance.now();
  const endMs = begun + Math.min(WAIT_MS, withinMs ?? WAIT_MS);
  do {
    const taken = await lease(parts, reference, cause);
    if (taken !== null) {
      const waitedMs = performance.now() - begun;
      const leftMs = withinMs === undefined ? undefined : Math.max(MIN_CALL_MS, withinMs - waitedMs);
      const answer = await parts.confirm({ ...taken, isNested }, priority, leftMs, alongside);
      return answer !== null && answer !== 'unreadable';
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
  } while (performance.now() < endMs);
  return false;
}

/**
 * Verifies the other part payments of an order before a payment completes its price, or before a
 * person's decision that may. Their newest answers may be days old, and a chargeback since then must
 * not be captured. The nested verifications verify no further payment, so two part payments never
 * wait for each other.
 * @param withinMs milliseconds for the calls, which are made at the same time
 * @throws {Unanswered} one of them could not be verified: the answer is written later
 */
export async function verifyPartPayments(
  parts: AskParts,
  { reference, orderId, cause }: Lease,
  { outcome, balance }: Evidence,
  { priority, withinMs }: Pick<Asking, 'priority' | 'withinMs'>,
): Promise<void> {
  const aggregate = await parts.prisma.order.findUniqueOrThrow({ where: { id: orderId }, include: AGGREGATE });
  const own = aggregate.payments.find((one) => one.reference === reference);
  // The whole price pays the order alone. Any other amount is held, and a person decides about it.
  const isRest = own !== undefined && balance === dueFrom(aggregate, own) && balance !== aggregate.amount;
  if (cause !== 'person' && !(outcome === 'paid' && isRest)) return;
  const others = aggregate.payments.filter((one) => one !== own && partPaymentOf(aggregate, one) > 0n);
  const asking = others.map((one) => askNow(parts, one.reference, 'schedule', { priority, withinMs, isNested: true }));
  if ((await Promise.all(asking)).includes(false))
    throw new Unanswered('a part payment of its order could not be verified', { sent: false });
}

/**
 * Leases due payments in this order: new signed webhooks, other notifications, then the schedule by
 * time. So thousands of abandoned payments do not delay a shopper who has just paid. If a process
 * dies, its leases expire.
 */
async function leaseDue(prisma: PrismaClient, mode: Mode, limit: number): Promise<Lease[]> {
  // SKIP LOCKED: several processes lease due payments, and none waits for another.
  const rows = await prisma.$queryRaw<(Omit<Lease, 'cause'> & { isNotified: boolean })[]>`
    UPDATE payments SET leased_until = clock_timestamp() + interval '30 seconds'
    WHERE reference IN (
      SELECT reference FROM payments
      WHERE next_check_at <= clock_timestamp() AND mode = ${mode}::mode AND order_id IS NOT NULL
        AND (leased_until IS NULL
          OR leased_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '31 seconds')
      ORDER BY NOT signed_notification, notified_at IS NULL, next_check_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING reference, order_id AS "orderId", leased_until AS "leasedUntil", clock_timestamp() AS "askedAt",
      (SELECT part_paid > 0 FROM orders WHERE id = order_id) AS "isRestDue",
      notified_at IS NOT NULL AS "isNotified"`;
  return rows.map(({ isNotified, ...row }) => ({ ...row, cause: isNotified ? 'notification' : 'schedule' }));
}

/**
 * Makes the payments due that a webhook or a return names, at once or after a pause. The
 * notification proves nothing, and a flood of repetitions costs few verifications.
 * @param isNews a signed webhook with a new body: it is followed at once
 * @param most at most this many payments become due
 * @returns the references that are ours
 */
export async function makeDue(
  prisma: PrismaClient,
  mode: Mode,
  references: readonly string[],
  { isNews = false, most = 100 } = {},
): Promise<string[]> {
  if (references.length === 0) return [];
  // This is `afterNotification` of schedule.ts by the database's clock. Arrays begin at 1. `least`
  // and `greatest` ignore NULL, so a payment without a next check becomes due, too. An answer of
  // the future was stored before the clock was set back, and delays nothing. Rows are locked in the
  // same order as in `lockOrder`.
  const ours = await prisma.$queryRaw<{ reference: string }[]>`
    UPDATE payments SET notified_at = clock_timestamp(), signed_notification = signed_notification OR ${isNews},
      quiet_checks = CASE WHEN ${isNews} THEN 0 ELSE quiet_checks END,
      next_check_at = least(next_check_at, CASE WHEN ${isNews} THEN clock_timestamp() ELSE greatest(
        clock_timestamp() + make_interval(secs => CASE WHEN failures < 3 THEN 0 ELSE 10 END),
        least(answered_at, clock_timestamp())
          + make_interval(secs => (${NOTIFICATION_PAUSES_SEC}::int[])[least(quiet_checks + 1, ${NOTIFICATION_PAUSES_SEC.length}::int)])) END)
    WHERE reference IN (
      SELECT reference FROM payments
      WHERE reference = ANY(${references}) AND mode = ${mode}::mode AND order_id IS NOT NULL
      ORDER BY reference LIMIT ${most} FOR NO KEY UPDATE)
    RETURNING reference`;
  return ours.map(({ reference }) => reference);
}

/** Verifies due payments until the loop is stopped. */
export function startDueLoop({ prisma, policy, confirm }: AskParts, logger: Logger): Loop {
  return startCrew({
    name: 'due payments',
    atOnce: CHECKS_AT_ONCE,
    claim: (limit) => leaseDue(prisma, policy.mode, limit),
    work: (due) => confirm(due, 'background'),
    pauseMs: LOOK_EVERY_MS,
    logger,
  });
}
