import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { PrismaClient } from '../platform/prisma/client.ts';

export const registry = new Registry();
collectDefaultMetrics({ register: registry });

const webhooks = new Counter({
  name: 'shop_webhooks_total',
  help: 'Webhooks by outcome',
  labelNames: ['outcome'],
  registers: [registry],
});

export function countWebhook(outcome: string): void {
  webhooks.inc({ outcome });
}

/** Pending work, read from the database at each scrape. */
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
  gauge('shop_open_cases', 'Open cases', () => prisma.case.count({ where: { mode, closedAt: null } }));
  gauge('shop_unsent_messages', 'Messages that are not delivered yet', () =>
    prisma.message.count({ where: { nextTryAt: { not: null } } }),
  );
  gauge('shop_due_payments', 'Payments whose check is overdue', () =>
    prisma.payment.count({ where: { mode, nextCheckAt: { lte: new Date() } } }),
  );
}
