import type { OrderStatus } from '../../orders/order.ts';
import type { Database, Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { isEmail, type OrderSearch } from './search.ts';

export type OrderRow = {
  id: OrderId;
  externalId: string | null;
  status: OrderStatus;
  /** Minor units. */
  amount: bigint;
  currency: string;
  createdAt: Date;
};

export type OrderPage = {
  orders: OrderRow[];
  /** The order after which the next page begins; null: there is nothing older. */
  next: OrderId | null;
  /** How far back this page has searched, if it stopped before it was full. */
  lookedBackTo: Date | null;
};

export const PAGE_ROWS = 50;
/**
 * The most orders that one page searches. The status has no index: maintaining it would cost at every
 * confirmed payment, and most searches are for recent orders. The page reports how far back it searched,
 * and the next one continues from there.
 */
const MAX_LOOKED_THROUGH = 20_000;

/** One page of orders, newest first. */
export async function findOrders(db: Queryable, mode: Mode, search: OrderSearch): Promise<OrderPage> {
  const { window, wanted, values, windowValues } = conditionsOf(mode, search);
  const isOfOnePerson = search.words !== null && isEmail(search.words);
  const from = `FROM orders WHERE ${window.join(' AND ')} ORDER BY created_at DESC, id DESC`;
  // All orders of one e-mail address are searched.
  const limit = isOfOnePerson ? '' : `LIMIT ${MAX_LOOKED_THROUGH}`;
  const orders = await db.query<OrderRow>(
    `SELECT id, external_id AS "externalId", status, amount, currency, created_at AS "createdAt"
     FROM (SELECT * ${from} ${limit}) looked_through
     WHERE ${wanted.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ${PAGE_ROWS + 1}`,
    values,
  );
  if (orders.length > PAGE_ROWS) {
    return {
      orders: orders.slice(0, PAGE_ROWS),
      next: orders[PAGE_ROWS - 1]?.id ?? null,
      lookedBackTo: null,
    };
  }
  if (isOfOnePerson) return { orders, next: null, lookedBackTo: null };
  const [last] = await db.query<{ id: OrderId; createdAt: Date }>(
    `SELECT id, created_at AS "createdAt" ${from} OFFSET ${MAX_LOOKED_THROUGH - 1} LIMIT 1`,
    values.slice(0, windowValues),
  );
  return { orders, next: last?.id ?? null, lookedBackTo: last?.createdAt ?? null };
}

/** `window`: conditions that an index supports; `wanted`: conditions that are checked row by row. */
function conditionsOf(mode: Mode, search: OrderSearch) {
  const { words, status, currency, from, to, before } = search;
  const values: string[] = [];
  const given = (condition: string, value: string | null): string[] => {
    if (value === null) return [];
    values.push(value);
    return [condition.replaceAll('?', `$${values.length}`)];
  };
  const window = [
    ...given('lower(email) = lower(?)', words !== null && isEmail(words) ? words : null),
    ...given(`created_at >= ?::date::timestamp AT TIME ZONE 'UTC'`, from),
    ...given(`created_at < (?::date + 1)::timestamp AT TIME ZONE 'UTC'`, to),
    ...given('(created_at, id) < ((SELECT created_at FROM orders WHERE id = ?), ?)', before),
  ];
  const windowValues = values.length;
  const wanted = [
    ...given('mode = ?', mode),
    ...given('status = ?', status),
    ...given('currency = ?', currency),
  ];
  return { window: windowValues === 0 ? ['true'] : window, wanted, values, windowValues };
}

/** The number of orders by the planner's statistics: exact counting would read every row. */
export async function estimateOrders(db: Queryable): Promise<bigint> {
  const [row] = await db.query<{ estimate: bigint }>(
    `SELECT GREATEST(reltuples, 0)::bigint AS estimate FROM pg_class WHERE oid = 'orders'::regclass`,
  );
  return row?.estimate ?? 0n;
}

/** One verify answer of an order, as it came. */
export type Evidence = {
  id: bigint;
  reference: Reference;
  outcome: string;
  cause: string;
  httpStatus: number;
  answeredAt: Date;
  /** Null: an ordinary "not yet", of which only the digest is kept, or pruned since. */
  body: Buffer | null;
};

const MAX_EVIDENCE = 200;

/** The latest verify answers of an order, newest first. */
export async function evidenceOf(database: Database, orderId: OrderId): Promise<Evidence[]> {
  const { verification } = await database.prisma();
  const answers = await verification.findMany({
    where: { payment: { orderId } },
    orderBy: { id: 'desc' },
    take: MAX_EVIDENCE,
  });
  const bodies = answers.map(({ body, ...answer }) => ({ ...answer, body: body && Buffer.from(body) }));
  return bodies as unknown[] as Evidence[];
}
