import type { Line } from '../orders/input.ts';
import { isDatabaseAway, sqlStateOf } from '../platform/db.ts';
import { createGroups, type Pending } from '../platform/groups.ts';
import type { Mode, PrismaClient } from '../platform/prisma/client.ts';
import type { Placed } from './open-payment.ts';

/**
 * The stored form of an Idempotency-Key. It never equals another person's key, and reveals nothing.
 */
export type Key = { key: Uint8Array<ArrayBuffer>; digest: Uint8Array<ArrayBuffer> };

type NewOrder = Placed & { lines: Line[]; returnUrl: string | null; key: Key | null };
type Waiting = Pending<NewOrder & { mode: Mode }, void>;

/** The most orders in one statement. */
const MOST_TOGETHER = 32;
const GROUPS = new WeakMap<PrismaClient, (order: NewOrder & { mode: Mode }) => Promise<void>>();

/**
 * Stores an order with its lines, its payment, its key and its first journal line, before anything
 * is sent. One statement stores the orders that are placed at the same moment.
 * @throws a database error, for example on `idempotency_keys_pkey` if the key was used at the same
 * moment
 */
export async function placeOrder(prisma: PrismaClient, mode: Mode, order: NewOrder): Promise<void> {
  const known = GROUPS.get(prisma);
  const enter =
    known ??
    createGroups({
      most: MOST_TOGETHER,
      keyOf: ({ key, orderId }) => (key === null ? orderId : hexOf(key.key)),
      run: (group) => placeTogether(prisma, group),
    });
  if (known === undefined) GROUPS.set(prisma, enter);
  await enter({ ...order, mode });
}

/**
 * If the database refuses the group, it has stored nothing, and each order is placed once more on
 * its own.
 */
async function placeTogether(prisma: PrismaClient, group: Waiting[]): Promise<void> {
  try {
    await insert(prisma, group);
  } catch (error) {
    // After a lost connection, the orders may have been stored.
    if (group.length === 1 || isDatabaseAway(error) || sqlStateOf(error) === null) throw error;
    for (const one of group) insert(prisma, [one]).then(one.resolve, one.reject);
    return;
  }
  for (const { resolve } of group) resolve();
}

/** Raw: one statement for several tables takes half the time of Prisma's seven. */
async function insert(prisma: PrismaClient, group: readonly Waiting[]): Promise<void> {
  const placed = group.map(({ item }) => item);
  const orders = JSON.stringify(placed.map(orderRow));
  const lines = JSON.stringify(placed.flatMap(lineRows));
  await prisma.$executeRaw`
    WITH
      n AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${orders}::jsonb) AS n ("orderId" text, reference text, mode mode, email text,
          amount bigint, currency text, "returnUrl" text, key bytea, digest bytea)),
      o AS (
        INSERT INTO orders (id, mode, email, amount, currency, return_url)
        SELECT "orderId", mode, email, amount, currency, "returnUrl" FROM n),
      l AS (
        INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
        SELECT "orderId", position, sku, description, "unitAmount", quantity
        FROM jsonb_to_recordset(${lines}::jsonb) AS line ("orderId" text, position int, sku text, description text,
          "unitAmount" bigint, quantity int)),
      p AS (
        INSERT INTO payments (reference, mode, order_id, amount, currency, status)
        SELECT reference, mode, "orderId", amount, currency, 'sending' FROM n),
      k AS (
        INSERT INTO idempotency_keys (mode, key, digest, order_id)
        SELECT mode, key, digest, "orderId" FROM n WHERE key IS NOT NULL)
    INSERT INTO journal (order_id, reference, what, "by")
    SELECT "orderId", reference, 'order placed', 'shopper' FROM n`;
}

/** Amounts are texts, because JSON numbers lose digits. */
function orderRow(order: Waiting['item']): object {
  const { amount, key } = order;
  const bytes = key === null ? {} : { key: byteaOf(key.key), digest: byteaOf(key.digest) };
  return { ...order, lines: undefined, amount: amount.toString(), key: null, ...bytes };
}

function lineRows({ orderId, lines }: Waiting['item']): object[] {
  return lines.map(({ sku, description, unitAmount, quantity }, position) => {
    return { orderId, position, sku, description, unitAmount: unitAmount.toString(), quantity };
  });
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** The text from which PostgreSQL reads bytes. */
const byteaOf = (bytes: Uint8Array): string => `\\x${hexOf(bytes)}`;
