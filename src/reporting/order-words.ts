import { SHOP } from '../orders/cancel.ts';
import { written } from '../cases/case-text.ts';
import type { Money } from '../platform/money.ts';
import type { MinorText } from './circumstances.sql.ts';

/** What the words about one order need: what it costs, and for whom amounts are written. */
export type Writing = { total: Money; locale: string };

export function moneyOf({ amount, currency }: MinorText): Money {
  return { amount: BigInt(amount), currency };
}

/** As a sentence that begins with a capital letter and cannot steer a terminal or a page. */
export function sentence(text: string): string {
  return text.replace(/\p{C}/gu, '?').replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** A time in UTC to the minute, for a sentence. */
export function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 10)} at ${at.toISOString().slice(11, 16)}`;
}

/** `operator:Ngozi` is Ngozi. */
export function whoIs(cause: string): string {
  if (cause === SHOP) return 'the shop’s own system';
  return cause === 'shopper' ? 'the shopper' : cause.replace(/^operator:/, '');
}

/** An answer of the service in words that follow "The service said:". @param came the money that it names */
export function answerText(
  outcome: string,
  came: Money | null,
  word: string | null,
  { total, locale }: Writing,
): string {
  const [asked, paid] = [written(total, locale), came === null ? 'something' : written(came, locale)];
  const apart =
    came !== null && came.currency === total.currency
      ? written({ ...total, amount: abs(came.amount - total.amount) }, locale)
      : 'an unknown amount';
  const texts: Readonly<Record<string, string>> = {
    paid: `paid ${asked}`,
    pending: 'not paid yet',
    failed: 'the payment failed',
    expired: 'the payment expired',
    reversed: 'the money went back',
    underpaid: `paid ${paid}, that is ${apart} too little`,
    overpaid: `paid ${paid}, that is ${apart} too much`,
    unit_error: `paid ${paid} for ${asked}, a power of ten apart`,
    currency_mismatch: `paid ${paid}, and ${asked} was asked for`,
    mode_mismatch: 'a payment of the other mode, test or live',
    reference_mismatch: 'something about another payment',
    unknown_status: `a status that is not configured${word === null ? '' : ` (${word})`}`,
    unproven: 'something that proves no payment, because parts of it are missing or disagree',
    not_found: 'it does not know this payment',
    unreadable: 'something that could not be read',
  };
  return texts[outcome] ?? outcome.replaceAll('_', ' ');
}

function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
