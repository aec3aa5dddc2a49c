import { lockOrder } from '../orders/order.ts';
import { isDatabaseAway, transact, type Tx } from '../platform/db.ts';
import type { Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';

const BATCH = 5_000;
const DAY_MS = 86_400_000;

/** Orders that wait for money or for a person keep their evidence. */
const IS_OPEN = {
  OR: [{ status: { in: ['pending', 'review'] } }, { cases: { some: { closedAt: null } } }],
} satisfies Prisma.OrderWhereInput;

/** Null: bodies are kept permanently. 0: unpaid orders are kept permanently. */
type Periods = { RETAIN_BODIES_DAYS: number | null; RETAIN_UNPAID_DAYS: number };

/**
 * Removes what is older than the configuration says.
 * @returns how many rows of each kind; null: that kind is kept
 */
export async function retain(prisma: PrismaClient, { RETAIN_BODIES_DAYS, RETAIN_UNPAID_DAYS }: Periods) {
  await removeSamples(prisma);
  return {
    bodies: RETAIN_BODIES_DAYS === null ? null : await emptyBodies(prisma, RETAIN_BODIES_DAYS),
    orders: RETAIN_UNPAID_DAYS === 0 ? null : await removeUnpaid(prisma, RETAIN_UNPAID_DAYS),
  };
}

/**
 * Days. Anybody can send unsigned or wrong webhooks, so their samples are kept for a limited time.
 */
const SAMPLE_DAYS = 30;

async function removeSamples(prisma: PrismaClient): Promise<void> {
  const lastAt = { lt: new Date(Date.now() - SAMPLE_DAYS * DAY_MS) };
  const where = { signature: { in: ['unsigned', 'refused'] }, lastAt };
  await untilDone(() => prisma.webhook.deleteMany({ where, limit: BATCH }));
}

/** Orders per transaction, so that it ends long before its time limit. */
const ORDERS_AT_ONCE = 100;
type Ended = { id: string; endedAt: Date };

/**
 * Deletes orders that ended at least this many days ago and never had money, a case or an unsent
 * message, together with their payments, verifications, keys and journal. The database's triggers
 * refuse to delete any other order.
 * @returns how many orders
 */
async function removeUnpaid(prisma: PrismaClient, days: number): Promise<number> {
  let removed = 0;
  // Page by page, so that an order that is kept is read only once.
  let last: Ended = { id: '', endedAt: new Date(0) };
  for (;;) {
    // Raw: a function of the database says which orders may be deleted.
    const page = await prisma.$queryRaw<Ended[]>`
      SELECT id, ended_at AS "endedAt" FROM orders
      WHERE (ended_at, id) > (${last.endedAt}, ${last.id}) AND paid_reference IS NULL
        AND ended_at < clock_timestamp() - make_interval(days => ${days}::int) AND may_be_removed(id)
      ORDER BY ended_at, id LIMIT ${ORDERS_AT_ONCE}`;
    removed += await removeOrders(
      prisma,
      page.map(({ id }) => id),
    );
    const end = page.at(-1);
    if (end === undefined || page.length < ORDERS_AT_ONCE) return removed;
    last = end;
  }
}

/**
 * Deletes orders together. If the database refuses one of them, for example because a table of the
 * shop refers to it, each order is deleted alone, and the refused one stays.
 * @returns how many were deleted
 */
async function removeOrders(prisma: PrismaClient, ids: string[]): Promise<number> {
  try {
    return await transact(prisma, (tx) => removeLocked(tx, ids));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    if (ids.length === 1) return 0;
    let removed = 0;
    for (const id of ids) removed += await removeOrders(prisma, [id]);
    return removed;
  }
}

/** Skips orders that are being changed, and orders whose payment a webhook has just named. */
async function removeLocked(tx: Tx, ids: string[]): Promise<number> {
  // Raw: Prisma cannot lock rows. The second statement begins when all rows are locked, and checks
  // again which orders may be deleted.
  await tx.$queryRaw`
    SELECT FROM payments WHERE order_id IN (
      SELECT id FROM orders WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE SKIP LOCKED)
    ORDER BY reference FOR UPDATE`;
  const locked = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM orders WHERE id = ANY(${ids}) AND may_be_removed(id) FOR UPDATE SKIP LOCKED`;
  const orderId = { in: locked.map(({ id }) => id) };
  await tx.journalEntry.deleteMany({ where: { orderId } });
  await tx.message.deleteMany({ where: { orderId } });
  await tx.idempotencyKey.deleteMany({ where: { orderId } });
  await tx.verification.deleteMany({ where: { payment: { orderId } } });
  await tx.ledger.deleteMany({ where: { payment: { orderId } } });
  await tx.payment.deleteMany({ where: { orderId } });
  await tx.orderLine.deleteMany({ where: { orderId } });
  return (await tx.order.deleteMany({ where: { id: orderId } })).count;
}

/**
 * Empties the bodies of verifications and sent messages that are older than this many days, and
 * deletes such webhooks. Orders that are still open keep theirs. It works in batches, so that no
 * lock is held for long.
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

/** The address of an order after its own was erased. */
const ERASED = 'erased@example.invalid';

/**
 * A failed order that has not ended may get another payment, and that payment needs the address.
 */
const MAY_GO_ON = { OR: [...IS_OPEN.OR, { status: 'failed' as const, endedAt: null }] };

/**
 * Erases the address of an order, and the bodies of its verifications and messages.
 * @returns false if the order does not exist or may still be paid
 */
export function eraseOrder(prisma: PrismaClient, mode: Mode, id: string, by: string): Promise<boolean> {
  return transact(prisma, async (tx) => {
    if ((await lockOrder(tx, mode, id)) === null) return false;
    const data = { email: ERASED, updatedAt: new Date() };
    const { count } = await tx.order.updateMany({ where: { id, NOT: MAY_GO_ON }, data });
    if (count === 0) return false;
    const payment = { orderId: id };
    await tx.verification.updateMany({ where: { payment, body: { not: null } }, data: { body: null } });
    // A message that was given up keeps its body, because a person may send it again.
    const isDone = { OR: [{ sentAt: { not: null } }, { tries: 0 }] };
    await tx.message.updateMany({ where: { orderId: id, nextTryAt: null, ...isDone }, data: { body: '' } });
    await tx.journalEntry.create({ data: { orderId: id, what: 'erased', by } });
    return true;
  });
}

/** Empties each webhook whose body contains the address in any encoding. @returns how many */
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

/**
 * The text in lower case, with JSON escapes and percent-encoding removed, also if they are nested.
 */
function decoded(text: string, passes = 3): string {
  const read = text.replace(/\\+u([0-9a-f]{4})|%([0-7][0-9a-f])/gi, (_, json?: string, form?: string) =>
    String.fromCharCode(parseInt(json ?? form ?? '', 16)),
  );
  return passes === 0 ? read.toLowerCase() : decoded(read, passes - 1);
}
