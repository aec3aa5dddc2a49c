import type { OrderStatus } from '../../orders/order.ts';
import type { Queryable, Database } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';
import { hasPartSql, inViewSql, type OrderMatch } from '../../reporting/order-search.sql.ts';
import type { OrderSearch } from './search.ts';

export type OrderRow = {
  id: OrderId;
  externalId: string | null;
  email: string;
  status: OrderStatus;
  /** Minor units. */
  amount: bigint;
  currency: string;
  createdAt: Date;
  /** Its first line, and how many it has. */
  item: string | null;
  quantity: number | null;
  lines: number;
  /** Class of its open case; null: it has none. */
  openCase: string | null;
  /** What paid it, in minor units: less than `amount` where a person accepted less; null: it is not paid. */
  came: bigint | null;
  /** What was given back, in minor units. */
  refunded: bigint;
};

/** Sums of what was found in one currency, in minor units. */
export type FoundMoney = { currency: string; orders: number; paid: bigint; refunded: bigint };

export type OrderPage = {
  orders: OrderRow[];
  /** The order after which the next page begins; null: there is nothing older. */
  next: OrderId | null;
  /** How far back was searched; null: to the first order. */
  lookedBackTo: Date | null;
  /** Of everything found that far back; null on later pages. */
  sums: FoundMoney[] | null;
};

export const PAGE_ROWS = 50;
/**
 * The most orders that one page searches. Statuses and parts of texts have no index: maintaining it would
 * cost at every confirmed payment, and most searches are for recent orders. The page reports how far back it
 * searched, and the next one continues from there.
 */
const MAX_LOOKED_THROUGH = 10_000;
/** A part of a text is also searched in the lines of each order, which takes three times as long. */
const MAX_LOOKED_THROUGH_FOR_PART = 4_000;

const FACTS = `
  LEFT JOIN LATERAL (SELECT description AS item, quantity FROM order_lines WHERE order_id = o.id
    ORDER BY position LIMIT 1)
    first ON true
  LEFT JOIN LATERAL (SELECT class FROM (
      SELECT class, 1 AS rank FROM suspense_items WHERE order_id = o.id AND closed_at IS NULL
      UNION ALL SELECT class, 2 FROM findings WHERE order_id = o.id AND closed_at IS NULL
        AND raised_at IS NOT NULL
    ) cases ORDER BY rank LIMIT 1) open ON true`;

/**
 * One page of orders, newest first.
 * @param match what the searched words are; null: nothing is searched for
 */
export async function findOrders(
  db: Queryable,
  mode: Mode,
  search: OrderSearch,
  match: OrderMatch | null = null,
): Promise<OrderPage> {
  const { window, wanted, values, windowValues } = conditionsOf(mode, search, match);
  const from = `FROM orders WHERE ${window.join(' AND ')} ORDER BY created_at DESC, id DESC`;
  const most = match !== null && 'part' in match ? MAX_LOOKED_THROUGH_FOR_PART : MAX_LOOKED_THROUGH;
  // All orders that an index finds are searched.
  const isWhole = match !== null && !('part' in match);
  const found = `FROM (SELECT * ${from} ${isWhole ? '' : `LIMIT ${most}`}) x WHERE ${wanted.join(' AND ')}`;
  const rows = await db.query<OrderRow>(
    `SELECT o.id, o.external_id AS "externalId", o.email, o.status, o.amount, o.currency,
      o.created_at AS "createdAt",
       first.item, first.quantity, (SELECT count(*)::int FROM order_lines WHERE order_id = o.id) AS lines,
       open.class AS "openCase",
       (SELECT money_that_came(e) FROM releases e WHERE e.id = o.release_id) AS came,
       (SELECT coalesce(sum(amount), 0)::bigint FROM refunds WHERE order_id = o.id) AS refunded
     FROM (SELECT x.* ${found} ORDER BY created_at DESC, id DESC LIMIT ${PAGE_ROWS + 1}) o ${FACTS}
     ORDER BY o.created_at DESC, o.id DESC`,
    values,
  );
  const isFull = rows.length > PAGE_ROWS;
  const [last] = isWhole
    ? []
    : await db.query<{ id: OrderId; createdAt: Date }>(
        `SELECT id, created_at AS "createdAt" ${from} OFFSET ${most - 1} LIMIT 1`,
        values.slice(0, windowValues),
      );
  const orders = rows.slice(0, PAGE_ROWS);
  return {
    orders,
    next: (isFull ? orders.at(-1)?.id : last?.id) ?? null,
    lookedBackTo: last?.createdAt ?? null,
    sums: search.before !== null ? null : isFull ? await sumsOf(db, found, values) : sumsOfAll(orders),
  };
}

function sumsOfAll(orders: readonly OrderRow[]): FoundMoney[] {
  const sums = new Map<string, FoundMoney>();
  for (const { currency, came, refunded } of orders) {
    const of = sums.get(currency) ?? { currency, orders: 0, paid: 0n, refunded: 0n };
    const paid = of.paid + (came ?? 0n);
    sums.set(currency, { currency, orders: of.orders + 1, paid, refunded: of.refunded + refunded });
  }
  return [...sums.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

async function sumsOf(db: Queryable, found: string, values: readonly unknown[]): Promise<FoundMoney[]> {
  const rows = await db.query<Record<'currency' | 'paid' | 'refunded', string> & { orders: number }>(
    `WITH found AS MATERIALIZED (SELECT x.id, x.currency, x.status, x.amount ${found}),
       given_back AS MATERIALIZED (SELECT r.currency, sum(r.amount) AS amount FROM refunds r
         WHERE r.order_id IN (SELECT id FROM found WHERE status = 'paid') GROUP BY r.currency)
     SELECT currency, count(*)::int AS orders, (coalesce(sum(amount) FILTER (WHERE status = 'paid'), 0) - (
         SELECT coalesce(sum(e.amount - money_that_came(e)), 0) FROM acceptances a
           JOIN releases e ON e.acceptance_id = a.id
         WHERE e.order_id = a.order_id AND a.currency = found.currency
           AND a.order_id IN (SELECT id FROM found WHERE status = 'paid')))::text AS paid,
       coalesce((SELECT amount FROM given_back g WHERE g.currency = found.currency), 0)::text AS refunded
     FROM found GROUP BY currency ORDER BY currency`,
    values,
  );
  return rows.map((row) => ({ ...row, paid: BigInt(row.paid), refunded: BigInt(row.refunded) }));
}

/** `window`: conditions that an index supports; `wanted`: conditions that are checked row by row. */
function conditionsOf(mode: Mode, search: OrderSearch, match: OrderMatch | null) {
  const { view, currency, from, to, before } = search;
  const values: unknown[] = [];
  const given = (condition: (parameter: string) => string, value: unknown): string[] => {
    if (value === null || value === undefined) return [];
    values.push(value);
    return [condition(`$${values.length}`)];
  };
  const { ids, email, part } = { ids: null, email: null, part: null, ...match };
  const window = [
    ...given((of) => `lower(email) = lower(${of})`, email),
    ...given((of) => `id = ANY(${of})`, ids),
    ...given((of) => `created_at >= ${of}::date::timestamp AT TIME ZONE 'UTC'`, from),
    ...given((of) => `created_at < (${of}::date + 1)::timestamp AT TIME ZONE 'UTC'`, to),
    ...given((of) => `(created_at, id) < ((SELECT created_at FROM orders WHERE id = ${of}), ${of})`, before),
  ];
  const windowValues = values.length;
  const wanted = [
    ...given((of) => `x.mode = ${of}`, mode),
    ...given((of) => inViewSql('x', of, `$${windowValues + 1}`), view),
    ...given((of) => `x.currency = ${of}`, currency),
    ...given((of) => hasPartSql('x', of), part),
  ];
  return { window: windowValues === 0 ? ['true'] : window, wanted, values, windowValues };
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
