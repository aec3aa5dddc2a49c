import { createHash } from 'node:crypto';
import { MISSING_MONEY } from '../cases/classes.ts';
import { formatMajor } from '../platform/money.ts';
import { randomMessageId } from '../platform/ids.ts';
import type { Tx } from '../platform/db.ts';
import type { Message, Prisma } from '../platform/prisma/client.ts';

/** Every type of message that FULFILMENT_EVENTS can name. `order.paid` is always written. */
export type MessageType =
  | 'order.paid'
  | 'order.review'
  | 'order.failed'
  | 'order.expired'
  | 'order.cancelled'
  | 'order.reopened'
  | 'order.refunded'
  | 'order.reversed'
  | 'case.opened';

/**
 * Which messages the shop wants beside `order.paid`. Whether there is a receiver is not asked here: the process that
 * writes a message is often not the one that delivers it.
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
  releasedReference: string | null;
  paidAt: Date | null;
  lines: readonly { sku: string | null; description: string; unitAmount: bigint; quantity: number }[];
};

/** What a message says beside its order. */
export type Extra = { reference?: string; reason?: string; refund?: unknown; case?: unknown };

/**
 * The id of `order.paid` follows from the mode and the shop's own number of the order, where it has one: an order that
 * is placed anew after a restore of the database is shipped under the same id.
 */
function paidId({ mode, externalId, id }: About): string {
  const digest = createHash('sha256').update(
    `order.paid ${mode} ${externalId === null ? `id ${id}` : `external ${externalId}`}`,
  );
  return `msg_${digest.digest('base64url').slice(0, 32)}`;
}

/** The bytes that are signed and sent, the same for ever. */
function bodyOf(type: MessageType, at: Date, order: About, extra: Extra): string {
  const major = (amount: bigint): string => formatMajor({ amount, currency: order.currency });
  const data = {
    orderId: order.id,
    externalId: order.externalId,
    reference: extra.reference ?? order.releasedReference,
    amount: major(order.amount),
    currency: order.currency,
    mode: order.mode,
    paidAt: order.paidAt?.toISOString() ?? null,
    lines: order.lines.map(({ sku, description, unitAmount, quantity }) => {
      return { sku, description, unitAmount: major(unitAmount), quantity };
    }),
    metadata: order.metadata,
    ...(extra.reason !== undefined && { reason: extra.reason }),
    ...(extra.refund !== undefined && { refund: extra.refund }),
    ...(extra.case !== undefined && { case: extra.case }),
  };
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

/**
 * The row of what the shop's own system is to be told, to be written in the transaction in which it happened.
 * @returns null: the shop does not want to hear of it
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

/**
 * Holds a message, or lifts the program's own hold. A person's hold stays; that a person sends it all the same stays for
 * as long as what the person saw does.
 * @param isNews a case opened or changed
 */
export async function setHold(
  tx: Tx,
  message: Message,
  heldBy: string | null,
  isNews: boolean,
  now: Date,
): Promise<void> {
  const { id, sentAt, liftedBy, nextTryAt } = message;
  const isPersons = message.heldBy !== null && message.heldBy !== MISSING_MONEY;
  if (sentAt !== null || isPersons || (liftedBy === null ? heldBy === message.heldBy : heldBy !== null && !isNews))
    return;
  // The days of a message that was held do not count. One that was given up stays so.
  const anew = nextTryAt === null ? {} : { tries: 0, firstTryAt: null, nextTryAt: now };
  await tx.message.update({
    where: { id },
    data: liftedBy === null ? { heldBy, ...anew } : { heldBy, liftedBy: null },
  });
}
