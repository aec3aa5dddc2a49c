import type { Database, Queryable } from '../../platform/database/database.ts';
import type { OrderId, Reference } from '../../platform/ids.ts';
import type { Mode } from '../../platform/mode.ts';

export type WebhookRow = {
  id: bigint;
  receivedAt: Date;
  lastReceivedAt: Date;
  deliveries: number;
  authenticity: 'signed' | 'unsigned';
  outcome: 'hinted' | 'ignored';
  reference: Reference | null;
  /** The mode of its latest delivery. */
  mode: Mode;
  bytes: number;
};

export const PAGE_ROWS = 50;

/**
 * Webhooks in order of arrival, newest first: their ids ascend in that order.
 * @param before the webhook after which the page begins
 */
export function latestWebhooks(
  db: Queryable,
  { reference, before }: { reference: Reference | null; before: string | null },
): Promise<WebhookRow[]> {
  const values: string[] = [];
  const given = (condition: string, value: string | null): string => {
    if (value === null) return '';
    values.push(value);
    return `AND ${condition} $${values.length}`;
  };
  return db.query(
    `SELECT id, received_at AS "receivedAt", last_received_at AS "lastReceivedAt", deliveries, authenticity,
       outcome, reference, mode, octet_length(body) AS bytes
     FROM webhooks WHERE true ${given('reference =', reference)} ${given('id <', before)}
     ORDER BY id DESC LIMIT ${PAGE_ROWS + 1}`,
    values,
  );
}

export type StoredWebhook = Omit<WebhookRow, 'bytes'> & { contentType: string; body: Buffer };

/** The order of a payment of the mode; null when the reference is not ours. */
export async function orderOfPayment(
  database: Database,
  mode: Mode,
  reference: Reference,
): Promise<OrderId | null> {
  const { payment } = await database.prisma();
  const found = await payment.findFirst({ where: { reference, mode }, select: { orderId: true } });
  return (found?.orderId as OrderId | undefined) ?? null;
}

export async function webhookById(database: Database, id: string): Promise<StoredWebhook | null> {
  const { webhook } = await database.prisma();
  const found = await webhook.findUnique({ where: { id: BigInt(id) } });
  return found && ({ ...found, body: Buffer.from(found.body) } as StoredWebhook);
}
