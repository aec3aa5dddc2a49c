import type { Tx } from '../platform/db.ts';
import type { Mode, Order, PrismaClient, Stop } from '../platform/prisma/client.ts';

/** Stops all currencies. */
export const ALL = '*';

/** The stops in force. Each stops one currency, or all of them (`ALL`). */
export function openStops(db: Tx, mode: Mode): Promise<Stop[]> {
  return db.stop.findMany({ where: { mode, endedAt: null } });
}

/** Stops new checkouts. An existing stop stays as it is. */
export async function stopCheckouts(db: Tx, mode: Mode, what: string, by: string, reason: string): Promise<void> {
  await db.stop.createMany({ data: [{ mode, what, by, reason }], skipDuplicates: true });
}

/** Ends the stop of one currency, or the stop of all. @returns whether there was one */
export async function resumeCheckouts(prisma: PrismaClient, mode: Mode, what: string, by: string): Promise<boolean> {
  const { count } = await prisma.stop.updateMany({
    where: { mode, what, endedAt: null },
    data: { endedAt: new Date(), endedBy: by },
  });
  return count > 0;
}

/** The program signs its own stops with this name. */
const BY_PROGRAM = 'program';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The same person may write an address in upper or lower case, and with a tag after a plus sign.
 */
const payerOf = (email: string): string => email.toLowerCase().replace(/\+.*(?=@)/, '');

/**
 * An amount that differs from the price by a power of ten is a payer's mistake or a wrong unit. The
 * second one within an hour, by another payer for another order, stops the currency. The currency
 * is not stopped if an exact payment came within a day, because payers can choose what they pay,
 * and a few of them must not stop a shop whose unit is right. After a person has allowed the
 * currency again, the program does not stop it for a day.
 */
export async function stopOnUnitErrors(tx: Tx, { mode, id, email }: Order, currency: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - HOUR_MS);
  const others = await tx.case.findMany({
    where: {
      mode,
      currency,
      class: 'unit_error',
      openedAt: { gte: since },
      order: { id: { not: id }, email: { not: email } },
    },
    select: { order: { select: { email: true } } },
  });
  const payers = new Set([email, ...others.map(({ order }) => order?.email ?? '')].map(payerOf)).size;
  if (payers < 2) return;
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const exact = await tx.proof.count({ where: { mode, currency, at: { gte: dayAgo }, acceptedBy: null } });
  const resumed = await tx.stop.count({ where: { mode, what: currency, by: BY_PROGRAM, endedAt: { gte: dayAgo } } });
  if (exact > 0 || resumed > 0) return;
  const reason = `${payers} payments came in another unit: compare amountUnit and decimals of the adapter with the hosted page`;
  await stopCheckouts(tx, mode, currency, BY_PROGRAM, reason);
}
