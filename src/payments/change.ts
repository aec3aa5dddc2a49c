import { messageRow, type Extra, type MessageType, type Wanted } from '../fulfilment/messages.ts';
import type { Tx } from '../platform/db.ts';
import type { Mode, Order, Payment, Prisma } from '../platform/prisma/client.ts';
import { EMPTY, growthOf, type Ledger } from './money.ts';

/** What is read of an order that changes. */
export const DOSSIER = {
  payments: {
    include: {
      money: true,
      cases: true,
      // The newest readable answer goes on speaking when a later one cannot be read.
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
  // The doubt that a person accepted.
  release: { include: { verification: { select: { doubt: true } } } },
  refunds: true,
  messages: { where: { type: 'order.paid' } },
} satisfies Prisma.OrderInclude;

/** An order with all that decisions about its money look at. A stranger's payment stands in one without an id. */
export type Dossier = Prisma.OrderGetPayload<{ include: typeof DOSSIER }>;
export type DossierPayment = Dossier['payments'][number];
export type MoneyRow = DossierPayment['money'][number];

/** What a change needs to know of the service and the shop. */
export type Terms = {
  mode: Mode;
  payableDays: number;
  /** The list may lack a payment for so long after it was paid. */
  lagMin: number;
  wanted: Wanted;
};

/**
 * A change of one order, behind its lock. What is set here is set in the dossier at once, and written at the end, each
 * row once. Answers, releases, cases, refunds and new payments are written as they come.
 */
export type Change = {
  tx: Tx;
  dossier: Dossier;
  terms: Terms;
  /** Who or what causes it, as the journal says it. */
  by: string;
  /** The database's time when the lock was had. */
  now: Date;
  /** Rows to be written. The stored order.paid stands in the dossier's messages, and no new one. */
  orders: Set<Dossier>;
  payments: Set<DossierPayment>;
  money: Set<MoneyRow>;
  journal: Prisma.JournalEntryCreateManyInput[];
  outbox: Prisma.MessageCreateManyInput[];
};

/** The columns that `write` of change-order.ts writes. */
type OrderChange = Partial<
  Pick<Order, 'status' | 'endedAt' | 'endedBy' | 'endReason' | 'payBy' | 'releasedReference' | 'paidAt'>
>;
type PaymentChange = Partial<Omit<Payment, 'reference' | 'mode' | 'orderId' | 'amount' | 'currency' | 'createdAt'>>;

export function setOrder({ dossier, orders }: Change, data: OrderChange): void {
  orders.add(Object.assign(dossier, data));
}

export function setPayment({ payments }: Change, payment: DossierPayment, data: PaymentChange): void {
  payments.add(Object.assign(payment, data));
}

type Data = Prisma.InputJsonObject;

/** A line of the journal. `data` holds no address and no body. */
export function record(
  { dossier, journal, by }: Change,
  what: string,
  reference: string | null,
  data: Data = {},
): void {
  journal.push({ orderId: dossier.id || null, reference, what, by, data });
}

/** What the shop's own system is told, if it wants to hear of it. */
export function tell({ terms, dossier, now, outbox }: Change, type: MessageType, extra: Extra = {}): void {
  const row = dossier.id === '' ? null : messageRow(terms.wanted, type, dossier, now, extra);
  if (row !== null) outbox.push(row);
}

/** The ledger of a payment in a currency; an empty one where nothing was shown yet. */
export function moneyOf(payment: DossierPayment, currency: string): MoneyRow {
  const row = payment.money.find((one) => one.currency === currency);
  const unheard = { listRolled: 0n, listBeyond: 0n, listWord: null, listDoubted: false, listHeardAt: null };
  return row ?? { ...EMPTY, ...unheard, reference: payment.reference, currency };
}

/** Replaces a ledger, with a line of the journal for each counter that grew. */
export function setMoney(
  change: Change,
  payment: DossierPayment,
  before: MoneyRow,
  after: Ledger & Partial<MoneyRow>,
  what: string,
  data: Data = {},
): void {
  const row: MoneyRow = { ...before, ...after };
  payment.money = [...payment.money.filter((one) => one !== before), row];
  change.money.delete(before);
  change.money.add(row);
  for (const [counter, amount] of Object.entries(growthOf(before, after)))
    change.journal.push({
      ...{ orderId: change.dossier.id || null, reference: payment.reference, what, by: change.by, data },
      counter,
      amount,
      currency: row.currency,
    });
}

type Proof = { verificationId: bigint; serviceId: string | null } & (
  { shown: 'paid'; shownAmount: bigint } | { acceptedBy: string; note: string }
);

/** Releases the order: it is paid, for ever. @param amount what is earned; the database checks it against the proof */
export async function release(change: Change, payment: DossierPayment, amount: bigint, proof: Proof): Promise<void> {
  const { tx, dossier, now } = change;
  const { id: orderId, mode, amount: price, currency } = dossier;
  const { reference } = payment;
  const data = { orderId, mode, reference, price, currency, amount, at: now, ...proof };
  const created = await tx.release.create({ data });
  dossier.release = { ...created, verification: { doubt: payment.verifications[0]?.doubt ?? null } };
  setOrder(change, { releasedReference: reference, paidAt: now });
  record(change, 'released', reference, { verification: String(proof.verificationId) });
  tell(change, 'order.paid');
}
