import { MISSING_MONEY } from '../cases/classes.ts';
import { shortOf } from '../commands/cases.ts';
import { findOrder } from '../commands/named.ts';
import { refused } from '../commands/registry.ts';
import { atText } from '../custom/days.ts';
import { refundableOfAll } from '../ledger/books.ts';
import { max } from '../ledger/sources.ts';
import { ledgerOf } from '../ledger/stored.ts';
import { isInProof } from '../payments/aggregate.ts';
import { formatMajor, parseMajor } from '../platform/money.ts';
import { amountText, TOLD_CASE, totalsOf, type ToldCase } from '../reporting/words.ts';
import type { Sure } from './acts.tsx';
import { endsOf, type End } from './decisions.tsx';
import type { Here } from './frame.tsx';
import { emailOf } from './lists.tsx';
import * as ui from './parts.tsx';
import { idOf, readOrder, type ShownOrder } from './queries.ts';
import words from './words.json' with { type: 'json' };

// The actions that ask for a confirmation first, and what their confirmation pages say.

/** The payments that paid the order. */
const payingOf = (order: ShownOrder) => order.payments.filter(({ reference }) => isInProof(order, reference));

/** The amount that can still be refunded, in minor units. */
export function leftOf(order: ShownOrder): bigint {
  const { currency } = order;
  const paying = payingOf(order);
  const rows = paying.flatMap(({ ledgers }) => ledgers.filter((one) => one.currency === currency));
  const { missing } = totalsOf(paying, currency);
  // Money that left already cannot be refunded. A person decides about it in its case.
  return max(0n, refundableOfAll(rows.map((row) => ledgerOf(row).books)) - missing);
}

/** Why an order's message is not sent, as a sentence. Null: nothing of its money is missing. */
export function missingOf(order: ShownOrder): string | null {
  const { currency, messages } = order;
  const paying = payingOf(order);
  const { missing, writtenOff, refunded, captured } = totalsOf(paying, currency);
  const money = (amount: bigint): string => amountText({ amount, currency });
  if (missing > 0n) return `${money(missing)} of this order is missing at the payment service.`;
  if (writtenOff > 0n) return `${money(writtenOff)} of this order is written off.`;
  if (captured > 0n && refunded >= captured) return 'All money of this order is refunded.';
  return messages[0]?.heldBy === MISSING_MONEY
    ? 'The payment service does not surely show the money of this order.'
    : null;
}

type Input = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The actions that another action undoes. */
const UNDONE: readonly End['texts'][] = [words.ends.cancel, words.ends.reopen, words.ends['ask-rest']];

/** The texts of the confirmation page, and the message after the action. */
async function sureOf(here: Here, input: Input, texts: End['texts'], sum: string, order: ToldCase['order']) {
  const number = text(input.number);
  const values = { sum, number: number && `, number ${number}` };
  const filled = Object.entries(texts).map(([name, one]) => [name, ui.fill(one, values)]);
  const customer = order ? emailOf(here, order) : '';
  const facts: Sure['facts'] = [
    ['Order', order ? `${order.externalId ?? order.id.slice(0, 8)}, ${amountText(order)}, ${customer}` : ''],
    ...Object.entries({ Amount: sum, Number: number, Why: text(input.note) }),
    ['Refunded', input.elsewhere === true ? 'another way, such as a bank transfer' : ''],
    ['Attention', number === '' ? '' : await usedBefore(here, number)],
  ];
  const isFinal = !UNDONE.includes(texts);
  return { ...(Object.fromEntries(filled) as End['texts']), customer, facts, isFinal };
}

/** Whether a refund with this number was noted before, as a sentence. One refund has one number. */
async function usedBefore({ prisma, mode, view }: Here, number: string): Promise<string> {
  const refund = await prisma.refund.findFirst({ where: { externalId: number, order: { mode } } });
  const decided = await prisma.case.findFirst({ where: { number, mode } });
  const at = refund?.at ?? decided?.closedAt;
  if (at == null) return '';
  const about = refund?.orderId ?? decided?.orderId;
  const where = about == null ? 'for money without an order' : `for the order ${about.slice(0, 8)}`;
  return `The number ${number} was noted ${atText(at, view)} ${where}. Continue only if it is the same refund.`;
}

/** A typed amount. 0: it cannot be read, or it has more decimals than others of its currency. */
function typedAmount(typed: string, { amount, currency }: ShownOrder): bigint {
  const decimals = (one: string): number => (one.split('.')[1] ?? '').length;
  // `1.000` may be a thousand, so it is not read as 1.00.
  const isTooFine = decimals(typed) > decimals(formatMajor({ amount, currency }));
  return isTooFine ? 0n : (parseMajor(typed, currency) ?? 0n);
}

/**
 * Checks an action that cannot be undone, and prepares its confirmation page. If the action is
 * impossible, it throws the reason. Null: the action needs no confirmation.
 */
type Asking = (here: Here, input: Input) => Promise<Sure | { faults: Record<string, string> } | null>;
export const CONFIRMED: Record<string, Asking | undefined> = {
  'cases decide': async (here, input) => {
    const isDecidable = [{ closedAt: null }, { decision: 'ask-rest' }];
    const where = { id: idOf(text(input.id)), mode: here.mode, OR: isDecidable };
    const one = await here.prisma.case.findFirst({ where, include: TOLD_CASE });
    if (one === null || text(input.seen) !== shortOf(one.digest)) throw refused('changed');
    const isOtherWay = input.elsewhere === true && one.held === 0n;
    const value = text(input.as) + (isOtherWay ? ' elsewhere' : '');
    const end = (await endsOf(here, one)).find((each) => each.value === value);
    if (end === undefined) throw refused('changed');
    const lacksNumber = end.needsNumber && input.elsewhere !== true && input.number === undefined;
    if (lacksNumber) return { faults: { number: words.faults.missing } };
    return sureOf(here, input, end.texts, end.sum, one.order);
  },
  'orders refund': async (here, input) => {
    const order = await readOrder(here, text(input.order));
    if (order === null) throw refused('unknown-order');
    const { currency, refunds } = order;
    if (refunds.some((one) => one.externalId === input.number)) throw refused('noted');
    const [amount, left] = [typedAmount(text(input.amount), order), leftOf(order)];
    if (amount <= 0n)
      return { faults: { amount: `This must be an amount without separators, like ${formatMajor(order)}.` } };
    if (amount > left) throw refused('too-much', { left: amountText({ amount: left, currency }) });
    return sureOf(here, input, words.ends.refund, amountText({ amount, currency }), order);
  },
  'orders cancel': async (here, input) =>
    sureOf(here, input, words.ends.cancel, '', await readOrder(here, text(input.order))),
  'orders reopen': async (here, input) =>
    sureOf(here, input, words.ends.reopen, '', await readOrder(here, text(input.order))),
  'after-restore': async (here, input) => {
    if (input.order === undefined) return { faults: { order: words.faults.missing } };
    if (input.adopt === undefined) throw refused('changed');
    const { id } = await findOrder(here.parts, text(input.order));
    const sure = await sureOf(here, input, words.ends.adopt, '', await readOrder(here, id));
    return { ...sure, facts: [...sure.facts, ['Payment', text(input.adopt)], ['Then', words.adopted]] };
  },
  'messages resend': async (here, input) => {
    const isDespite = input['despite-missing-money'] === true;
    if (isDespite && input.note === undefined) return { faults: { note: words.faults.missing } };
    const message = await here.prisma.message.findUnique({
      where: { id: text(input.message) },
      select: { orderId: true, heldBy: true },
    });
    const holder = message?.heldBy === MISSING_MONEY ? null : (message?.heldBy ?? null);
    if (!isDespite && holder === null) return null;
    const order = await readOrder(here, message?.orderId ?? '');
    if (order === null) throw refused('unknown-order');
    const texts = isDespite ? words.ends['send anyway'] : words.ends['send held'];
    const sure = await sureOf(here, input, texts, '', order);
    const money: [string, string] = ['Money', isDespite ? (missingOf(order) ?? '') : ''];
    return { ...sure, facts: [...sure.facts, money, ['Held by', holder ?? '']] };
  },
};
