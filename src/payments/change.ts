import { isDeepStrictEqual } from 'node:util';
import { MISSING_MONEY } from '../cases/classes.ts';
import { EMPTY, type Ledger } from '../ledger/ledger.ts';
import { ledgerIn, type Aggregate, type AggregatePayment, type Policy } from './aggregate.ts';
import { messageRow, type Extra } from '../fulfilment/messages.ts';
import type { MessageType } from '../platform/message-types.ts';
import type { Case, Message, Order, Payment, Prisma, Refund } from '../platform/prisma/client.ts';
import { changesBetween, columnsOf, ledgerOf, type FigureChange, type LedgerRow } from '../ledger/stored.ts';

/**
 * Ids of rows that the change may add. Other rows of the same change name them, so they are known
 * before the write.
 */
export type NewIds = { verification: bigint; refund: bigint; cases: bigint[] };

/** The change opens a case and has no id for it. It must be made again, alone and with ids. */
export class NoCaseId extends Error {}

/** The change of a stored message. A delivery may write the same message at the same time. */
export type MessageChange = {
  heldBy: string | null;
  liftedBy: string | null;
  /** Its tries start from zero, because the days in which it was held do not count. */
  restarts: boolean;
  /** It is sent once more, under the same id. */
  resends: boolean;
};

/** A verification as it is inserted, with the bytes of its answer. */
export type NewVerification = AggregatePayment['verifications'][number] & { body: Uint8Array<ArrayBuffer> };

/**
 * A change of one order, made while its lock is held. Deciding is synchronous and does no I/O: it
 * changes rows in memory and updates the aggregate. `writeRows` in write-rows.ts then stores all
 * rows by one statement.
 */
export type Change = {
  aggregate: Aggregate;
  policy: Policy;
  /** The person or the part of the program that causes the change, as the journal names it. */
  by: string;
  /** The database's time when the lock was taken. */
  now: Date;
  ids: NewIds;
  rows: Rows;
  /**
   * Messages to the shop's own system. `writeMessages` makes their rows when the change is
   * complete.
   */
  told: { type: MessageType; extra: Extra }[];
};

/**
 * The rows that a change writes. The aggregate's messages contain a stored order.paid, but no new
 * one.
 */
export type Rows = {
  orders: Set<Aggregate>;
  payments: Set<AggregatePayment>;
  newPayments: AggregatePayment[];
  /**
   * By reference and currency. `ledgersBefore` has the same keys, with the ledgers before the
   * change.
   */
  ledgers: Map<string, LedgerRow>;
  ledgersBefore: Map<string, Ledger>;
  verifications: NewVerification[];
  proofs: NonNullable<Aggregate['proof']>[];
  proofPayments: NonNullable<Aggregate['proof']>['payments'];
  refunds: Refund[];
  cases: Set<Case>;
  journal: Prisma.JournalEntryCreateManyInput[];
  newMessages: Prisma.MessageCreateManyInput[];
  messages: Map<string, MessageChange & { id: string }>;
  /** Currencies in which a payment used another unit. New checkouts in them may have to stop. */
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

export function setOrder({ aggregate, rows }: Change, data: OrderChange): void {
  rows.orders.add(Object.assign(aggregate, data));
}

export function setPayment({ rows }: Change, payment: AggregatePayment, data: PaymentChange): void {
  rows.payments.add(Object.assign(payment, data));
}

/**
 * One more payment of the order, which is not sent yet.
 * @param amount what the shopper is asked to pay, minor units
 */
export function addPayment(change: Change, reference: string, amount: bigint, nextCheckAt: Date): void {
  const { aggregate, now, rows } = change;
  const { id: orderId, mode, currency } = aggregate;
  const payment: AggregatePayment = {
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
    notifiedAt: null,
    signedNotification: false,
    quietChecks: 0,
    unreadableSince: null,
    failures: 0,
    createdAt: now,
    ledgers: [],
    cases: [],
    verifications: [],
  };
  aggregate.payments.push(payment);
  rows.newPayments.push(payment);
}

export function setCase({ rows }: Change, row: Case, data: Partial<Case>): void {
  rows.cases.add(Object.assign(row, data));
}

/**
 * Holds a message, or lifts the program's own hold. A person's hold stays. If a person sent the
 * message in spite of the program's hold, it is held again only after a case opens or changes.
 * @param isNews a case opened or changed
 */
export function setHold(change: Change, message: Message, heldBy: string | null, isNews: boolean): void {
  const { sentAt, liftedBy, nextTryAt } = message;
  const isPersons = message.heldBy !== null && message.heldBy !== MISSING_MONEY;
  if (sentAt !== null || isPersons || (liftedBy === null ? heldBy === message.heldBy : heldBy !== null && !isNews))
    return;
  // A message that was given up stays given up.
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
  { aggregate, rows, by, now }: Change,
  what: string,
  reference: string | null,
  data: Data = {},
): void {
  rows.journal.push({ orderId: aggregate.id || null, reference, what, by, data, at: now });
}

/**
 * Adds a message to the shop's own system. `messageRow` drops types that the shop does not want.
 */
export function tell({ told }: Change, type: MessageType, extra: Extra = {}): void {
  told.push({ type, extra });
}

/**
 * Makes the rows of all messages. They describe the order as it is after the whole change.
 * @param heldBy the reason or the person that holds a new order.paid. Null: it is sent
 */
export function writeMessages({ policy, aggregate, now, rows, told }: Change, heldBy: string | null): void {
  if (aggregate.id === '') return;
  for (const { type, extra } of told) {
    const row = messageRow(policy.wanted, type, aggregate, now, extra);
    if (row !== null) rows.newMessages.push(type === 'order.paid' ? { ...row, heldBy } : row);
  }
}

/**
 * The cause of a change of a ledger, as the journal names it. `historyWord` is the history's newest
 * status word for the payment.
 */
type Cause = { what: string; data?: Data; historyWord?: string | null };

/**
 * Replaces a ledger, with a line of the journal for each figure that changed. `recordPositions`
 * adds the lines about held and missing money once the change is complete, because they may rise
 * and fall again within it.
 */
export function setLedger(
  change: Change,
  payment: AggregatePayment,
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

/** All lines of one change have the same time, so that the books count them as one movement. */
function recordFigures(
  { aggregate, rows, by, now }: Change,
  { reference, currency }: LedgerRow,
  changes: readonly FigureChange[],
  what: string,
  data: Data,
): void {
  // Views of the order show held and refunded money. So a change of these figures changes the
  // order.
  if (changes.length > 0 && aggregate.id !== '') rows.orders.add(aggregate);
  const about = { orderId: aggregate.id || null, reference, what, by, data, currency, at: now };
  rows.journal.push(...changes.map(({ counter, amount }) => ({ ...about, counter, amount })));
}
