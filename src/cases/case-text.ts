import { DEFAULT_LOCALE } from '../platform/locale.ts';
import { displayMoney, minorDigits, type Money, parseMajor } from '../platform/money.ts';
import { CLASSES, type FindingClass, type ReconciliationClass } from './classes.ts';
import { shortId, visible, type ListRow } from '../platform/terminal.ts';

/** What a sentence about a case needs; money in minor units. */
type CaseFacts = {
  /** Of the finding or of the item in suspense. */
  class: string;
  /** What the payment asked for; null for a transaction that is not ours. */
  expected: Money | null;
  /** What the service says came in; null when it says nothing did. */
  actual: Money | null;
  /** What is in suspense; null: the shop holds none of it. */
  held: Money | null;
};

/** A case for a person: two or three words, then one sentence about what is wrong. */
export type CaseText = { title: string; sentence: string };

type Told = { expected: string; actual: string; held: string; difference: string };
type Wording = [title: string, sentence: (told: Told) => string];

const NOTHING = 'nothing';

/** Only classes that a person sees: the others are counted, never raised. */
const WORDINGS: Record<FindingClass, Wording> = {
  underpaid: ['Paid too little', (of) => `Paid ${of.actual} of ${of.expected}: ${of.difference} is missing.`],
  overpaid: ['Paid too much', (of) => `Paid ${of.actual} for ${of.expected}: ${of.difference} too much.`],
  charged_again: [
    'Charged again after paying',
    (of) =>
      `The order was paid, and the shopper was charged ${of.held === NOTHING ? of.difference : of.held} more afterwards.`,
  ],
  unit_error: [
    'Amount in another unit',
    (of) => `Paid ${of.actual} for ${of.expected}: a power of ten apart, so probably a setting.`,
  ],
  currency_mismatch: [
    'Paid in another currency',
    (of) =>
      `Paid ${of.actual}, and the order asked for ${of.expected === NOTHING ? 'another currency' : of.expected}.`,
  ],
  mode_mismatch: ['Test and live mixed up', () => 'The payment belongs to the other mode.'],
  duplicate_payment: ['Paid twice', (of) => `The order was paid before, and ${of.actual} came once more.`],
  paid_after_decision: [
    'Paid after a decision',
    (of) => `${of.actual} came for a payment that a person had already decided about.`,
  ],
  paid_after_cancel: [
    'Paid after it was cancelled',
    (of) => `${of.actual} came for an order that had been cancelled.`,
  ],
  paid_after_deadline: [
    'Paid after the deadline',
    (of) => `${of.actual} came after the time to pay for this order was over.`,
  ],
  late_payment: ['Paid late', (of) => `${of.actual} came for a payment that had been closed.`],
  unknown_reference: [
    'Not one of our payments',
    (of) => `The service holds ${of.actual} under a reference that is not ours.`,
  ],
  absent_from_history: [
    'Missing in the service’s list',
    (of) => `The service does not list this payment of ${of.expected}.`,
  ],
  paid_unconfirmed: [
    'No longer shown as paid',
    (of) => `The order is paid (${of.expected}), and the service does not say so any more.`,
  ],
  paid_contradicted: [
    'Paid, and contradicted',
    (of) => `The service lists ${of.actual} as paid, and its latest answer says something else.`,
  ],
  reversed: [
    'Money went back',
    (of) => `More of the ${of.expected} went back than the shop wrote down as refunds.`,
  ],
  unknown_status: ['Unknown status word', () => 'The service uses a status word that is not configured.'],
  conflicting_records: [
    'Listed as paid and as something else',
    () => 'The service lists several records of this payment that cannot all be true.',
  ],
  sources_disagree: [
    'The service contradicts itself',
    () => 'Its list, its answers and its webhooks have said different things for more than an hour.',
  ],
  unreadable: [
    'Unreadable record',
    () => 'A record of the service has no readable reference, status or amount.',
  ],
  cash_difference: [
    'Balance differs',
    (of) =>
      `The service’s balance and its list of payments differ${of.actual === NOTHING ? '' : `: ${of.actual}`}.`,
  ],
};

/** What is wrong, with its amounts in major units. A class without words of its own is named by itself. */
export function caseText({ class: name, ...money }: CaseFacts, locale = DEFAULT_LOCALE): CaseText {
  const { expected, held } = money;
  const actual = money.actual ?? held;
  const [title, sentence] = wordingOf(name) ?? [caseTitle(name), () => ''];
  const told = (of: Money | null): string => (of === null ? NOTHING : written(of, locale));
  const isComparable = expected !== null && actual !== null && expected.currency === actual.currency;
  const difference = isComparable
    ? written({ ...expected, amount: absolute(actual.amount - expected.amount) }, locale)
    : 'an unknown amount';
  return {
    title,
    sentence: sentence({
      expected: told(expected),
      actual: told(actual),
      held: told(held),
      difference,
    }),
  };
}

function wordingOf(name: string): Wording | undefined {
  return Object.hasOwn(WORDINGS, name) ? WORDINGS[name as FindingClass] : undefined;
}

/** `overpaid` is "Paid too much". */
export function caseTitle(name: string): string {
  return wordingOf(name)?.[0] ?? name.replaceAll('_', ' ');
}

/** What to do about it; empty for a class that is no finding. */
export function caseAdvice(name: string): string {
  return Object.hasOwn(CLASSES, name) ? CLASSES[name as ReconciliationClass].todo : '';
}

/**
 * In major units; a currency that ISO 4217 does not know, as the service may name it, stays in minor units.
 */
export function written(money: Money, locale = DEFAULT_LOCALE): string {
  const isKnown = minorDigits(money.currency) !== null;
  return isKnown ? displayMoney(money, locale) : `${money.amount} minor units ${money.currency}`;
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

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
