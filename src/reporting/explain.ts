import type { Database } from '../platform/database/database.ts';
import { detailOf, type OrderDetail } from './order-detail.ts';
import { orderIdOf } from './timeline.sql.ts';
import type { Order } from '../orders/order.ts';
import { displayMajor, displayMoney } from '../platform/money.ts';
import { goodsOf, standingOf, stateOf } from './standing.ts';
import { storyLines, type StoryLine } from './story-text.ts';

type Explanation = {
  /** For a person: one sentence, then what happened. */
  text: string;
  /** Every row, with amounts in minor units. */
  evidence: string;
  orderDetail: OrderDetail;
  isIntact: boolean;
};

/**
 * Everything known about one order, in time order, with its evidence: what an operator reads
 * before deciding anything.
 * @param name an order id, the reference of one of its payments, or the external id a shop gave it
 * @returns null when there is no such order; `isIntact` false when a row was changed by other
 * means than this program
 */
export async function explain(database: Database, name: string): Promise<Explanation | null> {
  // One snapshot: an order that changes between two queries would contradict itself.
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const id = await orderIdOf(tx, name);
    const seen = id === null ? null : await detailOf(tx, id);
    if (seen === null) return null;
    const { order, orderDetail } = seen;
    return {
      text: explainText(orderDetail),
      evidence: evidenceText(order, orderDetail),
      orderDetail,
      isIntact: orderDetail.contradictions.length === 0,
    };
  });
}

/** Texts of the service and of the shop must not control the terminal. */
const plain = (line: string): string => line.replace(/\p{C}/gu, '?');
const WIDTH = 80;

/**
 * What an operator has to know, what happened, and whether the record is complete: for a terminal of 80
 * columns.
 */
export function explainText(detail: OrderDetail): string {
  const { orderId, externalId, amount, currency, mode, customer, placedAt, metadata } = detail;
  const { text, next } = standingOf(detail);
  const price = displayMajor(amount, currency);
  const facts = [
    `Placed ${placedAt.toISOString().slice(0, 16).replace('T', ' ')}`,
    ...(customer === null ? [] : [`by ${customer}`]),
    ...(externalId === null ? [] : [`your number ${externalId}`]),
    ...Object.entries(metadata).map(([name, value]) => `${name}: ${value}`),
  ];
  return [
    ...alarmOf(detail),
    ...wrapped(`Order ${orderId}, ${goodsOf(detail)}, ${price}, ${stateOf(detail)} (${mode} mode).`),
    ...wrapped(`${facts.join(', ')}.`),
    ...wrapped(text),
    ...wrapped(`Next: ${next}`),
    ...storyText(storyLines(detail)),
    '',
    recordOf(detail),
    `All evidence: npm run explain -- ${orderId} --evidence`,
  ]
    .map(plain)
    .join('\n');
}

/** Under a heading for each day. */
function storyText(lines: readonly StoryLine[]): string[] {
  const days = lines.map(({ at }) => at.toISOString().slice(0, 10));
  return lines.flatMap(({ at, text }, index) => {
    const heading = days[index] === days[index - 1] ? [] : ['', `${days[index] ?? ''} (UTC)`];
    return [...heading, ...wrapped(text, `  ${at.toISOString().slice(11, 19)}  `)];
  });
}

/**
 * Breaks a text between words.
 * @param first what stands before its first line; the others are indented as far
 */
function wrapped(text: string, first = ''): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? first + word : `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length === 0) lines.push(longer);
    else if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(' '.repeat(first.length) + word);
  }
  return lines;
}

/** Every row of every table about an order, in time order, as it is. */
function evidenceText(order: Order, detail: OrderDetail): string {
  const { payments, story, journal } = detail;
  const external =
    order.externalId === null
      ? ''
      : `  external id ${order.externalId}, after which release ${order.releaseId} is named`;
  const back = displayMoney({ amount: order.refunded, currency: order.total.currency });
  const refunded = order.refunded === 0n ? '' : `  refunded ${back}`;
  return [
    ...alarmOf(detail),
    `order ${order.id}  ${order.status}  ${displayMoney(order.total)}${refunded}  ${order.mode} mode${external}`,
    ...order.lines.map(({ quantity, description }) => `  ${quantity} x ${description}`),
    ...Object.entries(order.metadata).map(([name, text]) => `  ${name}: ${text}`),
    ...(order.payBy === null ? [] : [`  to be paid by ${order.payBy.toISOString()}`]),
    ...payments.map(paymentLine),
    '',
    ...story.map(
      ({ at, source, what, reference, detail: rest }) =>
        `${at.toISOString()}  ${source.padEnd(12)}  ${what.padEnd(19)}  ${reference ?? '-'}  ${rest}`,
    ),
    '',
    recordOf(detail),
    `the journal ends with entry ${journal.entries}, hash ${journal.hash ?? '-'}`,
  ]
    .map(plain)
    .join('\n');
}

function paymentLine(payment: OrderDetail['payments'][number]): string {
  const { reference, status, reason, checks, hints, nextCheckAt } = payment;
  const why = reason === null ? '' : ` (${reason})`;
  const times = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
  const next = nextCheckAt === null ? 'finished' : `next at ${nextCheckAt.toISOString()}`;
  return `  payment ${reference}  ${status}${why}  ${times(checks, 'check')}, ${next}, ${times(hints, 'hint')}`;
}

function alarmOf({ contradictions }: OrderDetail): string[] {
  if (contradictions.length === 0) return [];
  return [
    'ALTERED: this order was changed by other means.',
    ...contradictions.map((what) => `  ${what}`),
    '',
  ];
}

/** Whether the journal has all of its entries as they were written, and no row contradicts it. */
export function recordOf({ journal: { entries }, contradictions }: OrderDetail): string {
  const count = `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  return contradictions.length === 0
    ? `record complete: ${count}, none missing or altered`
    : `record altered: ${count}, and what is named above`;
}
