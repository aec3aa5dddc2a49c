import type { Tx } from '../platform/db.ts';
import type { Mode, Order, PrismaClient, Stop } from '../platform/prisma/client.ts';

/** Stops all currencies. */
export const ALL = '*';

/** A stop is in force until its end, or until a person ends it. */
const isOpen = () => ({ OR: [{ endedAt: null }, { endedAt: { gt: new Date() } }] });

/** The stops in force, the oldest first. Each stops one currency, or all of them (`ALL`). */
export function openStops(db: Tx, mode: Mode): Promise<Stop[]> {
  return db.stop.findMany({ where: { mode, ...isOpen() }, orderBy: { id: 'asc' } });
}

/** Whether the stops cover a currency. */
export const isStopped = (stops: readonly Stop[], currency: string): boolean =>
  stops.some(({ what }) => what === ALL || what === currency);

/** `until`: the end of the stop. Null: the stop lasts until a person ends it. */
type NewStop = { what: string; by: string; reason: string; until?: Date | null };

/** Stops new checkouts. A stop without an end stays as it is. */
export async function stopCheckouts(db: Tx, mode: Mode, { until = null, ...stop }: NewStop): Promise<void> {
  await db.stop.createMany({ data: [{ mode, ...stop, endedAt: until }], skipDuplicates: true });
}

/** Ends the stops of one currency, or the stops of all. @returns whether there was one */
export async function resumeCheckouts(prisma: PrismaClient, mode: Mode, what: string, by: string): Promise<boolean> {
  const { count } = await prisma.stop.updateMany({
    where: { mode, what, ...isOpen() },
    data: { endedAt: new Date(), endedBy: by },
  });
  return count > 0;
}

/** The program signs its own stops with this name. */
export const BY_PROGRAM = 'program';
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
  await stopCheckouts(tx, mode, { what: currency, by: BY_PROGRAM, reason });
}
