import { displayMoney, minorDigits, type Money } from '../platform/money.ts';
import type { Words } from './words/en.ts';

/** Money of an order that waits for a person's decision. */
export type HeldMoney = {
  /** Of the item in suspense. */
  class: string;
  money: Money;
  /** The number of the refund of its surplus; null: that was not refunded yet. */
  surplusRefund: string | null;
};

/** How an operator ended the review of some of an order's money. */
export type ReviewDecision = {
  /** A decision of suspense, or `earned`: it paid the order after all. */
  decision: string;
  /** Where the refund can be found, for a refund. */
  refundNote: string | null;
  /** Left out: the text speaks of the payment without its amount. */
  money?: Money;
  /** Of money that was too much at first. */
  surplusRefund?: string | null;
};

/** The language of a text, and how its amounts are written. */
type Writing = { words: Words; locale: string };

type Said = { truth: string; advice?: string; needsHelp?: boolean };

/**
 * What came of an order that is paid, beyond the payment that paid it.
 * @returns null when there is nothing to say
 */
export function extraText(
  total: Money,
  held: readonly HeldMoney[],
  decisions: readonly ReviewDecision[],
  { words: { came, decided, status }, locale }: Writing,
): Said | null {
  const truths = [
    ...decisions.flatMap(({ decision, money, refundNote, surplusRefund = null }) => {
      if (money === undefined) return [];
      const of = written(money, locale);
      if (decision === 'accept') return [came.accepted(of)];
      if (decision !== 'earned') return [decisionText(decision, of, refundNote, decided)];
      const surplus = written(surplusOf(money, total), locale);
      return surplusRefund === null ? [] : [came.surplusRefunded(surplus, surplusRefund)];
    }),
    ...held.map(({ money, surplusRefund }) => {
      const of = written(money, locale);
      return surplusRefund === null ? came.chargedAgain(of) : came.surplusRefunded(of, surplusRefund);
    }),
  ];
  if (truths.length === 0) return null;
  const isAccepted = decisions.some(({ decision }) => decision === 'accept');
  return { truth: [...(isAccepted ? [] : [status.paid.truth]), ...truths].join(' '), needsHelp: true };
}

/**
 * What came of an order that is not paid, and waits for a decision.
 * @returns null when nothing did
 */
export function heldText(
  total: Money,
  shown: 'review' | 'cancelled' | 'over',
  held: readonly HeldMoney[],
  { words: { came }, locale }: Writing,
): Said | null {
  const [first, second] = held;
  if (first === undefined) return null;
  const all = held.map(({ money }) => written(money, locale)).join(' + ');
  if (shown === 'cancelled') return { truth: came.afterCancelling(all), advice: came.doNotPay };
  if (shown === 'over') return { truth: came.afterDeadline(all), advice: came.doNotPay };
  const asked = written(total, locale);
  const { money, surplusRefund } = first;
  const isComparable = second === undefined && money.currency === total.currency;
  if (isComparable && first.class === 'overpaid') {
    const surplus = written(surplusOf(money, total), locale);
    return {
      truth:
        surplusRefund === null
          ? came.tooMuch(all, asked, surplus)
          : came.surplusSent(all, surplus, surplusRefund),
    };
  }
  const isTooLittle = isComparable && first.class === 'underpaid';
  return { truth: isTooLittle ? came.received(all, asked) : came.other(all, asked) };
}

/** After the review: the order itself was not paid, and its page shows only what was decided. */
export function decidedText(
  decisions: readonly ReviewDecision[],
  { words: { decided }, locale }: Writing,
): { stamp: string; heading: string; truth: string; advice: string } {
  const isRefund = decisions.every(({ decision }) => decision === 'refund');
  const sentences = decisions.map(({ decision, refundNote, money }) =>
    decisionText(decision, money ? written(money, locale) : decided.yours, refundNote, decided),
  );
  return {
    stamp: isRefund ? decided.refundStamp : decided.stamp,
    heading: isRefund ? decided.refundHeading : decided.heading,
    truth: [...new Set(sentences)].join(' '),
    advice: isRefund ? decided.refundAdvice : decided.advice,
  };
}

/** A decision that has no text of its own is the last one. */
function decisionText(word: string, of: string, refundNote: string | null, texts: Words['decided']): string {
  const { refund, credit, keep, write_off, other } = texts;
  if (word === 'refund') return refund(of, refundNote);
  return new Map(Object.entries({ credit, keep, write_off })).get(word)?.(of) ?? other(of);
}

function surplusOf({ amount, currency }: Money, total: Money): Money {
  return { amount: amount - total.amount, currency };
}

/** The service's records may name a currency that ISO 4217 does not know. */
function written(money: Money, locale: string): string {
  if (minorDigits(money.currency) === null) return `${money.currency} ${money.amount}`;
  return displayMoney(money, locale);
}
