import type { Database } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Mode } from '../../src/platform/mode.ts';
import type { PaymentStatus } from '../../src/payments/payment.ts';

export type PlantedPayment = {
  reference?: string;
  /** Another payment of the same order. */
  orderId?: string;
  status?: PaymentStatus;
  /** Minor units. */
  amount?: bigint;
  currency?: string;
  mode?: Mode;
  /** PostgreSQL's words for how long ago it was written. */
  age?: string;
  /** Whether it released its order. */
  isConfirmed?: boolean;
  /** PostgreSQL's words for how long ago it was released. */
  confirmed?: string;
  /** What verify had answered before it was confirmed. */
  earlier?: string;
};

/** Writes a payment, with its order and with its evidence when it is confirmed. @returns its reference and order */
export async function plant(
  database: Database,
  payment: PlantedPayment = {},
): Promise<{ reference: string; orderId: string }> {
  const { reference = newId(), amount = 2_500n, currency = 'NGN', mode = 'test', age = '1 hour' } = payment;
  const { isConfirmed = false, earlier, status = isConfirmed ? 'paid' : 'open' } = payment;
  const orderId = payment.orderId ?? newId();
  await database.transaction(async (tx) => {
    if (payment.orderId === undefined)
      await tx.query(
        `INSERT INTO orders (id, mode, email, amount, currency) VALUES ($1, $2, 'ada@example.com', $3, $4)`,
        [orderId, mode, amount, currency],
      );
    await tx.query(
      `INSERT INTO payments (reference, order_id, mode, amount, currency, status, checkout_url, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'https://pay.example/x', now() - $7::interval)`,
      [reference, orderId, mode, amount, currency, status, age],
    );
    if (earlier !== undefined)
      await addVerification(tx, { reference, orderId, mode, amount, currency }, earlier);
    if (isConfirmed) await confirm(tx, { reference, orderId, mode, amount, currency }, payment.confirmed);
  });
  return { reference, orderId };
}

type Facts = { reference: string; orderId: string; mode: Mode; amount: bigint; currency: string };
type Tx = Parameters<Parameters<Database['transaction']>[0]>[0];

async function addVerification(tx: Tx, facts: Facts, outcome: string): Promise<bigint | undefined> {
  const { reference, orderId, mode, amount, currency } = facts;
  const rows = await tx.query<{ id: bigint }>(
    `INSERT INTO verifications (reference, order_id, mode, outcome, amount, currency, http_status, body_sha256, cause)
     VALUES ($1, $2, $3, $4, $5, $6, 200, '\\x00', 'webhook') RETURNING id`,
    [reference, orderId, mode, outcome, amount, currency],
  );
  return rows[0]?.id;
}

async function confirm(tx: Tx, facts: Facts, confirmed = '30 minutes'): Promise<void> {
  const { reference, orderId, mode, amount, currency } = facts;
  const evidence = await addVerification(tx, facts, 'paid');
  await tx.query(
    `INSERT INTO releases (id, order_id, reference, mode, amount, currency, verification_id, delivery, released_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'unneeded', now() - $8::interval)`,
    [`rel_${reference}`, orderId, reference, mode, amount, currency, evidence, confirmed],
  );
  await tx.query(`UPDATE orders SET status = 'paid', release_id = $2, paid_at = now() WHERE id = $1`, [
    orderId,
    `rel_${reference}`,
  ]);
}

/** How many rows each table has, to show that nothing was written. */
export async function rowCounts(database: Database): Promise<Record<string, bigint>> {
  const tables = [
    'orders',
    'payments',
    'verifications',
    'releases',
    'suspense_items',
    'findings',
    'reconciliation_runs',
    'journal',
  ];
  const counts: Record<string, bigint> = {};
  for (const table of tables) {
    const [row] = await database.query<{ count: bigint }>(`SELECT count(*) FROM ${table}`);
    counts[table] = row?.count ?? 0n;
  }
  return counts;
}
