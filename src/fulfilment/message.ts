import { z } from 'zod';
import { metadata as metadataOfOrder, ORDER_STATUSES } from '../orders/order.ts';
import { formatMajor, type Money } from '../platform/money.ts';
import type { HappenedEvent } from './event.ts';
import type { Release } from './release.ts';

const money = z.string().describe('Exact decimal text in major units: "12.50"');
const currency = z.string().describe('ISO 4217 code');
const externalId = z.string().nullable().describe("The shop's own number of the order");
const metadata = metadataOfOrder.describe('What the shop gave with the order');
const mode = z.enum(['test', 'live']);
const time = z.iso.datetime();

const order = {
  orderId: z.string(),
  externalId,
  mode,
  status: z.enum(ORDER_STATUSES).describe('Of the order when this happened'),
  amount: money.describe('Of the order, as an exact decimal text in major units: "12.50"'),
  currency,
  reference: z.string().nullable().describe('Of the payment that this is about'),
  metadata,
};

const message = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  z.object({ type: z.literal(type), timestamp: time.describe('When it happened'), data: z.object(data) });

/** What a receiver is sent, by type: the messages are made to these schemas, and /openapi.json shows them. */
export const MESSAGES = {
  'order.paid': message('order.paid', {
    orderId: z.string(),
    externalId,
    reference: z.string(),
    amount: money,
    currency,
    mode,
    paidAt: time,
    lines: z.array(
      z.object({
        sku: z.string().nullable(),
        description: z.string(),
        unitAmount: money,
        quantity: z.int(),
      }),
    ),
    metadata,
  }),
  'order.review': message('order.review', order),
  'order.failed': message('order.failed', order),
  'order.expired': message('order.expired', {
    ...order,
    final: z.boolean().describe('Its deadline has passed: money that comes later pays nothing'),
  }),
  'order.cancelled': message('order.cancelled', { ...order, reason: z.string() }),
  'order.reopened': message('order.reopened', order),
  'order.refunded': message('order.refunded', {
    ...order,
    refundId: z.string(),
    refundExternalId: z.string().nullable().describe("The shop's or the service's number of the refund"),
    refundAmount: money,
    refunded: money.describe('The sum of all refunds of the order until then'),
  }),
  'order.reversed': message('order.reversed', {
    ...order,
    findingId: z.string(),
    unexplained: money.describe('What went back and no refund explains'),
  }),
  'suspense.opened': message('suspense.opened', {
    ...order,
    orderId: z.string().nullable().describe('Null: the money is of no order here'),
    status: order.status.nullable(),
    amount: money.describe('What is held and not earned'),
    suspenseId: z.string(),
    class: z.string().describe('Why it is not earned'),
  }),
};

/** @returns what a receiver is sent of a release; see {@link messageOfEvent} */
export function messageOf(release: Omit<Release, 'message'>): string {
  const { orderId, externalId, reference, total, mode, paidAt, lines, metadata } = release;
  return JSON.stringify({
    type: 'order.paid',
    timestamp: paidAt.toISOString(),
    data: {
      orderId,
      externalId,
      reference,
      amount: formatMajor(total),
      currency: total.currency,
      mode,
      paidAt: paidAt.toISOString(),
      lines: lines.map(({ sku, description, unitAmount, quantity }) => ({
        sku,
        description,
        unitAmount: formatMajor({ amount: unitAmount, currency: total.currency }),
        quantity,
      })),
      metadata,
    },
  } satisfies z.input<(typeof MESSAGES)['order.paid']>);
}

type Data = { [Type in keyof typeof MESSAGES]: z.input<(typeof MESSAGES)[Type]>['data'] };

/**
 * @returns what a receiver is sent of an event. It is made of stored facts alone, without the time of an
 * attempt, and it is kept before the first attempt (see keepMessage), because the code that makes it may
 * change between two attempts.
 */
export function messageOfEvent(event: HappenedEvent): string {
  const { type, happenedAt } = event;
  return JSON.stringify({ type, timestamp: happenedAt.toISOString(), data: dataOf(event) });
}

function dataOf(event: HappenedEvent): Data[HappenedEvent['type']] {
  const { externalId, mode, reference, total, metadata } = event;
  const money = { amount: formatMajor(total), currency: total.currency };
  const facts = { externalId, mode, ...money, reference, metadata };
  if (event.type === 'suspense.opened') {
    const { status, suspenseId, class: why } = event.data;
    return { orderId: event.orderId, status, ...facts, suspenseId, class: why };
  }
  const about = { orderId: event.orderId, status: event.data.status, ...facts };
  switch (event.type) {
    case 'order.cancelled':
      return { ...about, reason: event.data.reason } satisfies Data['order.cancelled'];
    case 'order.refunded': {
      const { refundId, refundExternalId, refundAmount, refunded } = event.data;
      const sums = { refundAmount: major(refundAmount, total), refunded: major(refunded, total) };
      return { ...about, refundId, refundExternalId, ...sums } satisfies Data['order.refunded'];
    }
    case 'order.reversed': {
      const { findingId, unexplained } = event.data;
      const data: Data['order.reversed'] = { ...about, findingId, unexplained: major(unexplained, total) };
      return data;
    }
    case 'order.expired':
      return { ...about, final: event.data.final ?? false } satisfies Data['order.expired'];
    case 'order.reopened':
    case 'order.review':
    case 'order.failed':
      return about satisfies Data['order.review'];
  }
}

/** Minor units as the text of a row, in the currency of `total`. */
function major(minor: string, { currency }: Money): string {
  return formatMajor({ amount: BigInt(minor), currency });
}
