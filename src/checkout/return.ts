import { makeDue, lease, type AskParts } from '../payments/due.ts';

/**
 * A shopper waits for six seconds in all. Then the order is shown as stored, and verified in
 * the background.
 */
const RETURN_MS = 6_000;
/** The minimum time for one verify call. */
const QUESTION_MS = 1_000;
const STEP_MS = 150;

export type Returned = { orderId: string; status: string; returnUrl: string | null };

type ReturnParts = AskParts & { onDue: () => void };

/**
 * Handles the shopper's return from the hosted page. The redirect proves nothing: we verify the
 * payment, at most once, unless another process is verifying it.
 * @param mayAsk false: the client exceeded its limit. Nothing is verified, and nothing becomes due
 * @returns null for a reference that is not ours
 */
export async function returnFromCheckout(
  { onDue, ...parts }: ReturnParts,
  reference: string,
  mayAsk: boolean,
): Promise<Returned | null> {
  const { prisma, confirm } = parts;
  const { mode } = parts.policy;
  const deadline = performance.now() + RETURN_MS;
  const payment = await prisma.payment.findUnique({ where: { reference, mode } });
  if (payment?.orderId == null) return null;
  const isSettled = payment.status === 'paid';
  // After notifications without news, we pause, as for webhooks. Reloading the page then cannot
  // flood the service with verify calls.
  if (mayAsk && !isSettled && payment.quietChecks < 3 && payment.failures < 3) {
    while (performance.now() < deadline - QUESTION_MS) {
      const taken = await lease(parts, reference, 'return');
      if (taken !== null) {
        await confirm(taken, 'interactive', Math.max(QUESTION_MS, deadline - performance.now()));
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      const other = await prisma.payment.findUnique({ where: { reference } });
      if (other?.answeredAt?.getTime() !== payment.answeredAt?.getTime()) break;
    }
  } else if (mayAsk && !isSettled) {
    await makeDue(prisma, mode, [reference]);
    onDue();
  }
  const { id, status, returnUrl } = await prisma.order.findUniqueOrThrow({ where: { id: payment.orderId } });
  return { orderId: id, status, returnUrl };
}
