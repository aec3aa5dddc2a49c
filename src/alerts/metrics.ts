import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { PrismaClient } from '../platform/prisma/client.ts';

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

const webhooks = new Counter({
  name: 'shop_webhooks_total',
  help: 'Webhooks by what became of them',
  labelNames: ['outcome'],
  registers: [registry],
});

export function countWebhook(outcome: string): void {
  webhooks.inc({ outcome });
}

/** What waits, read from the database when the metrics are asked for. */
export function watchDatabase(prisma: PrismaClient, mode: 'test' | 'live'): void {
  const gauge = (name: string, help: string, count: () => Promise<number>): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await count().catch(() => Number.NaN));
      },
    });
  gauge('shop_open_cases', 'Cases that wait for a person', () =>
    prisma.case.count({ where: { mode, closedAt: null } }),
  );
  gauge('shop_unsent_messages', 'Messages that wait for the receiver', () =>
    prisma.message.count({ where: { nextTryAt: { not: null } } }),
  );
  gauge('shop_due_payments', 'Payments whose check is overdue', () =>
    prisma.payment.count({ where: { mode, nextCheckAt: { lte: new Date() } } }),
  );
}
