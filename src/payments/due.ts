import type { Logger } from 'pino';
import { Unanswered } from '../gateway/errors.ts';
import type { Evidence } from '../gateway/evidence.ts';
import { startCrew, type Loop } from '../platform/loop.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import { AGGREGATE, partPaymentOf, type AggregatePayment, type Policy } from './aggregate.ts';
import type { Alongside, Confirm, Lease } from './confirm.ts';
import { NOTIFICATION_PAUSES_SEC } from './schedule.ts';

/** Checks of one process at once; the calls have their own limits. */
const CHECKS_AT_ONCE = 16;
/** What another process made due is found this late at most. */
const LOOK_EVERY_MS = 500;

export type AskParts = { prisma: PrismaClient; policy: Policy; confirm: Confirm };

/**
 * Takes the right to ask about a payment.
 * @returns null while somebody has it, or it is not ours
 */
export async function lease(parts: AskParts, reference: string, cause: Lease['cause']): Promise<Lease | null> {
  const { prisma, policy } = parts;
  // The database's clock alone decides: processes disagree about the time. A lease that ends later
  // than a lease can was written before that clock was set back, and counts as ended. A return is a
  // notification, and is followed up like one.
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
const WAIT_STEPS = 20;

/**
 * Asks about a payment before a person's act or a deadline; waits a little for a question that is
 * under way.
 * @returns whether a readable answer was written
 */
export async function askNow(
  parts: AskParts,
  reference: string,
  cause: Lease['cause'],
  alongside?: Alongside,
): Promise<boolean> {
  const priority = cause === 'deadline' || cause === 'reconciliation' ? 'background' : 'interactive';
  for (let step = 0; step < WAIT_STEPS; step += 1) {
    const taken = await lease(parts, reference, cause);
    if (taken !== null) {
      const answer = await parts.confirm(taken, priority, undefined, alongside);
      return answer !== null && answer !== 'unreadable';
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
  }
  return false;
}

/**
 * Verifies the part payments of an order before another payment may complete its price. They were
 * verified days ago perhaps, and a chargeback since then must not be captured.
 * @throws {Unanswered} one of them could not be verified: the answer is written later
 */
export async function verifyPartPayments(
  parts: AskParts,
  { reference, orderId }: Lease,
  { outcome, balance }: Evidence,
): Promise<void> {
  const aggregate = await parts.prisma.order.findUniqueOrThrow({ where: { id: orderId }, include: AGGREGATE });
  const isWholePrice = balance !== null && balance >= aggregate.amount;
  const isPartPayment = (one: AggregatePayment): boolean => partPaymentOf(aggregate, one) > 0n;
  const own = aggregate.payments.find((one) => one.reference === reference);
  if (outcome !== 'paid' || isWholePrice || own === undefined || isPartPayment(own)) return;
  for (const { reference: part } of aggregate.payments.filter(isPartPayment))
    if (!(await askNow(parts, part, 'schedule')))
      throw new Unanswered('a part payment of its order could not be verified', { sent: false });
}

/**
 * Leases due payments in this order: new signed webhooks, other notifications, then the schedule by
 * time. Thousands of abandoned payments therefore do not delay a shopper who has just paid. If a
 * process dies, its leases expire.
 */
async function leaseDue(prisma: PrismaClient, mode: Mode, limit: number): Promise<Lease[]> {
  // SKIP LOCKED: many processes take what is due, and none waits for another.
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
 * A webhook or a return names payments: those that are ours become due, at once or after a pause.
 * It proves nothing, and a flood of repeated notifications costs few questions.
 * @param isNews a signed body that was not seen before: it is followed at once, whatever came
 * before it
 * @param most so many payments of ours become due
 * @returns the references that are ours
 */
export async function makeDue(
  prisma: PrismaClient,
  mode: Mode,
  references: readonly string[],
  { isNews = false, most = 100 } = {},
): Promise<string[]> {
  if (references.length === 0) return [];
  // afterNotification of schedule.ts by the database's clock; arrays begin at 1, and least and
  // greatest pass over NULL: what no check awaits becomes due, too. An answer of the future was
  // stored before the clock was set back: it delays nothing. Locked in the order in which lockOrder
  // does.
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

/** Asks about what is due, for ever. */
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
