import { EMPTY, type Ledger } from '../ledger/ledger.ts';
import { figuresOf, ledgerOf } from '../ledger/stored.ts';
import { formatMajor } from '../platform/money.ts';
import type { Mode, Prisma, PrismaClient } from '../platform/prisma/client.ts';
import { readingOf } from './apply.ts';
import { FIGURES, type Comparison, type Figures, type ReportedRows, type ReportedRow } from './compare.ts';

/**
 * The addition of one currency, in major units: the service's total is the captured money plus the
 * amount of each class, with a difference of zero.
 */
export type Identity = Record<'currency' | 'serviceTotal' | 'earned' | 'difference', string> & {
  classes: Record<string, string>;
};

const INCLUDE = { ledgers: true, cases: { orderBy: { id: 'desc' } } } satisfies Prisma.PaymentInclude;
type Payment = Prisma.PaymentGetPayload<{ include: typeof INCLUDE }>;
/** Amounts by currency and class. */
type Sums = Map<string, Map<string, bigint>>;

/** Adds up the history's balances and what was booked about them. Every reference counts once. */
export function createIdentity(equal: Comparison['sums']) {
  const sums: Sums = new Map();
  for (const { currency, beyond_reach, history_differs, ...figures } of equal) {
    addFigures(sums, currency, figures);
    add(sums, currency, 'beyond_reach', beyond_reach);
    add(sums, currency, 'history_differs', history_differs);
  }
  return {
    /** Adds references that differ. @param rows what the history reports about them */
    add: async (prisma: PrismaClient, mode: Mode, rows: ReportedRows, references: string[]): Promise<void> => {
      const where = { mode, reference: { in: references } };
      const payments = await prisma.payment.findMany({ where, include: INCLUDE });
      for (const payment of payments) addPayment(sums, payment, rows.get(payment.reference) ?? []);
    },
    report: (): Identity[] => [...sums].map(([currency, classes]) => identityOf(currency, classes)),
  };
}

function add(sums: Sums, currency: string, name: string, amount: bigint): void {
  const classes = sums.get(currency) ?? new Map<string, bigint>();
  sums.set(currency, classes.set(name, (classes.get(name) ?? 0n) + amount));
}

/** What went off-provider is still in the history. */
function addFigures(sums: Sums, currency: string, figures: Figures): void {
  const signed = { ...figures, refunded: -figures.refunded, written_off: -figures.written_off };
  for (const name of FIGURES) add(sums, currency, name, signed[name]);
}

/**
 * A payment that differs, as its ledgers stand now. Held and missing money counts under its case.
 */
function addPayment(sums: Sums, payment: Payment, rows: readonly ReportedRow[]): void {
  const currencies = [...payment.ledgers, ...rows].map(({ currency }) => currency || payment.currency);
  for (const currency of new Set(currencies)) {
    const row = payment.ledgers.find((one) => one.currency === currency);
    const ledger = row ? ledgerOf(row) : EMPTY;
    const reported = reportedIn(ledger, rows, currency);
    const { held, missing, notShown } = figuresOf(ledger);
    const { captured, retained, refunded, writtenOff, offProvider, recovered } = ledger.books;
    const outside = { written_off: writtenOff, off_provider: offProvider };
    addFigures(sums, currency, { reported, captured, retained, refunded, recovered, ...outside });
    const about = payment.cases.find((one) => one.currency === currency);
    add(sums, currency, about?.class ?? 'held', held);
    add(sums, currency, about?.class ?? 'reversed', -missing);
    add(sums, currency, 'not_shown', notShown);
    const expected = captured + retained - refunded - writtenOff + offProvider + recovered;
    const rest = reported - expected - held + missing - notShown;
    add(sums, currency, about?.closedAt === null ? about.class : 'history_differs', rest);
  }
}

/** The balance that this reading of the history reports. */
function reportedIn(ledger: Ledger, rows: readonly ReportedRow[], currency: string): bigint {
  const here = rows.filter((row) => row.currency === currency);
  const { history } = readingOf(ledger, here, new Date());
  return history.received - history.outflow;
}

function identityOf(currency: string, sums: ReadonlyMap<string, bigint>): Identity {
  const major = (amount: bigint): string => formatMajor({ amount, currency });
  const [reported, captured] = [sums.get('reported') ?? 0n, sums.get('captured') ?? 0n];
  const classes = [...sums].filter(([name, amount]) => amount !== 0n && name !== 'reported' && name !== 'captured');
  const left = classes.reduce((rest, [, amount]) => rest - amount, reported - captured);
  const named = Object.fromEntries(classes.map(([name, amount]) => [name, major(amount)]));
  return { currency, serviceTotal: major(reported), earned: major(captured), classes: named, difference: major(left) };
}
