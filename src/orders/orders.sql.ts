import type { Database, Queryable, Statement } from '../platform/database/database.ts';
import { batched } from '../platform/batcher.ts';
import type { OrderId } from '../platform/ids.ts';
import type { Mode } from '../platform/mode.ts';
import type { Order, OrderLine, OrderStatus } from './order.ts';
import type { ShopperDetails } from './shopper-details.ts';

export type ProductRow = {
  sku: string;
  name: string;
  description: string;
  image: string;
  unitAmount: bigint;
  currency: string;
};

/** Products on sale, as the shop arranged them. */
export async function productsOnSale(database: Database): Promise<ProductRow[]> {
  return (await database.prisma()).product.findMany({
    where: { active: true },
    orderBy: [{ position: 'asc' }, { sku: 'asc' }],
    omit: { active: true, position: true },
  });
}

const PRICES: Statement = {
  name: 'prices-of',
  text: `SELECT sku, name, unit_amount AS "unitAmount", currency FROM products
         WHERE active AND sku = ANY($1)`,
};

type PriceRow = Omit<ProductRow, 'description' | 'image'>;

/** Products that are not on sale are missing. Requests that come at the same time share the statement. */
export const pricesOf: (db: Queryable, skus: string[]) => Promise<PriceRow[]> = batched<string[], PriceRow[]>(
  {
    run: async (db, baskets) => {
      const prices = await db.query<PriceRow>(PRICES, [[...new Set(baskets.flat())]]);
      return baskets.map((skus) => prices.filter(({ sku }) => skus.includes(sku)));
    },
  },
);

/** Adds the products unless there are any. Two servers that start at once add them once. */
export async function addProductsIfNone(db: Queryable, products: readonly ProductRow[]): Promise<void> {
  await db.query(
    `INSERT INTO products (sku, name, description, image, unit_amount, currency, position)
     SELECT p.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
       WITH ORDINALITY AS p (sku, name, description, image, unit_amount, currency, position)
     WHERE NOT EXISTS (SELECT FROM products)
     ON CONFLICT (sku) DO NOTHING`,
    [
      products.map((p) => p.sku),
      products.map((p) => p.name),
      products.map((p) => p.description),
      products.map((p) => p.image),
      products.map((p) => p.unitAmount),
      products.map((p) => p.currency),
    ],
  );
}

/** Each order `o` as an {@link OrderRow}. */
export const ORDER_WITH_LINES = `
    SELECT o.id, o.external_id AS "externalId", o.mode, o.status, o.amount, o.currency, o.paid_at AS "paidAt",
      coalesce((SELECT money_that_came(r) FROM releases r WHERE r.order_id = o.id), o.amount) AS came,
      back.amount AS refunded, back.at AS "refundedAt", o.shopper_details AS details, o.metadata,
      o.pay_by AS "payBy", coalesce(o.pay_by <= now(), false) AS "isPastDeadline",
      coalesce(o.release_id, o.planned_release_id, 'rel_' || o.id) AS "releaseId",
      coalesce((SELECT r.reference FROM releases r WHERE r.order_id = o.id),
        (SELECT p.reference FROM payments p
          WHERE p.order_id = o.id ORDER BY p.created_at DESC LIMIT 1)) AS reference,
      (SELECT json_agg(json_build_object('sku', l.sku, 'description', l.description,
         'unitAmount', l.unit_amount::text, 'quantity', l.quantity) ORDER BY l.position)
       FROM order_lines l WHERE l.order_id = o.id) AS lines
    FROM orders o CROSS JOIN LATERAL (
      SELECT coalesce(sum(r.amount), 0)::bigint AS amount, max(r.refunded_at) AS at
      FROM refunds r WHERE r.order_id = o.id) back`;
const ORDER: Statement = { name: 'order-with-lines', text: `${ORDER_WITH_LINES} WHERE o.id = $1` };

export type OrderRow = Omit<Order, 'total' | 'lines'> & {
  amount: bigint;
  currency: string;
  // JSON has no bigint, and a float would not hold every amount.
  lines: (Omit<OrderLine, 'unitAmount'> & { unitAmount: string })[] | null;
};

export async function findOrder(db: Queryable, id: OrderId): Promise<Order | null> {
  const [row] = await db.query<OrderRow>(ORDER, [id]);
  return row === undefined ? null : orderOf(row);
}

export function orderOf({ amount, currency, lines, ...order }: OrderRow): Order {
  return {
    ...order,
    total: { amount, currency },
    lines: (lines ?? []).map((line) => ({ ...line, unitAmount: BigInt(line.unitAmount) })),
  };
}

export const findOrderStatus: (db: Queryable, id: OrderId) => Promise<OrderStatus | null> = batched({
  run: async (db, ids: readonly OrderId[]) => {
    const states = await findOrderStates(db, [...ids]);
    return ids.map((id) => states.get(id)?.status ?? null);
  },
});

const ORDER_STATES: Statement = {
  name: 'order-states',
  // Looked up one by one: for a join the planner would read the whole table while it is small.
  text: `SELECT g.id, (SELECT o.status FROM orders o WHERE o.id = g.id) AS status,
           (SELECT coalesce(sum(r.amount), 0)::bigint FROM refunds r WHERE r.order_id = g.id) AS refunded
         FROM unnest($1::text[]) AS g (id)`,
};

/** What may change of an order while its page is open. */
export type OrderState = Pick<Order, 'status' | 'refunded'>;

/** The same for many orders at once, by id. */
export async function findOrderStates(db: Queryable, ids: OrderId[]): Promise<Map<OrderId, OrderState>> {
  const rows = await db.query<{ id: OrderId; status: OrderStatus | null; refunded: bigint }>(ORDER_STATES, [
    ids,
  ]);
  return new Map(
    rows.flatMap(({ id, status, refunded }) =>
      status === null ? [] : [[id, { status, refunded }] as const],
    ),
  );
}

export type NewOrder = {
  id: OrderId;
  externalId: string | null;
  mode: Mode;
  email: string;
  currency: string;
  amount: bigint;
  lines: readonly OrderLine[];
  /** A configured address; null: the first one. */
  returnUrl: string | null;
  details: ShopperDetails;
};

/** The address that was chosen for the shopper's return; null: none. */
export async function findReturnUrl(database: Database, id: OrderId): Promise<string | null> {
  const { order } = await database.prisma();
  return (await order.findUnique({ where: { id }, select: { returnUrl: true } }))?.returnUrl ?? null;
}

/** The lines as four parallel lists, as `unnest` takes them: one parameter per column, however many lines. */
export function lineColumns(lines: readonly OrderLine[]): [unknown[], string[], bigint[], number[]] {
  return [
    lines.map((line) => line.sku),
    lines.map((line) => line.description),
    lines.map((line) => line.unitAmount),
    lines.map((line) => line.quantity),
  ];
}
