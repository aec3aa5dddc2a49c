import { NOT_A_PERSON } from '../cases/resolution.ts';

/** A submitted form: who does what to which rows, and why. */
export type ActionForm = {
  by: string;
  note: string;
  /** Of the ticked rows. */
  ids: readonly string[];
  /** Which button was pressed. */
  operation: string;
  /** A field, trimmed; null when it is empty. */
  field(name: string): string | null;
  /** All submitted fields except the form's token: a confirmation page sends them again. */
  sent: readonly (readonly [name: string, value: string])[];
};

export const MAX_NAME = 80;
const MAX_NOTE = 500;
const MAX_ROWS = 200;

/** @returns the form, or the message for an operator who left something out */
export function readActionForm(body: unknown): ActionForm | { told: Told } {
  const fields = new URLSearchParams(String(body));
  const field = (name: string): string | null => /\S/.exec(fields.get(name) ?? '')?.input.trim() ?? null;
  const by = field('by')?.slice(0, MAX_NAME) ?? null;
  const note = field('note')?.slice(0, MAX_NOTE) ?? null;
  if (by === null || note === null) return { told: { unnamed: 1 } };
  // Entries under this name would look like the program's own.
  if (NOT_A_PERSON.includes(by)) return { told: { 'not-a-person': 1 } };
  // The form contains every row of the page, because an operator may tick the whole
  // page instead of rows.
  const ids = [...new Set(fields.getAll(fields.get('all') === 'yes' ? 'shown' : 'id'))].slice(0, MAX_ROWS);
  if (ids.length === 0) return { told: { nothing: 1 } };
  const sent = [...fields].filter(([name]) => name !== 'form');
  return { by, note, ids, operation: field('operation') ?? '', field, sent };
}

/**
 * What a form did, as a parameter of the next page's address: known words with a count,
 * never text from outside.
 */
export type Told = Partial<Record<keyof typeof SENTENCES, number>>;

const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count} ${more}`;

const SENTENCES = {
  resolved: (count: number) => `${many(count, 'case is', 'cases are')} closed.`,
  assigned: (count: number) => `${many(count, 'case is', 'cases are')} assigned.`,
  noted: (count: number) => `Note added to ${many(count, 'case', 'cases')}.`,
  changed: (count: number) =>
    `${many(count, 'was', 'were')} left alone: another operator has changed ` +
    `${count === 1 ? 'it' : 'them'} since you looked. Look again.`,
  gone: (count: number) => `${many(count, 'was', 'were')} not open any more when you acted.`,
  nothing: () => 'Nothing was done: select at least one row first.',
  unnamed: () => 'Nothing was done: give your name and say why.',
  'not-a-person': () => 'Nothing was done: the program itself goes by that name. Give yours.',
  'no-action': () => 'Nothing was done: press one of the buttons.',
  'no-owner': () => 'Nothing was done: say who is to work on it.',
  'no-decision': () =>
    'Nothing was done: choose what happens to the money. A refund needs its number, and nothing else ' +
    'has one.',
  'no-money': (count: number) =>
    `${many(count, 'was', 'were')} left alone: no money of ${count === 1 ? 'it' : 'them'} is held. Close ` +
    `${count === 1 ? 'it' : 'them'} instead.`,
  'decide-first': (count: number) =>
    `${many(count, 'stays', 'stay')} open: money of ${count === 1 ? 'it' : 'them'} is held. ` +
    'Decide about the money first.',
  accepted: (count: number) => `${many(count, 'is', 'are')} accepted: the order is paid.`,
  'not-accepted': (count: number) =>
    `${many(count, 'was', 'were')} not accepted: only too little or too much that came for an unpaid order ` +
    'can be, and only while the service still shows it.',
  reopened: () => 'The order is open again: a new payment may begin.',
  'not-reopened': () =>
    'Nothing was done: only a cancelled order whose deadline has not passed, and of which the shop has ' +
    'kept no money, can be reopened.',
  'surplus-noted': (count: number) =>
    `${many(count, 'waits', 'wait')} for the service: when it shows the exact amount, ` +
    'the order is paid by itself.',
  'no-surplus': (count: number) =>
    `${many(count, 'was', 'were')} left alone: only what was overpaid for an order that is not paid yet has ` +
    'a surplus to refund, and the refund needs its number.',
  'surplus-gone': (count: number) =>
    `${many(count, 'was', 'were')} left alone: the surplus was refunded before. What is left is to ` +
    'accept the rest or to refund it; of a surplus alone, its refund has the number that was noted.',
  due: (count: number) => `${many(count, 'delivery is', 'deliveries are')} due now.`,
  'no-receiver': () =>
    'Not sent: no delivery system is connected yet. Ask your developer (FULFILMENT_URL and ' +
    'FULFILMENT_SECRET, or a receiver in src/custom).',
  withheld: (count: number) =>
    `${many(count, 'was', 'were')} not sent: the money went back. To send all the same, ` +
    'use “Withheld” on the page Deliveries, or the page of the order.',
  'refund-recorded': () => 'The refund is written down. The next reconciliation expects it.',
  'refund-differs': () => 'Nothing was done: that number stands for another refund of this order.',
  'refund-too-much': () => 'Nothing was done: that is more than is left of what was paid.',
  'refund-not-paid': () => 'Nothing was done: the order is not paid.',
  'refund-unreadable': () =>
    'Nothing was done: give an amount like 12.50, above zero and in the order’s currency, ' +
    'and the number of the refund.',
  stopped: () => 'No new checkout begins any more.',
  'is-stopped': () => 'It was stopped already: the first reason stands.',
  'goes-on': () => 'New checkouts begin again.',
  'no-currency': () => 'Nothing was done: give the code of a currency like NGN, or * for all.',
  unknown: () => 'Nothing was done: there is no such row.',
  asked: () => 'Checked with the payment service. The order shows what it said.',
  'asked-soon': () =>
    'The service was asked seconds ago, or a check is running now: the next answer is seconds away.',
  cancelled: () => 'The order is cancelled.',
  'already-paid': () => 'Nothing was done: the service says that the order is paid.',
  'under-review': () =>
    'Nothing was cancelled: the service now says something that you should read first. Then cancel again.',
  unavailable: () =>
    'Nothing was cancelled: whether the order has been paid could not be asked. Try again in a minute.',
  'not-answered': () => 'The service could not be asked now. It is asked again by itself.',
} satisfies Record<string, (count: number) => string>;

/** `/admin/cases` and `{ resolved: 3 }` as `/admin/cases?told=resolved:3`. */
export function addressTelling(address: string, told: Told): string {
  const text = Object.entries(told)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${word}:${count}`)
    .join(',');
  return `${address}${address.includes('?') ? '&' : '?'}told=${text}`;
}

/** The sentences for a `told` parameter; null when there are none. Unknown words are ignored. */
export function sentencesOf(param: unknown): string | null {
  if (typeof param !== 'string') return null;
  const sentences = param.split(',').flatMap((part) => {
    const [, word = '', count = ''] = /^([a-z-]{1,20}):(\d{1,5})$/.exec(part) ?? [];
    return Object.hasOwn(SENTENCES, word) ? [SENTENCES[word as keyof typeof SENTENCES](Number(count))] : [];
  });
  return sentences.length === 0 ? null : sentences.join(' ');
}

/**
 * A query parameter, if it is a single text that matches the pattern; else null, which
 * means that it is ignored.
 */
export function fitting(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

/** A day of the calendar that PostgreSQL can read, like `2026-01-31`; null for anything else. */
export function dayOf(value: unknown): string | null {
  const day = fitting(value, /^(?!0000)\d{4}-\d{2}-\d{2}$/);
  const at = Date.parse(day ?? '');
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(`${day}`) ? null : day;
}
