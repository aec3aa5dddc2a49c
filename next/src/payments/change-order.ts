import { lockOrder } from '../orders/order.ts';
import { transact } from '../platform/db.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import { DOSSIER, type Change, type MoneyRow, type Terms } from './change.ts';
import { conclude } from './conclude.ts';

/**
 * Changes an order: locks it, reads it whole, does the work, and then makes its statuses, cases and messages agree with
 * the ledger. Whatever touches an order's money goes through here. Nothing but the database may be asked inside.
 * @returns what the work returns; null: there is no such order
 */
export function changeOrder<Result>(
  { prisma, terms }: { prisma: PrismaClient; terms: Terms },
  orderId: string,
  by: string,
  work: (change: Change) => Promise<Result>,
): Promise<Result | null> {
  return transact(prisma, async (tx) => {
    const now = await lockOrder(tx, terms.mode, orderId);
    if (now === null) return null;
    // By one statement, of one snapshot: measured, twice as fast as one for each relation.
    const dossier = await tx.order.findUniqueOrThrow({
      where: { id: orderId },
      include: DOSSIER,
      relationLoadStrategy: 'join',
    });
    const written = { order: {}, payments: new Map(), money: new Set<MoneyRow>(), journal: [], messages: [] };
    const change: Change = { tx, dossier, terms, by, now, ...written };
    const result = await work(change);
    await conclude(change);
    await write(change);
    return result;
  });
}

async function write({ tx, dossier, order, payments, money, journal, messages }: Change): Promise<void> {
  for (const row of money) {
    const { reference, currency } = row;
    await tx.money.upsert({
      where: { reference_currency: { reference, currency } },
      create: row,
      update: row,
      select: { reference: true },
    });
  }
  for (const [reference, data] of payments)
    await tx.payment.update({ where: { reference }, data, select: { reference: true } });
  if (Object.keys(order).length > 0)
    await tx.order.update({ where: { id: dossier.id }, data: order, select: { id: true } });
  if (journal.length > 0) await tx.journalEntry.createMany({ data: journal });
  if (messages.length > 0) await tx.message.createMany({ data: messages });
}
