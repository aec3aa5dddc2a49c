import type { Database, Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';

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
