import { MODES, type Mode } from '../keys.ts';
import { parseMoney, type Money } from '../money.ts';
import { createPurse, type Purse, type Transfer } from './balances.ts';
import type { LedgerEvent } from './events.ts';
import { addRow, emptyShelf, newestFirst, newestRows, type Shelf } from './shelf.ts';
import type { Change, Notice, Transaction } from './transaction.ts';

/** What the events add up to. Reading costs a lookup, a page of history costs its own length. */
export type LedgerState = {
  apply(event: LedgerEvent): void;
  find(mode: Mode, reference: string): Transaction | undefined;
  findByToken(token: string): Transaction | undefined;
  count(mode: Mode): number;
  /** Newest created first, `skip` of them left out, at most `take`. */
  page(mode: Mode, skip: number, take: number): Transaction[];
  /** How many rows the history has: a refund may have one of its own. */
  rowCount(mode: Mode): number;
  /** Rows of the history, newest created first, `skip` of them left out, at most `take`. */
  rows(mode: Mode, skip: number, take: number): Transaction[];
  /** How many older rows there are than that of the service's id; null when no row has it. */
  positionOf(mode: Mode, id: string): number | null;
  balances: Purse['balances'];
  transfers: Purse['transfers'];
  /** Changes whose webhook has neither arrived nor been given up. */
  owedNotices(): Notice[];
};

type ByEvent<T extends LedgerEvent['type']> = Extract<LedgerEvent, { type: T }>;
type ChangeEvent = Extract<LedgerEvent, { type: Change | 'paid' }>;

export function createLedgerState(): LedgerState {
  const shelves: Record<Mode, Shelf> = { test: emptyShelf(), live: emptyShelf() };
  const tokens = new Map<string, { mode: Mode; reference: string }>();
  const owed = new Map<string, Notice>();
  const purse = createPurse();

  function initialize(event: ByEvent<'initialized'>): void {
    const { transactions, references } = shelves[event.mode];
    transactions.set(event.reference, opened(event));
    references.push(event.reference);
    addRow(shelves[event.mode], event.id, { reference: event.reference, refundId: null });
    tokens.set(event.token, { mode: event.mode, reference: event.reference });
  }

  function change(event: ChangeEvent): void {
    const { transactions } = shelves[event.mode];
    const transaction = changed(begun(transactions, event.reference), event);
    transactions.set(event.reference, transaction);
    if (event.type === 'paid') {
      purse.collect(event.mode, event.reference, moneyOf(event.amount, event.currency));
    }
    if (event.type === 'reversed') purse.takeBack(transaction);
    if (event.webhookId !== null) {
      owed.set(event.webhookId, { webhookId: event.webhookId, change: event.type, transaction });
    }
  }

  function refund(event: ByEvent<'refunded'>): void {
    const { mode, reference, id, at, by, shown } = event;
    const before = begun(shelves[mode].transactions, reference);
    const money = moneyOf(event.amount, event.currency);
    const refunds = [...before.refunds, { id, money, at, by, shown }];
    shelves[mode].transactions.set(reference, { ...before, refunds, updatedAt: at });
    if (shown !== 'field') addRow(shelves[mode], id, { reference, refundId: id });
    purse.giveBack(mode, reference, money);
  }

  function reset(): void {
    for (const mode of MODES) shelves[mode] = emptyShelf();
    tokens.clear();
    owed.clear();
    purse.reset();
  }

  return {
    apply: (event) => {
      applyTo({ initialize, change, refund, purse, reset, owed }, event);
    },
    find: (mode, reference) => shelves[mode].transactions.get(reference),
    findByToken(token) {
      const place = tokens.get(token);
      return place && shelves[place.mode].transactions.get(place.reference);
    },
    count: (mode) => shelves[mode].references.length,
    page: (mode, skip, take) => newestFirst(shelves[mode], skip, take),
    rowCount: (mode) => shelves[mode].rows.length,
    rows: (mode, skip, take) => newestRows(shelves[mode], skip, take),
    positionOf: (mode, id) => shelves[mode].positions.get(id) ?? null,
    balances: purse.balances,
    transfers: purse.transfers,
    owedNotices: () => [...owed.values()],
  };
}

type Appliers = {
  initialize(event: ByEvent<'initialized'>): void;
  change(event: ChangeEvent): void;
  refund(event: ByEvent<'refunded'>): void;
  reset(): void;
  purse: Purse;
  owed: Map<string, Notice>;
};

function applyTo({ initialize, change, refund, reset, purse, owed }: Appliers, event: LedgerEvent): void {
  switch (event.type) {
    case 'initialized':
      initialize(event);
      return;
    case 'paid':
    case 'in-review':
    case 'abandoned':
    case 'failed':
    case 'cancelled':
    case 'expired':
    case 'reversed':
      change(event);
      return;
    case 'refunded':
      refund(event);
      return;
    case 'made-available':
      purse.makeAvailable(event.mode);
      return;
    case 'transferred':
      purse.transfer(transferOf(event));
      return;
    case 'webhook-ended':
      owed.delete(event.webhookId);
      return;
    case 'reset':
      reset();
  }
}

function begun(transactions: Shelf['transactions'], reference: string): Transaction {
  const before = transactions.get(reference);
  if (before === undefined) throw new Error(`the log changes ${reference} before it began`);
  return before;
}

function transferOf({ id, mode, reference, amount, currency, at }: ByEvent<'transferred'>): Transfer {
  return { id, mode, reference, money: moneyOf(amount, currency), at };
}

function opened(event: ByEvent<'initialized'>): Transaction {
  const { id, mode, reference, token, email, redirectUrl, at } = event;
  const asked = moneyOf(event.amount, event.currency);
  return {
    id,
    mode,
    reference,
    token,
    email,
    redirectUrl,
    asked,
    state: 'pending',
    payments: [],
    refunds: [],
    createdAt: at,
    updatedAt: at,
  };
}

function changed(before: Transaction, event: ChangeEvent): Transaction {
  const after = { ...before, state: event.type, updatedAt: event.at };
  if (event.type !== 'paid') return after;
  const payment = { money: moneyOf(event.amount, event.currency), at: event.at, by: event.by };
  return { ...after, payments: [...before.payments, payment] };
}

function moneyOf(amount: string, currency: string): Money {
  const money = parseMoney(amount, currency);
  if (money === null) throw new Error(`the log holds ${amount} ${currency}, which is no amount of money`);
  return money;
}
