import { refundableOf, type Booking } from '../ledger/books.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { goneFrom, historyBalance, historyLeaves, leftBefore } from '../ledger/position.ts';
import { min } from '../ledger/sources.ts';
import type { CaseClass } from './classes.ts';

export const DECISIONS = ['accept', 'refund', 'keep', 'write-off', 'explain', 'ask-rest'] as const;
export type Decision = (typeof DECISIONS)[number];

/** What a decision is about. */
export type CaseSituation = {
  as: Decision;
  /** Refunded another way than at the provider, which never shows it. */
  elsewhere: boolean;
  case: { class: CaseClass; held: bigint; missing: bigint };
  ledger: Ledger;
  /** Null: the payment is unmatched. */
  order: {
    amount: bigint;
    /** The price without the part payments that other payments hold. */
    due: bigint;
    isPaid: boolean;
    isEnded: boolean;
    isOurCurrency: boolean;
  } | null;
  /** The balance that verify shows in this currency. */
  verifyBalance: bigint;
};

/** What a decision does. */
export type Effect = {
  booking: Booking;
  /** The order becomes paid: `booking.captured` pays it, together with its part payments. */
  marksPaid: boolean;
  /** An unpaid order ends. */
  endsOrder: boolean;
};

const NO_EFFECT: Effect = { booking: {}, marksPaid: false, endsOrder: false };

/**
 * The table of decisions.
 * @returns the effect; or why the decision is not allowed, as in "case 7 is not decided: nothing is
 * held"
 */
export function effectOf(situation: CaseSituation): Effect | string {
  const { as, elsewhere, case: about } = situation;
  const isNotShown = about.class === 'refund_not_shown';
  if (elsewhere && !(as === 'refund' && (about.held > 0n || isNotShown)))
    return 'only held money, or a refund that is not shown, is refunded another way';
  if (as === 'accept') return accept(situation);
  if (as === 'ask-rest') return askRest(situation);
  if (as === 'explain') return explain(situation);
  if (as === 'write-off') return writeOff(situation);
  if (isNotShown) return settleNotShown(situation);
  if (about.held > 0n) return giveUp(situation);
  return as === 'refund' ? refundMissing(situation) : 'no money of this case is held';
}

function accept(situation: CaseSituation): Effect | string {
  const why = whyNotPayable(situation);
  return why ?? { ...NO_EFFECT, booking: { captured: situation.case.held }, marksPaid: true };
}

/** The money stays held, and the order waits for the rest of its price. */
function askRest(situation: CaseSituation): Effect | string {
  if (situation.case.class !== 'underpaid') return 'only the rest of an underpaid order is asked for';
  return whyNotPayable(situation) ?? NO_EFFECT;
}

/** Why the held money can pay nothing of the order now. Null: it can. */
function whyNotPayable({ case: about, ledger, order, verifyBalance }: CaseSituation): string | null {
  const historyShows = historyBalance(ledger);
  if (about.held === 0n) return 'nothing is held';
  if (!isOpen(order)) return 'the order is paid, has ended, or has another currency';
  if (verifyBalance < about.held) return 'verify does not show all of it';
  if (historyShows !== null && historyShows < about.held) return 'the history does not leave all of it';
  return null;
}

function isOpen(order: CaseSituation['order']): boolean {
  return order !== null && order.isOurCurrency && !order.isPaid && !order.isEnded;
}

/**
 * Held money is refunded or kept. Of an overpaid order, what is due pays it and only the surplus
 * goes back.
 */
function giveUp(situation: CaseSituation): Effect {
  const { as, elsewhere, case: about } = situation;
  const captured = as === 'refund' && about.class === 'overpaid' ? payableDue(situation) : 0n;
  const surplus = about.held - captured;
  const returned = surplus + leftBefore(situation.ledger);
  const booking: Booking = as === 'keep' ? { retained: surplus } : { returned, captured };
  if (elsewhere) booking.offProvider = surplus;
  return { booking, marksPaid: captured > 0n, endsOrder: captured === 0n };
}

/** What is due, if the order is open and both sources leave as much. Else 0. */
function payableDue({ ledger, order, verifyBalance }: CaseSituation): bigint {
  if (order === null || !isOpen(order) || verifyBalance < order.due) return 0n;
  return historyLeaves(ledger, order.due) ? order.due : 0n;
}

function refundMissing({ case: about, ledger }: CaseSituation): Effect | string {
  if (about.class !== 'reversed') return 'no money of this case is held, and no source reports that it went';
  const refunded = min(goneFrom(ledger), refundableOf(ledger.books));
  return refunded > 0n ? { ...NO_EFFECT, booking: { refunded } } : 'nothing more of it was captured';
}

function writeOff({ case: about, ledger }: CaseSituation): Effect | string {
  if (about.class !== 'reversed') return 'only money that went is written off';
  return { ...NO_EFFECT, booking: { writtenOff: goneFrom(ledger) } };
}

/** Money was booked as going out, and no source reports it: it went off-provider, or did not go. */
function settleNotShown({ as, elsewhere, case: about }: CaseSituation): Effect | string {
  if (as === 'keep') return { ...NO_EFFECT, booking: { recovered: about.missing } };
  if (elsewhere) return { ...NO_EFFECT, booking: { offProvider: about.missing } };
  return 'make the refund at the payment service: the case then closes without a decision';
}

function explain({ case: about, verifyBalance }: CaseSituation): Effect | string {
  const verifyShowsNone = about.class === 'contradicted' && verifyBalance === 0n;
  return about.held === 0n || verifyShowsNone ? NO_EFFECT : 'money is held: accept it, refund it or keep it';
}
