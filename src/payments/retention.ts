import { transact, type Tx } from '../platform/db.ts';
import type { Prisma, PrismaClient } from '../platform/prisma/client.ts';

const BATCH = 5_000;
const DAY_MS = 86_400_000;

/** These wait for money or for a person, and keep their evidence. */
const IS_OPEN = {
  OR: [{ status: { in: ['pending', 'review'] } }, { cases: { some: { closedAt: null } } }],
} satisfies Prisma.OrderWhereInput;

/** Null: bodies are kept for ever. 0: unpaid orders are kept for ever. */
type Periods = { RETAIN_BODIES_DAYS: number | null; RETAIN_UNPAID_DAYS: number };

/** Removes what is older than the configuration says. @returns how many rows of each kind; null: that kind is kept */
export async function retain(prisma: PrismaClient, { RETAIN_BODIES_DAYS, RETAIN_UNPAID_DAYS }: Periods) {
  return {
    bodies: RETAIN_BODIES_DAYS === null ? null : await emptyBodies(prisma, RETAIN_BODIES_DAYS),
    orders: RETAIN_UNPAID_DAYS === 0 ? null : await removeUnpaid(prisma, RETAIN_UNPAID_DAYS),
  };
}

/** Orders of one transaction: it must end long before its time limit. */
const ORDERS_AT_ONCE = 100;

/**
 * Deletes orders that ended so many days ago and never had money, a case, or a message that was not sent. Their
 * payments, answers, keys and journal go with them. The database's triggers refuse the deletion of all others.
 * @returns how many orders
 */
async function removeUnpaid(prisma: PrismaClient, days: number): Promise<number> {
  let removed = 0;
  // Orders that stay are passed over once, and not again by each transaction.
  let from = new Date(0);
  for (;;) {
    const ended = await transact(prisma, (tx) => removeSome(tx, days, from));
    removed += ended.length;
    from = ended.at(-1) ?? from;
    if (ended.length < ORDERS_AT_ONCE) return removed;
  }
}

/** @param from deletes orders that ended then or later @returns when each deleted order had ended, the oldest first */
async function removeSome(tx: Tx, days: number, from: Date): Promise<Date[]> {
  // Raw: Prisma cannot lock rows. An order that somebody changes at this moment is left for the next time.
  const found = await tx.$queryRaw<{ id: string; endedAt: Date }[]>`
    SELECT id, ended_at AS "endedAt" FROM orders o
    WHERE ended_at BETWEEN ${from} AND clock_timestamp() - make_interval(days => ${days}::int)
      AND released_reference IS NULL AND never_had_money(id) AND NOT EXISTS (
        SELECT FROM messages m WHERE m.order_id = o.id AND m.sent_at IS NULL
          AND (m.next_try_at IS NOT NULL OR m.held_by IS NOT NULL OR m.tries > 0))
    ORDER BY ended_at LIMIT ${ORDERS_AT_ONCE} FOR UPDATE SKIP LOCKED`;
  const orderId = { in: found.map(({ id }) => id) };
  await tx.journalEntry.deleteMany({ where: { orderId } });
  await tx.message.deleteMany({ where: { orderId } });
  await tx.idempotencyKey.deleteMany({ where: { orderId } });
  await tx.verification.deleteMany({ where: { payment: { orderId } } });
  await tx.money.deleteMany({ where: { payment: { orderId } } });
  await tx.payment.deleteMany({ where: { orderId } });
  await tx.orderLine.deleteMany({ where: { orderId } });
  await tx.order.deleteMany({ where: { id: orderId } });
  return found.map(({ endedAt }) => endedAt);
}

/**
 * Empties answers of verify and sent messages that are older than so many days, and deletes webhooks; not of what is
 * open. In batches: none holds a lock for long.
 * @returns how many of each
 */
async function emptyBodies(prisma: PrismaClient, days: number) {
  const lt = new Date(Date.now() - days * DAY_MS);
  const isDone = { OR: [{ orderId: null }, { order: { NOT: IS_OPEN } }] };
  const payment = { cases: { none: { closedAt: null } }, ...isDone };
  const isOpen = { createdAt: { lt }, NOT: payment };
  const open = await prisma.payment.findMany({ where: isOpen, select: { reference: true } });
  const NOT = { paymentReferences: { hasSome: open.map(({ reference }) => reference) } };
  const [body, limit] = [{ not: null }, BATCH];
  const answers = { where: { at: { lt }, body, payment }, data: { body: null }, limit };
  const messages = { where: { sentAt: { lt }, body: { not: '' }, ...isDone }, data: { body: '' }, limit };
  return {
    answers: await untilDone(() => prisma.verification.updateMany(answers)),
    messages: await untilDone(() => prisma.message.updateMany(messages)),
    webhooks: await untilDone(() => prisma.webhook.deleteMany({ where: { lastAt: { lt }, NOT }, limit })),
  };
}

async function untilDone(change: () => Promise<{ count: number }>): Promise<number> {
  for (let sum = 0; ;) {
    const { count } = await change();
    sum += count;
    if (count < BATCH) return sum;
  }
}

/** What stands where an address was erased. */
const ERASED = 'erased@example.invalid';

/** Of a failed order that has not ended, the next payment would need the address. */
const MAY_GO_ON = { OR: [...IS_OPEN.OR, { status: 'failed' as const, endedAt: null }] };

/** Erases the address of an order, and what came and went about it; behind its lock. @returns false: it may go on */
export async function eraseOrder(tx: Tx, id: string): Promise<boolean> {
  const data = { email: ERASED, updatedAt: new Date() };
  const { count } = await tx.order.updateMany({ where: { id, NOT: MAY_GO_ON }, data });
  if (count === 0) return false;
  const payment = { orderId: id };
  await tx.verification.updateMany({ where: { payment, body: { not: null } }, data: { body: null } });
  // One that was given up is sent when a person says so.
  const isDone = { OR: [{ sentAt: { not: null } }, { tries: 0 }] };
  await tx.message.updateMany({ where: { orderId: id, nextTryAt: null, ...isDone }, data: { body: '' } });
  return true;
}

/** Empties each webhook that names the address, however it spells it. @returns how many */
export async function eraseWebhooks(prisma: PrismaClient, email: string): Promise<number> {
  let [emptied, gt] = [0, 0n];
  for (;;) {
    const where = { id: { gt }, body: { not: null } };
    const rows = await prisma.webhook.findMany({ where, orderBy: { id: 'asc' }, take: 500 });
    const last = rows.at(-1);
    if (last === undefined) return emptied;
    gt = last.id;
    const named = rows.filter(({ body }) => decoded(Buffer.from(body ?? []).toString()).includes(email.toLowerCase()));
    const ids = named.map(({ id }) => id);
    emptied += (await prisma.webhook.updateMany({ where: { id: { in: ids } }, data: { body: null } })).count;
  }
}

/** In small letters, without JSON's escapes and the encoding of forms, be one inside of the other, twice. */
function decoded(text: string, passes = 3): string {
  const read = text.replace(/\\+u([0-9a-f]{4})|%([0-7][0-9a-f])/gi, (_, json?: string, form?: string) =>
    String.fromCharCode(parseInt(json ?? form ?? '', 16)),
  );
  return passes === 0 ? read.toLowerCase() : decoded(read, passes - 1);
}
