import { sleep } from '../../src/platform/clock.ts';
import { formatMajor } from '../../src/platform/money.ts';
import { verifyPath } from '../../src/gateway/messages.ts';
import { classOf } from './conclude-words.ts';
import type { Said } from './line.ts';
import type { ObserveParts, Observed, Sent } from './observed.ts';
import { changedWords } from './places.ts';

const LOOK_MS = 1_000;

type Paid = Pick<Observed, 'after' | 'isSaidPaid'>;

/**
 * Shows a person where to pay and asks verify until its words have changed and stay as they are. That they changed is
 * seen; that they mean "paid" is what the person says.
 */
export async function awaitPayment(
  parts: ObserveParts,
  payment: Sent,
  address: string | null,
): Promise<Paid> {
  const { line, person, clock, waitMs, money, dialect } = parts;
  if (waitMs === null) return { after: null, isSaidPaid: false };
  const over = new AbortController();
  const told = { isOver: false, isSaidPaid: false };
  const amount = `${formatMajor({ ...money, amount: payment.amount })} ${money.currency}`;
  const saying = person.pays({ address, amount }, over.signal).then((isSaidPaid) => {
    Object.assign(told, { isOver: true, isSaidPaid });
  });
  const end = clock.elapsedMs() + waitMs;
  let last: Said = payment.before;
  for (;;) {
    const said = await line.ask({
      name: 'verify after paying',
      method: 'GET',
      path: verifyPath(payment.reference),
    });
    const fresh = changedWords(payment.before.json, said.json);
    const isFinal =
      fresh.some((word) => classOf(dialect, word) !== 'pending') &&
      changedWords(last.json, said.json).length === 0;
    last = said;
    if ((isFinal && told.isOver) || clock.elapsedMs() > end) break;
    const sec = Math.max(Math.ceil((end - clock.elapsedMs()) / 1_000), 0);
    person.sees(
      `waiting for the payment, ${String(sec)} s left; verify says ${fresh.join(', ') || 'the same as before'}`,
    );
    await sleep(LOOK_MS);
  }
  over.abort();
  await saying;
  return { after: last, isSaidPaid: told.isSaidPaid };
}
