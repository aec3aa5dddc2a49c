import { caseAdvice, caseText, written, type CaseText } from '../../cases/case-text.ts';
import { DECISIONS, isAllowed, type Decision } from '../../cases/resolution.ts';
import type { Money } from '../../platform/money.ts';
import type { CaseRow } from './cases.sql.ts';

/** What a person can decide about money, in the words of the pages. */
export const DECISION_TEXTS: Record<Decision, { name: string; meaning: string }> = {
  accept: {
    name: 'Accept',
    meaning: 'What came is enough: the order is paid and delivered. Of too much, the difference stays held.',
  },
  refund: {
    name: 'Refund all',
    meaning: 'You refunded all of it. An order that is not paid closes.',
  },
  credit: { name: 'Credit', meaning: 'It is used for another order of this shopper.' },
  keep: { name: 'Keep', meaning: 'The shopper agreed that the shop keeps it.' },
  write_off: {
    name: 'Write off',
    meaning: 'It cannot be returned, or the fee is higher than the amount.',
  },
  other: { name: 'Other', meaning: 'Something else: the note says what.' },
};

/**
 * Whether what came may still pay the order: a person can accept it, or the service shows the exact amount.
 */
function mayStillPay({ class: name, orderStatus, paymentStatus, isDecided }: CaseRow): boolean {
  const isOfMoney = name === 'underpaid' || name === 'overpaid';
  return isOfMoney && orderStatus === 'review' && paymentStatus === 'held' && !isDecided;
}

/** The decisions that make sense for a case; none without money. */
export function decisionsFor(row: CaseRow): Decision[] {
  if (row.held === null) return [];
  return (Object.keys(DECISIONS) as Decision[]).filter((decision) => {
    // Its number is checked when it is known.
    if (!isAllowedFor(row, { decision, refundNote: row.surplusRefund })) return false;
    if (decision === 'accept') return mayStillPay(row);
    return decision !== 'credit' || row.orderId !== null;
  });
}

/** Whether a decision gives nothing twice. */
export function isAllowedFor(
  { surplusRefund, paymentStatus }: CaseRow,
  decided: { decision: Decision; refundNote: string | null },
): boolean {
  return isAllowed({ surplusRefund, isAccepted: paymentStatus === 'paid' }, decided);
}

export function heldMoney({ held, heldCurrency }: CaseRow): Money | null {
  return moneyOf(held, heldCurrency);
}

/** What was paid too much for an order that is not paid yet. */
export function surplusOf(row: CaseRow): Money | null {
  const held = heldMoney(row);
  if (row.class !== 'overpaid' || held === null || row.expected === null || !mayStillPay(row)) return null;
  return { ...held, amount: held.amount - row.expected };
}

/** What is wrong, in the reader's language of numbers. */
export function textOf(row: CaseRow, locale: string): CaseText {
  const expected = moneyOf(row.expected, row.expectedCurrency);
  const held = heldMoney(row);
  // What was accepted has paid the order: only the surplus is still held.
  const isSurplusOnly = row.class === 'overpaid' && row.paymentStatus === 'paid' && held && expected;
  const actual = isSurplusOnly
    ? { ...held, amount: held.amount + expected.amount }
    : moneyOf(row.actual, row.actualCurrency);
  const text = caseText({ class: row.class, expected, actual, held }, locale);
  if (row.class !== 'absent_from_history' || !row.isConfirmed) return text;
  return { ...text, sentence: `${text.sentence} Verify still confirms it.` };
}

const REFUNDED = new Set([
  'overpaid',
  'charged_again',
  'currency_mismatch',
  'duplicate_payment',
  'paid_after_decision',
  'paid_after_cancel',
  'paid_after_deadline',
]);

/** What to do now, step by step. */
export function stepsFor(row: CaseRow, locale: string): string[] {
  const held = heldMoney(row);
  const surplus = surplusOf(row);
  const say = (money: Money): string => written(money, locale);
  if (surplus !== null && held !== null) {
    const left = say({ ...held, amount: held.amount - surplus.amount });
    const last = `Nothing more: when the service shows ${left}, the order becomes paid and is delivered by itself.`;
    if (row.surplusRefund !== null)
      return [`${say(surplus)} was refunded, number ${row.surplusRefund}.`, last];
    return [
      `Refund ${say(surplus)} at the payment service.`,
      'Write down the number of the refund here.',
      last,
    ];
  }
  // Accepted after the refund of the surplus had been noted.
  if (held !== null && row.surplusRefund !== null)
    return [
      `${say(held)} was refunded, number ${row.surplusRefund}. Do not refund it again.`,
      'Choose “Refund all” below, with that number.',
    ];
  if (held !== null && row.paymentStatus === 'paid' && row.findings.some((f) => f.class === 'reversed'))
    return [
      'The service shows that money of this payment went back already: look there before you refund ' +
        'anything.',
      `If that was the ${say(held)}, choose “Refund all” below, with the number of that refund.`,
    ];
  if (held !== null && REFUNDED.has(row.class))
    return [
      `Refund ${say(held)} at the payment service.`,
      'Choose “Refund all” below, with the number of the refund.',
    ];
  return caseAdvice(row.class).split(/(?<=\.) /);
}

function moneyOf(amount: bigint | null, currency: string | null): Money | null {
  return amount === null || currency === null ? null : { amount, currency };
}
