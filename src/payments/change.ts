import { isDeepStrictEqual } from 'node:util';
import { MISSING_MONEY } from '../cases/classes.ts';
import { EMPTY, type Ledger } from '../ledger/ledger.ts';
import { messageRow, type Extra, type Wanted } from '../fulfilment/messages.ts';
import type { MessageType } from '../platform/message-types.ts';
import type { Case, Message, Mode, Order, Payment, Prisma, Refund } from '../platform/prisma/client.ts';
import { changesBetween, columnsOf, ledgerOf, type FigureChange, type LedgerRow } from '../ledger/stored.ts';

/** What is read of an order that changes. */
export const DOSSIER = {
  payments: {
    include: {
      ledgers: true,
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
  // Each with the doubt that a person accepted.
  proof: { include: { payments: { include: { verification: { select: { doubt: true } } } } } },
  refunds: true,
  messages: { where: { type: 'order.paid' } },
} satisfies Prisma.OrderInclude;

/** An order with all that decisions about its money look at. An unmatched payment stands in one without an id. */
export type Dossier = Prisma.OrderGetPayload<{ include: typeof DOSSIER }>;
export type DossierPayment = Dossier['payments'][number];

/** What a change needs to know of the service and the shop. */
export type Terms = {
  mode: Mode;
  payableDays: number;
  /** The history may lack a payment for so many minutes after it was paid. */
  lagMin: number;
  wanted: Wanted;
};

/** Ids of rows that the change may add. Other rows of the same change name them, so they are known before the write. */
export type NewIds = { verification: bigint; refund: bigint; cases: bigint[] };

/** The change opens a case and has no id for it. It must be made again, alone and with ids. */
export class NoCaseId extends Error {}

/** The change of a stored message. A delivery may write the same message at the same time. */
export type MessageChange = {
  heldBy: string | null;
  liftedBy: string | null;
  /** Its tries begin anew: the days in which it was held do not count. */
  restarts: boolean;
  /** It is sent once more, under its id. */
  resends: boolean;
};

/** A verification as it is inserted, with the bytes of its answer. */
export type NewVerification = DossierPayment['verifications'][number] & { body: Uint8Array<ArrayBuffer> };

/**
 * A change of one order, behind its lock. The middle is synchronous and asks nobody: it changes rows in memory, in the
 * dossier at once, and `writeRows` of write-rows.ts stores all of them by one statement.
 */
export type Change = {
  dossier: Dossier;
  terms: Terms;
  /** Who or what causes it, as the journal says it. */
  by: string;
  /** The database's time when the lock was had. */
  now: Date;
  ids: NewIds;
  rows: Rows;
  /** Messages to the shop's own system. `writeMessages` makes their rows when the change is complete. */
  told: { type: MessageType; extra: Extra }[];
};

/** The rows that a change writes. The stored order.paid stands in the dossier's messages, and no new one. */
export type Rows = {
  orders: Set<Dossier>;
  payments: Set<DossierPayment>;
  newPayments: DossierPayment[];
  /** By reference and currency; beside each, the ledger before the change. */
  ledgers: Map<string, LedgerRow>;
  ledgersBefore: Map<string, Ledger>;
  verifications: NewVerification[];
  proofs: NonNullable<Dossier['proof']>[];
  proofPayments: NonNullable<Dossier['proof']>['payments'];
  refunds: Refund[];
  cases: Set<Case>;
  journal: Prisma.JournalEntryCreateManyInput[];
  newMessages: Prisma.MessageCreateManyInput[];
  messages: Map<string, MessageChange & { id: string }>;
  /** Currencies in which a payment came in another unit: checkouts may have to stop. */
  unitErrors: string[];
};

export function noRows(): Rows {
  return {
    orders: new Set(),
    payments: new Set(),
    newPayments: [],
    ledgers: new Map(),
    ledgersBefore: new Map(),
    verifications: [],
    proofs: [],
    proofPayments: [],
    refunds: [],
    cases: new Set(),
    journal: [],
    newMessages: [],
    messages: new Map(),
    unitErrors: [],
  };
}

/** The columns that `writeRows` writes. */
type OrderChange = Partial<
  Pick<Order, 'status' | 'endedAt' | 'endedBy' | 'endReason' | 'payBy' | 'paidReference' | 'paidAt' | 'partPaid'>
>;
type PaymentChange = Partial<Omit<Payment, 'reference' | 'mode' | 'orderId' | 'amount' | 'currency' | 'createdAt'>>;

export function setOrder({ dossier, rows }: Change, data: OrderChange): void {
  rows.orders.add(Object.assign(dossier, data));
}

export function setPayment({ rows }: Change, payment: DossierPayment, data: PaymentChange): void {
  rows.payments.add(Object.assign(payment, data));
}

/** One more payment of the order, which is not sent yet. @param amount what the shopper is asked to pay, minor units */
export function addPayment(change: Change, reference: string, amount: bigint, nextCheckAt: Date): void {
  const { dossier, now, rows } = change;
  const { id: orderId, mode, currency } = dossier;
  const payment: DossierPayment = {
    reference,
    mode,
    orderId,
    amount,
    currency,
    status: 'sending',
    reason: null,
    checkoutUrl: null,
    openedAt: null,
    answeredAt: null,
    nextCheckAt,
    leasedUntil: null,
    hintedAt: null,
    signedHint: false,
    quietChecks: 0,
    unreadableSince: null,
    failures: 0,
    createdAt: now,
    ledgers: [],
    cases: [],
    verifications: [],
  };
  dossier.payments.push(payment);
  rows.newPayments.push(payment);
}

export function setCase({ rows }: Change, row: Case, data: Partial<Case>): void {
  rows.cases.add(Object.assign(row, data));
}

/**
 * Holds a message, or lifts the program's own hold. A person's hold stays; that a person sends it all the same stays
 * for as long as what the person saw does.
 * @param isNews a case opened or changed
 */
export function setHold(change: Change, message: Message, heldBy: string | null, isNews: boolean): void {
  const { sentAt, liftedBy, nextTryAt } = message;
  const isPersons = message.heldBy !== null && message.heldBy !== MISSING_MONEY;
  if (sentAt !== null || isPersons || (liftedBy === null ? heldBy === message.heldBy : heldBy !== null && !isNews))
    return;
  // One that was given up stays so.
  setMessage(change, message, {
    heldBy,
    liftedBy: null,
    restarts: liftedBy === null && nextTryAt !== null,
    resends: false,
  });
}

export function setMessage({ rows, now }: Change, message: Message, data: MessageChange): void {
  const { id } = message;
  const { heldBy, liftedBy } = data;
  const before = rows.messages.get(id);
  const restarts = data.restarts || before?.restarts === true;
  const resends = data.resends || before?.resends === true;
  rows.messages.set(id, { id, heldBy, liftedBy, restarts, resends });
  Object.assign(message, { heldBy, liftedBy });
  if (restarts) Object.assign(message, { tries: 0, firstTryAt: null, nextTryAt: now });
  if (resends) message.sentAt = null;
}

type Data = Prisma.InputJsonObject;

/** A line of the journal. `data` holds no address and no body. */
export function record(
  { dossier, rows, by, now }: Change,
  what: string,
  reference: string | null,
  data: Data = {},
): void {
  rows.journal.push({ orderId: dossier.id || null, reference, what, by, data, at: now });
}

/** The shop's own system is told this, if it wants to hear of it. */
export function tell({ told }: Change, type: MessageType, extra: Extra = {}): void {
  told.push({ type, extra });
}

/** Messages say how the order stands after the whole change. @param heldBy who holds a new order.paid */
export function writeMessages({ terms, dossier, now, rows, told }: Change, heldBy: string | null): void {
  if (dossier.id === '') return;
  for (const { type, extra } of told) {
    const row = messageRow(terms.wanted, type, dossier, now, extra);
    if (row !== null) rows.newMessages.push(type === 'order.paid' ? { ...row, heldBy } : row);
  }
}

/** The ledger of a payment in a currency; an empty one if no source reported anything yet. */
export function ledgerIn({ ledgers }: DossierPayment, currency: string): Ledger {
  const row = ledgers.find((one) => one.currency === currency);
  return row === undefined ? EMPTY : ledgerOf(row);
}

/** All currencies in which a payment has a ledger, and its own one. */
export function currenciesOf({ currency, ledgers }: DossierPayment): string[] {
  return [...new Set([currency, ...ledgers.map((one) => one.currency)])];
}

/** The cause of a change of a ledger, as the journal says it. `historyWord`: what the history calls the payment now. */
type Cause = { what: string; data?: Data; historyWord?: string | null };

/**
 * Replaces a ledger, with a line of the journal for each figure that changed. `recordPositions` adds the lines about
 * held and missing money once the change is complete, because they may rise and fall again within it.
 */
export function setLedger(
  change: Change,
  payment: DossierPayment,
  currency: string,
  after: Ledger,
  { what, data = {}, ...cause }: Cause,
): void {
  const { reference } = payment;
  const before = payment.ledgers.find((one) => one.currency === currency);
  const historyWord = cause.historyWord === undefined ? (before?.historyWord ?? null) : cause.historyWord;
  const row: LedgerRow = { ...columnsOf(after), historyWord, reference, currency };
  if (isDeepStrictEqual(before, row)) return;
  const ledger = ledgerIn(payment, currency);
  payment.ledgers = [...payment.ledgers.filter((one) => one !== before), row];
  const key = `${reference} ${currency}`;
  const { ledgers, ledgersBefore } = change.rows;
  if (!ledgersBefore.has(key)) ledgersBefore.set(key, ledger);
  ledgers.set(key, row);
  const changes = changesBetween(ledger, after).filter(({ counter }) => !OF_POSITION.includes(counter));
  recordFigures(change, row, changes, what, data);
}

const OF_POSITION = ['held', 'missing'];

/** Lines of the journal for held and missing money, as the whole change leaves them. */
export function recordPositions(change: Change): void {
  for (const [key, row] of change.rows.ledgers) {
    const before = change.rows.ledgersBefore.get(key) ?? EMPTY;
    const changes = changesBetween(before, ledgerOf(row)).filter(({ counter }) => OF_POSITION.includes(counter));
    recordFigures(change, row, changes, 'position', {});
  }
}

/** All lines of one change have one time, so that the books count them as one movement. */
function recordFigures(
  { dossier, rows, by, now }: Change,
  { reference, currency }: LedgerRow,
  changes: readonly FigureChange[],
  what: string,
  data: Data,
): void {
  // A view of the order shows held and refunded money, too, so the order has changed when these figures have.
  if (changes.length > 0 && dossier.id !== '') rows.orders.add(dossier);
  const about = { orderId: dossier.id || null, reference, what, by, data, currency, at: now };
  rows.journal.push(...changes.map(({ counter, amount }) => ({ ...about, counter, amount })));
}
