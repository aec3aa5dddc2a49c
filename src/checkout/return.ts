import { makeDue, lease, type AskParts } from '../payments/due.ts';

/**
 * A shopper waits: six seconds in all, then the order is shown as it stands and asked about in the
 * background.
 */
const RETURN_MS = 6_000;
/** The least that a question gets of it. */
const QUESTION_MS = 1_000;
const STEP_MS = 150;

export type Returned = { orderId: string; status: string; returnUrl: string | null };

type ReturnParts = AskParts & { onDue: () => void };

/**
 * The shopper is back from the hosted page. Nothing that the redirect says is believed: verify is
 * asked, at most once, unless somebody else is asking already.
 * @param mayAsk false: beyond the limits the order is shown as it stands, and nothing becomes due
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
  // A notification that teaches nothing is followed by pauses, as a webhook is: a page that is
  // loaded again asks no flood.
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
