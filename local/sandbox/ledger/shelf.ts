import type { Refund, Transaction } from './transaction.ts';

/** The transactions of one mode, and the rows of its history in the order in which they came. */
export type Shelf = {
  transactions: Map<string, Transaction>;
  references: string[];
  rows: Row[];
  positions: Map<string, number>;
};
/** A transaction, or one of its refunds. */
type Row = { reference: string; refundId: string | null };

export function emptyShelf(): Shelf {
  return { transactions: new Map(), references: [], rows: [], positions: new Map() };
}

export function addRow({ rows, positions }: Shelf, id: string, row: Row): void {
  positions.set(id, rows.length);
  rows.push(row);
}

/** At most `take` transactions, `skip` newer ones left out. */
export function newestFirst({ transactions, references }: Shelf, skip: number, take: number): Transaction[] {
  return newestOf(references, skip, take).flatMap((reference) => transactions.get(reference) ?? []);
}

/** The same of the history's rows. */
export function newestRows({ transactions, rows }: Shelf, skip: number, take: number): Transaction[] {
  return newestOf(rows, skip, take).flatMap(({ reference, refundId }) => {
    const transaction = transactions.get(reference);
    if (transaction === undefined || refundId === null) return transaction ?? [];
    return transaction.refunds.filter(({ id }) => id === refundId).map((one) => refundRow(transaction, one));
  });
}

function newestOf<T>(oldestFirst: readonly T[], skip: number, take: number): T[] {
  const end = Math.max(oldestFirst.length - skip, 0);
  return oldestFirst.slice(Math.max(end - Math.max(take, 0), 0), end).reverse();
}

/** A refund as the history lists it: under the reference of its payment, with an id of its own. */
function refundRow(transaction: Transaction, { id, money, at, by, shown }: Refund): Transaction {
  const asked = shown === 'row' ? money : { ...money, minor: -money.minor };
  const state = shown === 'row' ? 'reversed' : 'paid';
  const payments = [{ money: asked, at, by }];
  return { ...transaction, id, asked, state, payments, refunds: [], createdAt: at, updatedAt: at };
}
