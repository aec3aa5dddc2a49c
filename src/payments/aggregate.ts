import type { Wanted } from '../fulfilment/messages.ts';
import { EMPTY, type Ledger } from '../ledger/ledger.ts';
import { historyLeaves, positionOf, type Position } from '../ledger/position.ts';
import { figuresOf, ledgerOf } from '../ledger/stored.ts';
import type { Mode, Prisma } from '../platform/prisma/client.ts';

/** What is read of an order that changes. */
export const AGGREGATE = {
  payments: {
    include: {
      ledgers: true,
      cases: true,
      // The newest readable answer stays in force when a later one cannot be read.
      verifications: {
        where: { outcome: { not: 'unreadable' } },
        orderBy: { id: 'desc' },
        take: 1,
        omit: { body: true },
      },
    },
    orderBy: { createdAt: 'asc' },
  },
  lines: { orderBy: { position: 'asc' } },
  // Each with the doubt that a person accepted.
  proof: { include: { payments: { include: { verification: { select: { doubt: true } } } } } },
  refunds: true,
  messages: { where: { type: 'order.paid' } },
} satisfies Prisma.OrderInclude;

/**
 * An order with all that decisions about its money look at. An unmatched payment is wrapped in an
 * aggregate whose id is empty.
 */
export type Aggregate = Prisma.OrderGetPayload<{ include: typeof AGGREGATE }>;
export type AggregatePayment = Aggregate['payments'][number];

/** What a change needs to know of the service and the shop. */
export type Policy = {
  mode: Mode;
  payableDays: number;
  /** The history may lack a payment for so many minutes after it was paid. */
  lagMin: number;
  wanted: Wanted;
};

/** The ledger of a payment in a currency; an empty one if no source reported anything yet. */
export function ledgerIn({ ledgers }: Pick<AggregatePayment, 'ledgers'>, currency: string): Ledger {
  const row = ledgers.find((one) => one.currency === currency);
  return row === undefined ? EMPTY : ledgerOf(row);
}

/** All currencies in which a payment has a ledger, and its own one. */
export function currenciesOf({ currency, ledgers }: AggregatePayment): string[] {
  return [...new Set([currency, ...ledgers.map((one) => one.currency)])];
}

/** The position of a payment's ledger in a currency. */
export function positionIn({ policy }: { policy: Policy }, payment: AggregatePayment, currency: string): Position {
  return positionOf(ledgerIn(payment, currency), policy.lagMin);
}

/** The balance that an answer of verify shows in a currency: 0 if it speaks of none. */
export function balanceIn(answer: { currency: string | null; balance: bigint | null }, currency: string): bigint {
  return answer.currency === currency ? (answer.balance ?? 0n) : 0n;
}

/**
 * The balance that verify shows of a payment in a currency. Its newest answer may be about one paid
 * charge of several: while that is certain, the ledger knows them all. An answer that calls a
 * charge failed shows no money.
 */
export function verifyBalanceIn(
  payment: Pick<AggregatePayment, 'ledgers' | 'verifications'>,
  currency: string,
): bigint {
  const { verify } = ledgerIn(payment, currency);
  const [newest] = payment.verifications;
  if (newest?.outcome === 'paid' && !verify.isUncertain) return verify.received - verify.outflow;
  return newest === undefined ? 0n : balanceIn(newest, currency);
}

/** These decide nothing about the money of a payment: it may still pay its order automatically. */
const UNDECIDED: readonly (string | null)[] = [null, 'explain', 'ask-rest'];

/** A person has decided what the money is for. */
export function isDecided({ cases }: AggregatePayment): boolean {
  return cases.some(({ decision }) => !UNDECIDED.includes(decision));
}

export function hasHeldMoney({ ledgers }: AggregatePayment): boolean {
  return ledgers.some((row) => figuresOf(ledgerOf(row)).held > 0n);
}

export function hasOpenCase({ cases }: AggregatePayment): boolean {
  return cases.some(({ closedAt }) => closedAt === null);
}

/**
 * Verify was asked about the payment within this time, and its answer can be read. A future time
 * was stored before the database's clock was set back, so it is not recent.
 * @param ms milliseconds
 */
export function isVerifiedWithin(
  { answeredAt, unreadableSince }: Pick<AggregatePayment, 'answeredAt' | 'unreadableSince'>,
  now: Date,
  ms: number,
): boolean {
  const ageMs = answeredAt === null ? Infinity : now.getTime() - answeredAt.getTime();
  return unreadableSince === null && ageMs >= 0 && ageMs < ms;
}

type WithProof = { proof: { payments: readonly { reference: string }[] } | null };

/** The payment is one of those that paid the order. */
export function isInProof({ proof }: WithProof, reference: string): boolean {
  return proof?.payments.some((one) => one.reference === reference) === true;
}

/**
 * How much of a payment's money counts as a part payment, in minor units of the order's currency; 0
 * if nothing does. A person asked the customer to pay the rest of an underpaid order. Until the
 * order is paid or ends, the money stays held and no case is open about it. It counts only while
 * verify can be read and shows all of it, undoubted, and the history does not report that any of it
 * left.
 */
export function partPaymentOf({ amount, currency, proof, endedAt }: Aggregate, payment: AggregatePayment): bigint {
  const isAsked = payment.cases.some((one) => one.decision === 'ask-rest' && one.currency === currency);
  const isOpen = proof === null && endedAt === null;
  const [newest] = payment.verifications;
  if (!isAsked || !isOpen || isDecided(payment) || payment.unreadableSince !== null) return 0n;
  if (newest?.outcome !== 'paid' || newest.doubt !== null) return 0n;
  const ledger = ledgerIn(payment, currency);
  // Held money does not depend on the lag.
  const { held } = positionOf(ledger, 0);
  const isWhole = balanceIn(newest, currency) === held && historyLeaves(ledger, held);
  return isWhole && held < amount ? held : 0n;
}

/** All part payments of an order, in minor units. */
export function partPaid(aggregate: Aggregate): bigint {
  return aggregate.payments.reduce((total, payment) => total + partPaymentOf(aggregate, payment), 0n);
}

/**
 * What a payment would have to show so that the order is paid: the price without the part payments
 * of the others.
 */
export function dueFrom(aggregate: Aggregate, payment: AggregatePayment): bigint {
  const due = aggregate.amount - (partPaid(aggregate) - partPaymentOf(aggregate, payment));
  return due > 0n ? due : 0n;
}

/**
 * Where an order stands, as the rules about one of its payments look at it. Null: the payment is
 * unmatched.
 */
export function orderFacts(aggregate: Aggregate, payment: AggregatePayment) {
  const { id, amount, currency, proof, endedAt } = aggregate;
  const due = dueFrom(aggregate, payment);
  return id === '' ? null : { amount, due, currency, isPaid: proof !== null, isEnded: endedAt !== null };
}
