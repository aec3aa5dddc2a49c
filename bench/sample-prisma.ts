import { PrismaPg } from '@prisma/adapter-pg';
import { applyMigrations } from '../src/platform/migrate.ts';
import { PrismaClient } from '../src/platform/prisma/client.ts';
import { pool, serveSample } from './sample.ts';

/*
 * The sample as users of Prisma write it: orders with their payments, and nested writes. It uses
 * our generated client and therefore our columns, but its two tables have only keys and defaults:
 * no CHECK, no trigger, no other index.
 */

await applyMigrations(process.env.DATABASE_URL ?? '');
await pool.query(`
  CREATE SCHEMA ours;
  ALTER TABLE orders SET SCHEMA ours;
  ALTER TABLE payments SET SCHEMA ours;
  CREATE TABLE orders (LIKE ours.orders INCLUDING DEFAULTS, PRIMARY KEY (id));
  CREATE TABLE payments (LIKE ours.payments INCLUDING DEFAULTS, PRIMARY KEY (reference),
    FOREIGN KEY (order_id) REFERENCES orders);
  INSERT INTO products (sku, name, unit_amount, currency) VALUES ('ankara-tote', 'Tote', 850000, 'NGN')`);

const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });

serveSample({
  price: async (sku) => {
    const { unitAmount, currency } = await prisma.product.findUniqueOrThrow({ where: { sku } });
    return { amount: Number(unitAmount), currency };
  },
  insert: ({ reference, ...order }) => {
    const payment = { reference, amount: order.amount, status: 'sending' as const };
    return prisma.order.create({ data: { id: reference, mode: 'test', ...order, payments: { create: payment } } });
  },
  open: (reference, checkoutUrl) =>
    prisma.payment.update({ where: { reference }, data: { status: 'open', checkoutUrl } }),
  pay: (reference) =>
    prisma.payment.update({
      where: { reference },
      data: { status: 'paid', order: { update: { status: 'paid', paidAt: new Date() } } },
    }),
});
