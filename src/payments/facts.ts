import { historyLeaves, positionOf, type Position } from '../ledger/position.ts';
import { figuresOf, ledgerOf } from '../ledger/stored.ts';
import { ledgerIn, type Change, type Dossier, type DossierPayment } from './change.ts';

/** The position of a payment's ledger in a currency. */
export function positionIn({ terms }: Change, payment: DossierPayment, currency: string): Position {
  return positionOf(ledgerIn(payment, currency), terms.lagMin);
}

/** The balance that an answer of verify shows in a currency: 0 if it speaks of none. */
export function shownIn(answer: { currency: string | null; shows: bigint | null }, currency: string): bigint {
  return answer.currency === currency ? (answer.shows ?? 0n) : 0n;
}

/** These decide nothing about the money of a payment: it may still pay its order by itself. */
const UNDECIDED: readonly (string | null)[] = [null, 'explain', 'ask-rest'];

/** A person has decided what the money is for. */
export function isDecided({ cases }: DossierPayment): boolean {
  return cases.some(({ decision }) => !UNDECIDED.includes(decision));
}

export function hasHeldMoney({ ledgers }: DossierPayment): boolean {
  return ledgers.some((row) => figuresOf(ledgerOf(row)).held > 0n);
}

export function hasOpenCase({ cases }: DossierPayment): boolean {
  return cases.some(({ closedAt }) => closedAt === null);
}

type WithProof = { proof: { payments: readonly { reference: string }[] } | null };

/** The payment is one of those that paid the order. */
export function isInProof({ proof }: WithProof, reference: string): boolean {
  return proof?.payments.some((one) => one.reference === reference) === true;
}

/**
 * The part payment that a payment is, in minor units of the order's currency; 0: it is none. A person asked the customer
 * to pay the rest of an underpaid order. Until the order is paid or ends, the money stays held and no case is open about
 * it. It counts only while verify's newest answer shows all of it, undoubted, and the history leaves all of it.
 */
export function partPaymentOf({ amount, currency, proof, endedAt }: Dossier, payment: DossierPayment): bigint {
  const isAsked = payment.cases.some((one) => one.decision === 'ask-rest' && one.currency === currency);
  const isOpen = proof === null && endedAt === null;
  const [newest] = payment.verifications;
  if (!isAsked || !isOpen || isDecided(payment) || newest?.outcome !== 'paid' || newest.doubt !== null) return 0n;
  const ledger = ledgerIn(payment, currency);
  const { held } = positionOf(ledger, 0);
  const isWhole = shownIn(newest, currency) === held && historyLeaves(ledger, held);
  return isWhole && held < amount ? held : 0n;
}

/** All part payments of an order, in minor units. */
export function partPaid(dossier: Dossier): bigint {
  return dossier.payments.reduce((total, payment) => total + partPaymentOf(dossier, payment), 0n);
}

/** What a payment would have to show so that the order is paid: the price without the part payments of the others. */
export function dueFrom(dossier: Dossier, payment: DossierPayment): bigint {
  const due = dossier.amount - (partPaid(dossier) - partPaymentOf(dossier, payment));
  return due > 0n ? due : 0n;
}

/** Where an order stands, as the rules about one of its payments look at it. Null: the payment is unmatched. */
export function orderFacts(dossier: Dossier, payment: DossierPayment) {
  const { id, amount, currency, proof, endedAt } = dossier;
  const due = dueFrom(dossier, payment);
  return id === '' ? null : { amount, due, currency, isPaid: proof !== null, isEnded: endedAt !== null };
}
