import { digestOf, isSameDigest } from '../platform/ids.ts';
import { formatMajor } from '../platform/money.ts';
import type { Refund } from '../platform/prisma/client.ts';
import { changeOrder } from './change-order.ts';
import { moneyOf, record, release, setMoney, tell, type Change, type DossierPayment } from './change.ts';
import { findingsOf, holdOf } from './conclude.ts';
import { askNow, type AskParts } from './due.ts';
import { grow, standingOf } from './money.ts';

export type ActParts = AskParts & { onMessage: () => void };

type Refunding = Pick<Refund, 'amount' | 'reason' | 'externalId' | 'elsewhere' | 'by'>;
/** `differs`: the externalId stands for another refund. `left`: how much can still be refunded, in minor units. */
export type Refunded =
  | { outcome: 'refunded'; refund: Refund }
  | { outcome: 'not-paid' }
  | { outcome: 'differs' }
  | { outcome: 'too-much'; left: bigint };

/**
 * Writes down that a part of a paid order's money was given back. Nothing here moves money. A refund with an externalId
 * may be repeated: it is written once.
 */
export async function refundOrder(parts: ActParts, orderId: string, request: Refunding): Promise<Refunded> {
  const refunded = await changeOrder(parts, orderId, request.by, (change) => refund(change, request));
  return refunded ?? { outcome: 'not-paid' };
}

async function refund(change: Change, { by, ...request }: Refunding): Promise<Refunded> {
  const { tx, dossier } = change;
  const { amount, elsewhere, externalId, reason } = request;
  const { id: orderId, currency } = dossier;
  const before =
    externalId === null ? null : await tx.refund.findUnique({ where: { orderId_externalId: { orderId, externalId } } });
  if (before !== null)
    return before.amount === amount && before.elsewhere === elsewhere
      ? { outcome: 'refunded', refund: before }
      : { outcome: 'differs' };
  const payment = dossier.payments.find(({ reference }) => reference === dossier.release?.reference);
  if (payment === undefined) return { outcome: 'not-paid' };
  const money = moneyOf(payment, currency);
  const left = money.earned - money.refunded - money.lost;
  if (amount > left) return { outcome: 'too-much', left };
  const refund = await tx.refund.create({ data: { orderId, amount, elsewhere, reason, externalId, by } });
  const growth = { refunded: amount, ...(elsewhere && { refundedElsewhere: amount }) };
  setMoney(change, payment, money, grow(money, growth), 'refunded', { refund: String(refund.id), reason });
  tell(change, 'order.refunded', {
    refund: { id: String(refund.id), amount: formatMajor({ amount, currency }), externalId, elsewhere, reason },
  });
  return { outcome: 'refunded', refund };
}

/** `changed`: the case is not any more what the person saw. `not-allowed`: with the reason, a sentence. */
export type Accepted =
  | { outcome: 'accepted' }
  | { outcome: 'unknown-case' }
  | { outcome: 'changed' }
  | { outcome: 'not-allowed'; why: string };

/**
 * A person accepts held money as the payment of its order, be it too little or doubtful. Verify is asked first, and
 * must
 * show all of it.
 * @param seen the digest of the case that the person saw
 */
export async function acceptCase(
  parts: ActParts,
  id: bigint,
  by: string,
  note: string,
  seen: Uint8Array,
): Promise<Accepted> {
  const found = await parts.prisma.case.findUnique({ where: { id } });
  if (found?.orderId == null) return { outcome: 'unknown-case' };
  const { orderId, reference } = found;
  if (!(await askNow(parts, reference, 'person')))
    return { outcome: 'not-allowed', why: 'verify must show the money first, and it could not be asked' };
  const accepted = await changeOrder(parts, orderId, by, async (change): Promise<Accepted> => {
    const payment = change.dossier.payments.find((one) => one.reference === reference);
    const open = payment?.cases.find((one) => one.id === id && one.closedAt === null);
    if (payment === undefined || open === undefined || !isSameDigest(open.digest, seen)) return { outcome: 'changed' };
    const why = await whyNotAccepted(change, payment, open.currency);
    if (why !== null) return { outcome: 'not-allowed', why };
    await accept(change, payment, id, by, note);
    return { outcome: 'accepted' };
  });
  parts.onMessage();
  return accepted ?? { outcome: 'unknown-case' };
}

async function whyNotAccepted(
  { tx, dossier }: Change,
  payment: DossierPayment,
  currency: string,
): Promise<string | null> {
  const { held } = standingOf(moneyOf(payment, currency));
  const [newest] = payment.verifications;
  if (held === 0n) return 'nothing is held';
  if (currency !== dossier.currency) return 'it came in another currency than the order’s';
  if (dossier.release !== null) return 'the order is paid';
  if (dossier.endedAt !== null) return 'the order has ended: reopen it first';
  if (newest?.currency !== currency || (newest.shows ?? 0n) < held) return 'verify does not show all of it';
  const { serviceId } = newest;
  const used =
    serviceId && (await tx.release.findUnique({ where: { mode_serviceId: { mode: dossier.mode, serviceId } } }));
  return used ? `the service’s id of it has paid the order ${used.orderId}` : null;
}

async function accept(change: Change, payment: DossierPayment, id: bigint, by: string, note: string): Promise<void> {
  const { tx, dossier, now } = change;
  const { currency } = dossier;
  const [proof] = payment.verifications;
  if (proof === undefined) throw new Error('verify shows money without an answer');
  const money = moneyOf(payment, currency);
  const { held } = standingOf(money);
  setMoney(change, payment, money, grow(money, { earned: held }), 'accepted', { note });
  await release(change, payment, held, { verificationId: proof.id, serviceId: proof.serviceId, acceptedBy: by, note });
  // It covers what it leaves, computed after its effect.
  const [left] = findingsOf(change, payment, moneyOf(payment, currency));
  const decided = {
    decision: 'accept',
    covers: left?.digest ?? digestOf('nothing is left'),
    closedAt: now,
    closedBy: by,
    note,
  };
  const closed = await tx.case.update({ where: { id }, data: decided });
  payment.cases = payment.cases.map((one) => (one.id === id ? closed : one));
}

/** `held`: its money is missing, and the person did not say that it goes all the same. */
export type Resent = 'sent' | 'held' | 'unknown-message';

/**
 * Sends a message again, under the same id. Whether `order.paid` may go is judged at this moment, sent before or not.
 * @param despite why it goes although money is missing; null: then it does not
 */
export async function resendMessage(parts: ActParts, id: string, by: string, despite: string | null): Promise<Resent> {
  const found = await parts.prisma.message.findUnique({ where: { id }, select: { orderId: true, type: true } });
  if (found?.orderId == null) return 'unknown-message';
  const resent = await changeOrder(parts, found.orderId, by, async (change): Promise<Resent> => {
    const { tx, dossier, now } = change;
    const hold = found.type === 'order.paid' ? holdOf(change) : null;
    if (hold !== null && despite === null) return 'held';
    const liftedBy = hold === null ? null : by;
    const again = { heldBy: null, liftedBy, sentAt: null, tries: 0, firstTryAt: null, nextTryAt: now };
    const sent = await tx.message.update({ where: { id }, data: again });
    dossier.messages = dossier.messages.map((one) => (one.id === id ? sent : one));
    record(change, 'message sent again', null, { message: id, hold, despite });
    return 'sent';
  });
  parts.onMessage();
  return resent ?? 'unknown-message';
}
