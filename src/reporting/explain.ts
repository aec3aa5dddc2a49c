import { findOrder } from '../orders/orders.sql.ts';
import type { Order } from '../orders/order.ts';
import type { Metadata } from '../orders/metadata.ts';
import type { ShopperDetails } from '../orders/shopper-details.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { OrderId } from '../platform/ids.ts';
import { displayMoney, formatMajor } from '../platform/money.ts';
import { contradictionsOf, headOf, type ChainHead } from './integrity.sql.ts';
import { orderIdOf, paymentsOf, storyOf, type PaymentStanding, type StoryEvent } from './timeline.sql.ts';

/** One order's whole story as data. Amounts in `story` are in minor units, as in the rows. */
export type OrderDetail = {
  orderId: OrderId;
  externalId: string | null;
  status: string;
  /** In major units. */
  amount: string;
  /** What refunds were written down, in major units. */
  refunded: string;
  currency: string;
  mode: string;
  lines: { description: string; quantity: number }[];
  details: ShopperDetails;
  metadata: Metadata;
  payBy: Date | null;
  payments: PaymentStanding[];
  story: StoryEvent[];
  journal: ChainHead;
  /** One sentence per row that was changed by other means than this program; empty when there is none. */
  contradictions: string[];
};

export type Explanation = { text: string; orderDetail: OrderDetail; isIntact: boolean };

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
      text: textOf(order, orderDetail),
      orderDetail,
      isIntact: orderDetail.contradictions.length === 0,
    };
  });
}

/** The same as data, within the caller's snapshot. */
export async function detailOf(
  tx: Queryable,
  id: OrderId,
): Promise<{ order: Order; orderDetail: OrderDetail } | null> {
  const order = await findOrder(tx, id);
  if (order === null) return null;
  const orderDetail = {
    ...headingOf(order),
    payments: await paymentsOf(tx, order.id),
    story: await storyOf(tx, order.id),
    journal: await headOf(tx, order.id),
    contradictions: (await contradictionsOf(tx, [order.id])).map(({ what }) => what),
  };
  return { order, orderDetail };
}

function headingOf({ id, externalId, status, total, refunded, mode, lines, ...rest }: Order) {
  const { details, metadata, payBy } = rest;
  return {
    orderId: id,
    externalId,
    status,
    amount: formatMajor(total),
    refunded: formatMajor({ amount: refunded, currency: total.currency }),
    currency: total.currency,
    mode,
    lines: lines.map(({ description, quantity }) => ({ description, quantity })),
    ...{ details, metadata, payBy },
  };
}

function textOf(order: Order, { payments, story, journal, contradictions }: OrderDetail): string {
  const external =
    order.externalId === null
      ? ''
      : `  external id ${order.externalId}, after which release ${order.releaseId} is named`;
  const back = displayMoney({ amount: order.refunded, currency: order.total.currency });
  const refunded = order.refunded === 0n ? '' : `  refunded ${back}`;
  const lines = [
    `order ${order.id}  ${order.status}  ${displayMoney(order.total)}${refunded}  ${order.mode} mode${external}`,
    ...order.lines.map(({ quantity, description }) => `  ${quantity} x ${description}`),
    ...Object.entries(order.metadata).map(([name, text]) => `  ${name}: ${text}`),
    ...(order.payBy === null ? [] : [`  to be paid by ${order.payBy.toISOString()}`]),
    ...payments.map(paymentLine),
    '',
    ...story.map(
      ({ at, source, what, reference, detail }) =>
        `${at.toISOString()}  ${source.padEnd(12)}  ${what.padEnd(19)}  ${reference ?? '-'}  ${detail}`,
    ),
    '',
    ...verdictOf(journal, contradictions),
  ];
  // They contain texts of the service and of the shop, which must not control the terminal.
  return lines.map((line) => line.replace(/\p{C}/gu, '?')).join('\n');
}

function paymentLine({ reference, status, reason, checks, hints, nextCheckAt }: PaymentStanding): string {
  const why = reason === null ? '' : ` (${reason})`;
  const next = nextCheckAt === null ? 'no more by itself' : `next at ${nextCheckAt.toISOString()}`;
  return `  payment ${reference}  ${status}${why}  looked at ${checks} time(s), ${next}, ${hints} hint(s)`;
}

function verdictOf({ entries, hash }: ChainHead, contradictions: readonly string[]): string[] {
  const head = `the journal ends with entry ${entries}, hash ${hash ?? '-'}`;
  if (contradictions.length === 0)
    return [
      'the journal is whole: its numbers are dense and every hash fits, and no row contradicts it',
      head,
    ];
  return ['this order was changed by other means:', ...contradictions.map((what) => `  ${what}`), head];
}
