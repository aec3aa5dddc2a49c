import type { CaseClass } from '../cases/classes.ts';
import { effectOf, type Decision } from '../cases/decisions.ts';
import { showsIn } from '../cases/predicate.ts';
import { isNumberUsed, writeRefund, type ActParts } from '../payments/acts.ts';
import { changeOrder, changeStranger } from '../payments/change-order.ts';
import { moneyOf, record, release, setCase, setMoney, setOrder } from '../payments/change.ts';
import type { Change, DossierPayment } from '../payments/change.ts';
import { findingOf, findingsOf, hasHeldMoney, NOTHING_LEFT, orderFacts } from '../payments/conclude.ts';
import { findPaidBy } from '../payments/confirm.ts';
import { askNow } from '../payments/due.ts';
import { grow, standingOf } from '../payments/money.ts';
import { isSameDigest } from '../platform/ids.ts';
import type { Case } from '../platform/prisma/client.ts';
import { UserFacingError } from '../platform/user-facing-error.ts';

type Texts = Record<'by' | 'note', string>;
/** `number`: of the refund. `seen`: the digest of the case that the person saw. */
type Deciding = Texts & { id: bigint; as: Decision; number: string | null; elsewhere: boolean; seen: Uint8Array };

/**
 * A person decides about a case, once. Verify is asked first where the decision may pay the order.
 * @returns whether the order is paid by it
 * @throws {UserFacingError} why it is not allowed, or that the case is not any more what the person saw
 */
export async function decideCase(parts: ActParts, deciding: Deciding): Promise<boolean> {
  const { id, as, by } = deciding;
  const found = await parts.prisma.case.findUnique({ where: { id, mode: parts.terms.mode } });
  if (found === null) throw refused(id, 'does not exist');
  const mayPay = found.orderId !== null && (as === 'accept' || (as === 'refund' && found.class === 'overpaid'));
  if (mayPay && !(await askNow(parts, found.reference, 'person')))
    throw refused(id, 'is not decided: verify must show the money first, and it could not be asked');
  const { reference, orderId } = found;
  const paidBy = mayPay ? await findOrderPaidBy(parts, reference) : null;
  const work = (change: Change) => decide(change, reference, deciding, paidBy);
  const isPaid = await (orderId === null
    ? changeStranger(parts, reference, by, work)
    : changeOrder(parts, orderId, by, work));
  parts.onMessage();
  if (isPaid === null) throw refused(id, CHANGED);
  return isPaid;
}

/**
 * The order that was paid by the transaction which verify's newest answer names; null: none. One transaction of the
 * service pays one order. If two come at the same moment, the key of `releases` refuses the second.
 */
async function findOrderPaidBy({ prisma, terms }: ActParts, reference: string): Promise<string | null> {
  const where = { reference, outcome: { not: 'unreadable' as const } };
  const newest = await prisma.verification.findFirst({ where, orderBy: { id: 'desc' }, select: { serviceId: true } });
  return newest?.serviceId == null ? null : findPaidBy(prisma, terms.mode, newest.serviceId);
}

const CHANGED = 'is not any more what it was: look at it again';
const refused = (id: bigint, why: string): UserFacingError => new UserFacingError(`case ${id} ${why}`);

function decide(change: Change, reference: string, deciding: Deciding, paidBy: string | null): boolean {
  const { dossier, now } = change;
  const { id, as, by, note, number, elsewhere } = deciding;
  const payment = dossier.payments.find((one) => one.reference === reference);
  const open = payment?.cases.find((one) => one.id === id && one.closedAt === null);
  if (payment === undefined || open === undefined || !isSameDigest(open.digest, deciding.seen))
    throw refused(id, CHANGED);
  const { currency } = open;
  const money = moneyOf(payment, currency);
  const situation = { as, elsewhere, case: open as Case & { class: CaseClass }, money, standing: standingOf(money) };
  const before = findingsOf(change, payment, money);
  const effect = effectOf({ ...situation, ...factsOf(change, payment, currency) });
  if (typeof effect === 'string') throw refused(id, `is not decided: ${effect}`);
  const { growth, releases, ends } = effect;
  if (isNumberUsed(dossier, number))
    throw refused(id, `is not decided: the refund ${number ?? ''} of this order is written down already`);
  const about = { case: String(id), decision: as, note, number };
  record(change, 'decided', reference, about);
  if (growth.refunded) {
    const refund = { amount: growth.refunded, elsewhere: false, reason: note, externalId: number, by };
    writeRefund(change, payment, refund);
  } else setMoney(change, payment, money, grow(money, growth), as === 'accept' ? 'accepted' : 'decided', about);
  const [proof] = payment.verifications;
  if (releases !== null) {
    if (proof === undefined) throw new Error('verify shows money without an answer');
    const { id: verificationId, serviceId } = proof;
    if (paidBy !== null) throw refused(id, `is not decided: the service’s id of it has paid the order ${paidBy}`);
    release(change, payment, releases, { verificationId, serviceId, acceptedBy: by, note });
  }
  const isOpen = dossier.id !== '' && dossier.release === null && dossier.endedAt === null;
  if (ends && isOpen && !dossier.payments.some(hasHeldMoney))
    setOrder(change, { endedAt: now, endedBy: by, endReason: note });
  // It covers what it leaves, computed after its effect, as a decided one: having done what was advised is no new case.
  // But not what stood beside it before, which the person was not shown.
  Object.assign(open, { decision: as, closedAt: now });
  const left = findingOf(change, payment, moneyOf(payment, currency));
  const beside = before.filter(({ digest }) => !isSameDigest(digest, open.digest)).map(({ rule }) => rule);
  const covers = left === undefined || beside.includes(left.rule) ? NOTHING_LEFT : left.digest;
  const closed = { decision: as, covers, closedAt: now, closedBy: by, note, number };
  setCase(change, open, closed);
  return releases !== null;
}

function factsOf({ dossier }: Change, { reference, verifications: [newest] }: DossierPayment, currency: string) {
  const facts = orderFacts(dossier);
  return {
    order: facts && { ...facts, isOurCurrency: currency === facts.currency },
    isReleased: dossier.release?.reference === reference,
    shows: newest ? showsIn(newest, currency) : 0n,
  };
}
