import { book } from '../ledger/ledger.ts';
import { isVerifiedWithin, ledgerIn, partPaymentOf, type AggregatePayment } from './aggregate.ts';
import { record, setLedger, setOrder, setPayment, tell, type Change } from './change.ts';
import { nextRecheck } from './schedule.ts';

/** The person who accepted the money, and why. */
type Accepted = { by: string; note: string };

/**
 * Marks the order paid, which is final, and stores the proof. It also captures the order's part
 * payments. Only they and `payment` contribute. If the caller passes wrong figures, the database's
 * keys refuse the rows.
 * @param payment its money completes the price. The caller has captured `amount` of it, in minor
 * units
 * @param amount if it is the whole price, part payments are not needed and stay held
 * @param accepted null: verify shows exactly what each payment contributes
 */
export function markPaid(change: Change, payment: AggregatePayment, amount: bigint, accepted: Accepted | null): void {
  const { aggregate, now, rows } = change;
  const { id: orderId, mode, amount: price, currency } = aggregate;
  const { reference } = payment;
  const parts = amount < price ? capturePartPayments(change, payment) : [];
  const payments = [...parts, contributionOf(change, payment, amount, accepted === null)];
  const total = payments.reduce((sum, one) => sum + one.amount, 0n);
  const proof = { orderId, mode, reference, price, currency, amount: total, at: now };
  const acceptance = { acceptedBy: accepted?.by ?? null, note: accepted?.note ?? null };
  aggregate.proof = { ...proof, ...acceptance, payments };
  rows.proofs.push(aggregate.proof);
  rows.proofPayments.push(...payments);
  setOrder(change, { paidReference: reference, paidAt: now });
  record(change, 'marked paid', reference, { verifications: payments.map((one) => String(one.verificationId)) });
  tell(change, 'order.paid');
}

/**
 * Held money pays an order only if verify was asked about it within this time. It is longer than a
 * lease, so that several payments of an order can be verified before.
 */
export const FRESH_MS = 60_000;

/**
 * Some part payment that would be captured beside `amount` was not verified just now, so it may
 * have been charged back.
 */
export function hasStalePart({ aggregate, now }: Change, payment: AggregatePayment, amount: bigint): boolean {
  if (amount >= aggregate.amount) return false;
  const isStale = (one: AggregatePayment): boolean => !isVerifiedWithin(one, now, FRESH_MS);
  return aggregate.payments.some((one) => one !== payment && partPaymentOf(aggregate, one) > 0n && isStale(one));
}

type ProofPayment = NonNullable<Change['aggregate']['proof']>['payments'][number];

function capturePartPayments(change: Change, last: AggregatePayment): ProofPayment[] {
  const { aggregate, now } = change;
  const parts = aggregate.payments
    .filter((one) => one !== last)
    .map((payment) => ({ payment, amount: partPaymentOf(aggregate, payment) }))
    .filter(({ amount }) => amount > 0n);
  return parts.map(({ payment, amount }) => {
    const ledger = book(ledgerIn(payment, aggregate.currency), { captured: amount }, now);
    setLedger(change, payment, aggregate.currency, ledger, { what: 'captured' });
    // It is verified again at the ages of a paid order.
    setPayment(change, payment, { nextCheckAt: payment.nextCheckAt ?? nextRecheck(now, now) });
    return contributionOf(change, payment, amount, true);
  });
}

/**
 * @param isShown verify's newest answer shows exactly this amount, and the row names it as its
 * evidence
 */
function contributionOf(change: Change, payment: AggregatePayment, amount: bigint, isShown: boolean): ProofPayment {
  const { id: orderId, mode, currency } = change.aggregate;
  const [answer] = payment.verifications;
  if (answer === undefined) throw new Error(`${payment.reference} has no answer of verify that could prove it`);
  return {
    reference: payment.reference,
    orderId,
    mode,
    currency,
    amount,
    verificationId: answer.id,
    shown: isShown ? 'paid' : null,
    shownAmount: isShown ? amount : null,
    serviceId: answer.serviceId,
    verification: { doubt: answer.doubt },
  };
}
