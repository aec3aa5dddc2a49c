import { displayMoney, parseMajor, type Money } from '../platform/money.ts';
import type { ListRow } from '../platform/table.ts';
import { shortId, visible } from '../platform/terminal.ts';
import { caseAdvice, caseText, type CaseFacts } from './case-text.ts';

export const CASE_HEADINGS = ['id', 'what is wrong', 'money', 'age', 'payment', 'order'] as const;

type Case = CaseFacts & {
  id: string;
  reference: string;
  orderId: string | null;
  age: string;
  /** Whose it is: the masked customer, the owner. */
  about?: readonly string[];
};

/** An open case as a row of a list on a terminal: one line, and below it what is wrong and what to do. */
export function caseRow({ id, reference, orderId, age, about = [], ...facts }: Case): ListRow {
  const { title, sentence } = caseText(facts);
  const money = facts.held ?? facts.actual ?? facts.expected;
  const [payment, order] = [shortId(visible(reference)), orderId === null ? '-' : shortId(orderId)];
  const advice = caseAdvice(facts.class);
  return {
    cells: [id, title, money === null ? '-' : displayMoney(money), age, payment, order],
    below: [
      sentence,
      // What is not of an order of ours is known to the service alone, and by its whole reference.
      orderId === null && payment !== visible(reference)
        ? `Reference at the service: ${visible(reference)}`
        : '',
      about.join(', '),
      advice === '' ? '' : `Next: ${advice} (docs/runbook.md#${facts.class})`,
    ].filter((line) => line !== ''),
  };
}

/** A decimal text in major units, which may be negative, as money; null when there is none. */
export function moneyOf(text: string | null, currency: string | null): Money | null {
  if (text === null || currency === null) return null;
  const amount = parseMajor(text.replace('-', ''), currency);
  return amount === null ? null : { amount: text.startsWith('-') ? -amount : amount, currency };
}
