import type { Ledger as Row, Prisma } from '../platform/prisma/client.ts';
import { allocatedOf, BOOK_FIGURES, type Books } from './books.ts';
import type { Ledger } from './ledger.ts';
import { goneFrom, positionOf } from './position.ts';
import { max, min, type Source, type Transaction } from './sources.ts';

export type LedgerRow = Row;
type Stored = Omit<LedgerRow, 'reference' | 'currency' | 'historyWord'>;

/** The ledger that a row stores. */
export function ledgerOf(row: Stored): Ledger {
  const books = Object.fromEntries(BOOK_FIGURES.map((figure) => [figure, row[figure]])) as Books;
  const verify: Source = {
    transactions: transactionsOf(row.verifyTransactions),
    received: row.verifyReceived,
    outflow: row.verifyOutflow,
    isUncertain: row.verifyUncertain,
    mostReceived: row.verifyMostReceived,
    mostOutflow: row.verifyMostOutflow,
  };
  const history: Source = {
    transactions: transactionsOf(row.historyTransactions),
    received: row.historyReceived,
    outflow: row.historyOutflow,
    isUncertain: row.historyUncertain,
    mostReceived: row.historyMostReceived,
    mostOutflow: row.historyMostOutflow,
  };
  const { bookedInAt, bookedOutAt, historyReadAt, historyReachedAt } = row;
  return { books, verify, history, bookedInAt, bookedOutAt, historyReadAt, historyReachedAt };
}

/** The columns of a ledger. */
export function columnsOf({ books, verify, history, ...times }: Ledger): Stored {
  return {
    ...books,
    ...times,
    verifyTransactions: jsonOf(verify.transactions),
    verifyReceived: verify.received,
    verifyOutflow: verify.outflow,
    verifyUncertain: verify.isUncertain,
    verifyMostReceived: verify.mostReceived,
    verifyMostOutflow: verify.mostOutflow,
    historyTransactions: jsonOf(history.transactions),
    historyReceived: history.received,
    historyOutflow: history.outflow,
    historyUncertain: history.isUncertain,
    historyMostReceived: history.mostReceived,
    historyMostOutflow: history.mostOutflow,
  };
}

type StoredTransaction = Omit<Transaction, 'received' | 'outflow'> & Record<'received' | 'outflow', string>;

/** Amounts are texts, because JSON numbers lose digits. */
function jsonOf(transactions: readonly Transaction[]): Prisma.JsonArray {
  return transactions.map(({ received, outflow, ...rest }) => {
    return { ...rest, received: String(received), outflow: String(outflow) };
  });
}

function transactionsOf(stored: Prisma.JsonValue): Transaction[] {
  return (stored as StoredTransaction[]).map(({ received, outflow, ...rest }) => {
    return { ...rest, received: BigInt(received), outflow: BigInt(outflow) };
  });
}

/** What reports and the journal say about a ledger beside its books, in minor units. */
export type Figures = {
  /** The larger of what the two sources report. */
  received: bigint;
  outflow: bigint;
  held: bigint;
  /** The part of the missing money that is reported as gone. */
  missing: bigint;
  notShown: bigint;
  /** Received money that left before anything was booked. */
  cameAndWent: bigint;
};

/**
 * Held money and money that is reported as gone do not depend on the lag of the history, so the
 * figures have none.
 */
export function figuresOf(ledger: Ledger): Figures {
  const position = positionOf(ledger, 0);
  const { verify, history } = ledger;
  return {
    received: max(verify.received, history.received),
    outflow: max(verify.outflow, history.outflow),
    held: position.held,
    missing: goneFrom(ledger),
    notShown: position.notShown,
    cameAndWent: cameAndWentOf(ledger, position.held),
  };
}

function cameAndWentOf({ books, verify, history }: Ledger, held: bigint): bigint {
  if (held > 0n || allocatedOf(books) > 0n) return 0n;
  const by = ({ received, outflow }: Source): bigint => min(received, outflow);
  return max(by(verify), by(history));
}

/** What is ours and was not taken back. */
export function oursOf({ books }: Ledger, missing: bigint): bigint {
  const { captured, retained, recovered, refunded, writtenOff } = books;
  return captured + retained + recovered - refunded - writtenOff - missing;
}

/**
 * A figure that the journal counts, with its change in minor units. Books only grow; the others may
 * shrink.
 */
export type FigureChange = { counter: string; amount: bigint };
const COUNTED = ['received', 'outflow', 'held', 'missing'] as const;

/** The figures that differ between two states of a ledger. */
export function changesBetween(before: Ledger, after: Ledger): FigureChange[] {
  const [old, now] = [figuresOf(before), figuresOf(after)];
  return [
    ...COUNTED.map((counter) => ({ counter, amount: now[counter] - old[counter] })),
    ...BOOK_FIGURES.map((counter) => ({ counter, amount: after.books[counter] - before.books[counter] })),
  ].filter(({ amount }) => amount !== 0n);
}
