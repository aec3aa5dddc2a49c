import { randomUUID } from 'node:crypto';

import { amountNumber } from './money.ts';

/** A charge, or an attempt at one. It is a row of the history. */
export type Row = {
  id: string;
  transaction: Transaction;
  /** The service's status word. */
  status: string;
  amount: bigint;
  currency: string;
  refunded: bigint;
  createdAt: string;
  paidAt: string | null;
};

type Asked = {
  reference: string;
  email: string;
  amount: bigint;
  currency: string;
  redirectUrl: string | null;
};

export type Transaction = Asked & {
  /** Verify shows the first row. Each further charge adds a row. */
  rows: [Row, ...Row[]];
  /** Fields that override the honest record. Null removes a field. */
  fields: Record<Source, Record<string, unknown>>;
  hidden: Record<Source, boolean>;
};

type Source = 'verify' | 'list';

/** The service's own data. */
export type Ledger = {
  mode: 'test' | 'live';
  /** Paid rows are shown as PENDING, like at a service that learns of payments late. */
  hidePaid: boolean;
  transactions: Map<string, Transaction>;
  /** In order of creation. */
  rows: Row[];
};

/** Opens a transaction with a new reference. */
export function open(ledger: Ledger, asked: Asked): Transaction {
  const transaction: Omit<Transaction, 'rows'> & { rows: Row[] } = {
    ...asked,
    rows: [],
    fields: { verify: {}, list: {} },
    hidden: { verify: false, list: false },
  };
  const opened = transaction as Transaction; // addRow adds the missing row
  addRow(ledger, opened);
  ledger.transactions.set(asked.reference, opened);
  return opened;
}

/** Charges once, whatever happened before. The first charge fills the existing row. */
export function pay(ledger: Ledger, transaction: Transaction, amount: bigint, currency: string): Row {
  const [first] = transaction.rows;
  const row = first.paidAt === null ? first : addRow(ledger, transaction);
  return Object.assign(row, { status: 'SUCCESS', amount, currency, paidAt: new Date().toISOString() });
}

/**
 * Returns money, from the newest charge first.
 * @param amount undefined: everything that is left
 * @returns the newest charge; null if less than the amount is left, and nothing is returned
 */
export function reverse({ rows }: Transaction, amount?: bigint): Row | null {
  const charges = rows.filter((row) => row.paidAt !== null && leftOf(row) > 0n).reverse();
  const left = charges.reduce((sum, row) => sum + leftOf(row), 0n);
  let rest = amount ?? left;
  if (rest > left) return null;
  for (const row of charges) {
    const part = rest < leftOf(row) ? rest : leftOf(row);
    row.refunded += part;
    rest -= part;
    if (leftOf(row) === 0n) row.status = 'REVERSED';
  }
  return charges[0] ?? null;
}

/** A row as verify or the history shows it. */
export function recordOf({ mode, hidePaid }: Ledger, row: Row, source: Source): Record<string, unknown> {
  const isHidden = row.paidAt !== null && hidePaid;
  const fields = row.transaction.fields[source];
  const record = {
    id: row.id,
    reference: row.transaction.reference,
    status: isHidden ? 'PENDING' : row.status,
    amount: amountNumber(row.amount),
    currency: row.currency,
    customer: { email: row.transaction.email },
    createdAt: row.createdAt,
    paidAt: isHidden ? null : row.paidAt,
    mode,
    ...(!isHidden && row.refunded > 0n && { amount_refunded: amountNumber(row.refunded) }),
    ...fields,
  };
  return Object.fromEntries(Object.entries(record).filter(([name]) => fields[name] !== null));
}

/** The paid amount minus the returned amount, per currency. */
export function balances({ rows }: Ledger): { currency: string; amount: number }[] {
  const sums = new Map<string, bigint>();
  for (const row of rows) {
    if (row.paidAt !== null) sums.set(row.currency, (sums.get(row.currency) ?? 0n) + leftOf(row));
  }
  return [...sums].map(([currency, sum]) => ({ currency, amount: amountNumber(sum) }));
}

function addRow(ledger: Ledger, transaction: Transaction): Row {
  const { amount, currency } = transaction;
  const paid = { amount, currency, refunded: 0n, paidAt: null };
  const row = { id: randomUUID(), transaction, status: 'PENDING', ...paid, createdAt: new Date().toISOString() };
  transaction.rows.push(row);
  ledger.rows.push(row);
  return row;
}

function leftOf({ amount, refunded }: Row): bigint {
  return amount - refunded;
}
