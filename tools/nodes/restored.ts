import { createLogger } from '../../src/platform/logger.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { Secret } from '../../src/platform/secret.ts';
import { brokenAfterALoss, type Lost } from '../../test/support/after-a-loss.ts';
import type { Delivery } from '../../test/support/invariants.ts';
import { isPaidInFull, type Told } from './life.ts';
import type { Restorable } from './restorable.ts';

/** Everybody who remembers: the database, the service, the receiver, and those who ordered and decided. */
export type Remembered = {
  postgres: Pick<Restorable, 'url' | 'query'>;
  serviceUrl: string;
  orders: readonly Told[];
  deliveries: readonly Delivery[];
  lost: Lost;
  /** References whose money a person gave back. */
  decided: readonly string[];
};

/** Whether everything that was paid is confirmed, and everything released is shipped. */
export async function isQuiet({ postgres, orders }: Remembered): Promise<boolean> {
  const taken = orders.filter(({ isTaken }) => isTaken).flatMap(({ orderIds }) => orderIds);
  const [undone] = await postgres.query<{ count: number }>(UNDONE, [taken]);
  return undone?.count === 0;
}

const UNDONE = `
  SELECT ((SELECT count(*) FROM releases WHERE delivery = 'waiting')
    + (SELECT count(*) FROM payments WHERE hints > hints_answered AND next_check_at IS NOT NULL)
    + (SELECT count(*) FROM payments p JOIN orders o ON o.id = p.order_id
       WHERE o.id = ANY($1) AND p.status NOT IN ('paid', 'held')))::int AS count`;

type Row = { id: string; status: string; reference: string | null; releaseId: string | null };

/** What does not hold, by its name: each list must be empty. */
export async function brokenBy(remembered: Remembered): Promise<Record<string, string[]>> {
  const { postgres, serviceUrl, orders, deliveries, lost, decided } = remembered;
  const rows = await postgres.query<Row>(
    `SELECT o.id, o.status, r.reference, r.id AS "releaseId"
     FROM orders o LEFT JOIN releases r ON r.order_id = o.id`,
  );
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const answered = orders.filter(({ orderIds, isKept }) => orderIds.length > 0 && !isKept);
  const shipmentsOf = ({ orderIds }: Told): Set<string> =>
    new Set(deliveries.filter(({ orderId }) => orderIds.includes(orderId)).map(({ releaseId }) => releaseId));
  const where = (isWrong: (order: Told, row: Row | undefined) => boolean): string[] =>
    answered
      .filter((order) => isWrong(order, rowOf.get(order.orderIds.at(-1) ?? '')))
      .map((order) => `${order.name} (${order.story})`);
  const given = await postgres.query<{ reference: string }>(
    `SELECT reference FROM suspense_items WHERE decision = 'refund' AND closed_by = 'Ngozi'`,
  );
  const database = openDatabase(new Secret(postgres.url), createLogger('silent'));
  const losses = [lost];
  const invariants = await brokenAfterALoss({
    database,
    sandboxUrl: serviceUrl,
    deliveries,
    losses,
  }).finally(() => database.close());
  return {
    'orders unknown': where(
      ({ story, isTaken }, row) => row === undefined && (story !== 'no number' || isTaken),
    ),
    'orders paid at the service and not here': where(
      (order, row) => isPaidInFull(order) && row?.status !== 'paid',
    ),
    'orders paid with what is not theirs': where(
      (order, row) => row?.status === 'paid' && (!isPaidInFull(order) || row.reference !== order.reference),
    ),
    'orders shipped under a second id': where((order) => shipmentsOf(order).size > 1),
    'orders paid and not shipped': where(
      (order, row) => row?.status === 'paid' && !shipmentsOf(order).has(row.releaseId ?? ''),
    ),
    'decisions that do not hold': decided.filter(
      (each) => !given.some(({ reference }) => reference === each),
    ),
    'invariants broken': invariants,
  };
}
