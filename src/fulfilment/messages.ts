import { createHash } from 'node:crypto';
import { formatMajor } from '../platform/money.ts';
import { randomMessageId } from '../platform/ids.ts';
import type { MessageType } from '../platform/message-types.ts';
import { dueOf, restOf } from '../orders/order.ts';
import type { OrderStatus, Prisma } from '../platform/prisma/client.ts';

/**
 * The message types that the shop wants beside `order.paid`. Whether there is a receiver is not
 * checked here, because the process that writes a message is often not the one that delivers it.
 */
export type Wanted = { types: ReadonlySet<string> };

/** The order that a message is about. */
export type About = {
  id: string;
  mode: 'test' | 'live';
  externalId: string | null;
  amount: bigint;
  currency: string;
  metadata: Prisma.JsonValue;
  paidReference: string | null;
  paidAt: Date | null;
  endedAt: Date | null;
  status: OrderStatus;
  partPaid: bigint;
  lines: readonly { sku: string | null; description: string; unitAmount: bigint; quantity: number }[];
};

/** The content of a message beside its order. */
export type Extra = { reference?: string; reason?: string; refund?: unknown; case?: unknown };

/**
 * The id of `order.paid` follows from the mode and, if there is one, the shop's own number of the
 * order. An order that is placed again after a restore of the database is therefore shipped under
 * the same id.
 */
function paidId({ mode, externalId, id }: About): string {
  const digest = createHash('sha256').update(
    `order.paid ${mode} ${externalId === null ? `id ${id}` : `external ${externalId}`}`,
  );
  return `msg_${digest.digest('base64url').slice(0, 32)}`;
}

/** The bytes that are signed and sent. They never change. */
function bodyOf(type: MessageType, at: Date, order: About, extra: Extra): string {
  const major = (amount: bigint): string => formatMajor({ amount, currency: order.currency });
  const data = {
    orderId: order.id,
    externalId: order.externalId,
    reference: extra.reference ?? order.paidReference,
    amount: major(order.amount),
    currency: order.currency,
    mode: order.mode,
    paidAt: order.paidAt?.toISOString() ?? null,
    lines: order.lines.map(({ sku, description, unitAmount, quantity }) => {
      return { sku, description, unitAmount: major(unitAmount), quantity };
    }),
    metadata: order.metadata,
    // A paid order has nothing due, so the bytes of order.paid stay those of version 1.0.0.
    ...(order.paidAt === null && { due: major(type === 'order.part_paid' ? restOf(order) : dueOf(order)) }),
    ...(extra.reason !== undefined && { reason: extra.reason }),
    ...(extra.refund !== undefined && { refund: extra.refund }),
    ...(extra.case !== undefined && { case: extra.case }),
  };
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

/**
 * The row of an outbox message. Write it in the transaction of the change that it reports.
 * @returns null: the shop does not want this type
 */
export function messageRow(
  wanted: Wanted,
  type: MessageType,
  order: About,
  now: Date,
  extra: Extra,
): Prisma.MessageCreateManyInput | null {
  if (type !== 'order.paid' && !wanted.types.has(type)) return null;
  const id = type === 'order.paid' ? paidId(order) : randomMessageId();
  const body = bodyOf(type, now, order, extra);
  return { id, mode: order.mode, type, orderId: order.id, body, nextTryAt: now };
}
