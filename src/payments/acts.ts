import { lockOrder } from '../orders/order.ts';
import { transact } from '../platform/db.ts';
import { formatMajor } from '../platform/money.ts';
import type { Refund } from '../platform/prisma/client.ts';
import { changeOrder } from './change-order.ts';
import { refundableOf, refundableOfAll } from '../ledger/books.ts';
import { book } from '../ledger/ledger.ts';
import { goneFrom } from '../ledger/position.ts';
import { max, min } from '../ledger/sources.ts';
import { isInProof, ledgerIn, type Aggregate, type AggregatePayment } from './aggregate.ts';
import { setLedger, tell, type Change } from './change.ts';
import { askNow, type AskParts } from './due.ts';

export type ActParts = AskParts & { onMessage: () => void };

type Refunding = Pick<Refund, 'amount' | 'reason' | 'externalId' | 'elsewhere' | 'by'>;
/**
 * `differs`: the externalId belongs to another refund. `left`: how much can still be refunded, in
 * minor units.
 */
export type Refunded =
  /** `isNew`: it was not booked before. */
  | { outcome: 'refunded'; refund: Refund; isNew: boolean }
  | { outcome: 'not-paid' }
  | { outcome: 'differs' }
  | { outcome: 'too-much'; left: bigint };

/**
 * Books a refund of a paid order's money. Nothing here moves money: the refund itself is made at
 * the service. A refund with an externalId may be repeated and is booked once.
 */
export async function refundOrder(parts: ActParts, orderId: string, request: Refunding): Promise<Refunded> {
  const refunded = await changeOrder(parts, orderId, request.by, (change) => refund(change, request));
  return refunded ?? { outcome: 'not-paid' };
}

function refund(change: Change, request: Refunding): Refunded {
  const { aggregate } = change;
  const { amount, elsewhere, externalId } = request;
  const before = aggregate.refunds.find((one) => externalId !== null && one.externalId === externalId);
  if (before !== undefined)
    return before.amount === amount && before.elsewhere === elsewhere
      ? { outcome: 'refunded', refund: before, isNew: false }
      : { outcome: 'differs' };
  if (isNumberUsed(aggregate, externalId)) return { outcome: 'differs' };
  if (aggregate.proof === null) return { outcome: 'not-paid' };
  const paying = aggregate.payments.filter(({ reference }) => isInProof(aggregate, reference));
  const left = refundableOfAll(paying.map((payment) => ledgerIn(payment, aggregate.currency).books));
  if (amount > left) return { outcome: 'too-much', left };
  const written = writeRefund(change, sharesOf(aggregate, paying, amount), request);
  return { outcome: 'refunded', refund: written, isNew: true };
}

function refundableIn({ currency }: Aggregate, payment: AggregatePayment): bigint {
  return refundableOf(ledgerIn(payment, currency).books);
}

/** The part of a refund that goes back by one payment, in minor units. */
type RefundShare = { payment: AggregatePayment; amount: bigint };

/**
 * Shares a refund among the payments of the order's proof, because nobody names the payment that is
 * refunded. Money that a source reports as gone comes first, then a payment of exactly this amount,
 * and then the newest payments. With 5000 and 3500 captured:
 *
 *   refund   reported as gone    of 5000   of 3500
 *     4000   nothing                 500      3500
 *     4000   4000 of the first      4000         0
 *     5000   nothing                5000         0
 */
function sharesOf(aggregate: Aggregate, paying: readonly AggregatePayment[], amount: bigint): RefundShare[] {
  let open = amount;
  const shares = [...paying].reverse().map((payment) => ({ payment, amount: 0n }));
  const share = (most: (payment: AggregatePayment) => bigint): void => {
    for (const one of shares) {
      const free = min(most(one.payment), refundableIn(aggregate, one.payment)) - one.amount;
      const more = max(0n, min(open, free));
      one.amount += more;
      open -= more;
    }
  };
  share((payment) => goneFrom(ledgerIn(payment, aggregate.currency)));
  const whole = shares.find(({ payment, amount: part }) => refundableIn(aggregate, payment) - part === open);
  share((payment) => (payment === whole?.payment ? refundableIn(aggregate, payment) : 0n));
  share((payment) => refundableIn(aggregate, payment));
  return shares.filter((one) => one.amount > 0n);
}

/** The order already has a refund or a decision with this refund number. */
export const isNumberUsed = ({ payments, refunds }: Aggregate, number: string | null): boolean =>
  number !== null &&
  (refunds.some((one) => one.externalId === number) ||
    payments.some(({ cases }) => cases.some((one) => one.number === number)));

/**
 * Adds a refund of captured money: its row, the ledgers and the message.
 * @param shares they add up to the amount of the refund
 */
export function writeRefund(change: Change, shares: readonly RefundShare[], request: Refunding): Refund {
  const { amount, elsewhere, externalId, reason } = request;
  const { id: orderId, currency } = change.aggregate;
  const refund = { id: change.ids.refund, orderId, ...request, at: change.now };
  change.aggregate.refunds.push(refund);
  change.rows.refunds.push(refund);
  const data = { refund: String(refund.id), reason, number: externalId };
  for (const { payment, amount: part } of shares) {
    const booking = { refunded: part, offProvider: elsewhere ? part : 0n };
    const after = book(ledgerIn(payment, currency), booking, change.now);
    setLedger(change, payment, currency, after, { what: 'refunded', data });
  }
  tell(change, 'order.refunded', {
    refund: { id: String(refund.id), amount: formatMajor({ amount, currency }), externalId, elsewhere, reason },
  });
  return refund;
}

export type Adopted = 'adopted' | 'unknown-reference' | 'unknown-order' | 'other-currency' | 'decided';

/**
 * Assigns an unmatched payment to an order, because a person says so. Verify then decides whether
 * it pays the order.
 */
export async function adopt(parts: ActParts, reference: string, orderId: string, by: string): Promise<Adopted> {
  const { prisma, policy } = parts;
  const adopted = await transact(prisma, async (tx): Promise<Adopted> => {
    if ((await lockOrder(tx, policy.mode, orderId)) === null) return 'unknown-order';
    const { amount, currency } = await tx.order.findUniqueOrThrow({ where: { id: orderId } });
    // This write changes nothing. It takes the row lock, so that a decision being made now ends
    // first.
    const unmatched = { reference, mode: policy.mode, orderId: null, ledgers: { some: {} } };
    const { count } = await tx.payment.updateMany({ where: unmatched, data: { nextCheckAt: null } });
    if (count === 0) return 'unknown-reference';
    if ((await tx.case.count({ where: { reference, decision: { not: null } } })) > 0) return 'decided';
    if ((await tx.ledger.count({ where: { reference, currency: { not: currency } } })) > 0) return 'other-currency';
    const payment = { orderId, amount, currency, status: 'open' as const, nextCheckAt: new Date() };
    await tx.payment.update({ where: { reference }, data: payment });
    await tx.case.updateMany({ where: { reference }, data: { orderId } });
    await tx.order.update({ where: { id: orderId }, data: { updatedAt: new Date() } });
    await tx.journalEntry.create({ data: { orderId, reference, what: 'adopted', by } });
    return 'adopted';
  });
  if (adopted === 'adopted') await askNow(parts, reference, 'person');
  parts.onMessage();
  return adopted;
}
