import { EMPTY, standingOf } from '../payments/money.ts';
import { formatMajor } from '../platform/money.ts';
import type { Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { FIGURES, type Comparison, type Figures, type Listed, type Lists } from './compare.ts';

/** One currency, in major units: the service's total is what was earned, and each class, and a difference of zero. */
export type Identity = Record<'currency' | 'serviceTotal' | 'earned' | 'difference', string> & {
  classes: Record<string, string>;
};

const INCLUDE = { money: true, cases: { orderBy: { id: 'desc' } } } satisfies Prisma.PaymentInclude;
type Payment = Prisma.PaymentGetPayload<{ include: typeof INCLUDE }>;

/** Adds up what the service's list shows, with what became of it here. Every reference counts once. */
export function createIdentity(sums: Comparison['sums']) {
  const currencies = new Map<string, Map<string, bigint>>();
  const book = (currency: string, name: string, amount: bigint): void => {
    const booked = currencies.get(currency) ?? new Map<string, bigint>();
    currencies.set(currency, booked.set(name, (booked.get(name) ?? 0n) + amount));
  };
  // What was given back elsewhere is still in the list.
  const bookFigures = (currency: string, figures: Figures): void => {
    const signed = { ...figures, refunded: -figures.refunded, lost: -figures.lost };
    for (const name of FIGURES) book(currency, name, signed[name]);
  };
  for (const { currency, ...figures } of sums) bookFigures(currency, figures);
  /** A payment that differs, as its ledger stands now. Held and missing money counts under its case. */
  const bookPayment = (payment: Payment, sums: readonly Listed[]): void => {
    for (const currency of new Set([...sums, ...payment.money].map((one) => one.currency || payment.currency))) {
      const money = payment.money.find((one) => one.currency === currency) ?? EMPTY;
      const listed = sums.find((one) => one.currency === currency)?.shows ?? 0n;
      const elsewhere = money.refundedElsewhere + money.sendBackElsewhere;
      bookFigures(currency, { ...money, listed, elsewhere, beyond_reach: 0n });
      const { held, reversed, stillToGo } = standingOf(money);
      const about = payment.cases.find((one) => one.currency === currency);
      book(currency, about?.class ?? 'held', held);
      book(currency, about?.class ?? 'reversed', -reversed);
      book(currency, 'still_to_go', stillToGo);
      book(currency, about?.closedAt === null ? about.class : 'not_heard_yet', listed - (money.came - money.went));
    }
  };
  return {
    /** Adds references that differ. @param listed what the list shows of them */
    add: async (prisma: PrismaClient, mode: Mode, listed: Lists, references: string[]): Promise<void> => {
      const where = { mode, reference: { in: references } };
      const payments = await prisma.payment.findMany({ where, include: INCLUDE });
      for (const payment of payments) bookPayment(payment, listed.get(payment.reference) ?? []);
    },
    report: (): Identity[] => [...currencies].map(([currency, booked]) => identityOf(currency, booked)),
  };
}

function identityOf(currency: string, booked: ReadonlyMap<string, bigint>): Identity {
  const major = (amount: bigint): string => formatMajor({ amount, currency });
  const [listed, earned] = [booked.get('listed') ?? 0n, booked.get('earned') ?? 0n];
  const classes = [...booked].filter(([name, amount]) => amount !== 0n && name !== 'listed' && name !== 'earned');
  const left = classes.reduce((rest, [, amount]) => rest - amount, listed - earned);
  const named = Object.fromEntries(classes.map(([name, amount]) => [name, major(amount)]));
  return { currency, serviceTotal: major(listed), earned: major(earned), classes: named, difference: major(left) };
}
