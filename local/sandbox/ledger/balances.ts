import { MODES, type Mode } from '../keys.ts';
import type { Money } from '../money.ts';
import type { Transaction } from './transaction.ts';

/** What the service holds for the shop in one currency. `pending` is collected and cannot be paid out yet. */
export type Balance = { currency: string; available: bigint; pending: bigint; transferred: bigint };

/** Money that left the balance, to the shop's bank. */
export type Transfer = { id: string; mode: Mode; reference: string; money: Money; at: string };

/**
 * Running totals, so that a balance costs nothing however long the ledger is. Always: what was collected and not
 * taken back = pending + available + transferred.
 */
export type Purse = {
  collect(mode: Mode, reference: string, money: Money): void;
  takeBack(transaction: Transaction): void;
  giveBack(mode: Mode, reference: string, money: Money): void;
  makeAvailable(mode: Mode): void;
  transfer(transfer: Transfer): void;
  /** By currency, in alphabetical order. */
  balances(mode: Mode): Balance[];
  /** Newest first. */
  transfers(mode: Mode): readonly Transfer[];
  reset(): void;
};

type Till = {
  totals: Map<string, Balance>;
  /** Payments whose money is not available yet, by reference. */
  fresh: Map<string, Money[]>;
  transfers: Transfer[];
};

export function createPurse(): Purse {
  const tills: Record<Mode, Till> = { test: emptyTill(), live: emptyTill() };
  return {
    collect(mode, reference, money) {
      const { fresh } = tills[mode];
      fresh.set(reference, [...(fresh.get(reference) ?? []), money]);
      totalIn(tills[mode], money.currency).pending += money.minor;
    },
    takeBack({ mode, reference, payments }) {
      const waiting = tills[mode].fresh.get(reference) ?? [];
      tills[mode].fresh.delete(reference);
      for (const { minor, currency } of waiting) totalIn(tills[mode], currency).pending -= minor;
      // The older ones were available already, or even paid out: then the balance falls below zero.
      for (const { money } of payments.slice(0, payments.length - waiting.length))
        totalIn(tills[mode], money.currency).available -= money.minor;
    },
    giveBack(mode, reference, { minor, currency }) {
      const waiting = tills[mode].fresh.get(reference);
      waiting?.push({ minor: -minor, currency });
      totalIn(tills[mode], currency)[waiting === undefined ? 'available' : 'pending'] -= minor;
    },
    makeAvailable(mode) {
      tills[mode].fresh.clear();
      for (const total of tills[mode].totals.values()) {
        total.available += total.pending;
        total.pending = 0n;
      }
    },
    transfer(transfer) {
      const { mode, money } = transfer;
      const total = totalIn(tills[mode], money.currency);
      total.available -= money.minor;
      total.transferred += money.minor;
      tills[mode].transfers.unshift(transfer);
    },
    balances: (mode) => [...tills[mode].totals.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1)),
    transfers: (mode) => tills[mode].transfers,
    reset() {
      for (const mode of MODES) tills[mode] = emptyTill();
    },
  };
}

function emptyTill(): Till {
  return { totals: new Map(), fresh: new Map(), transfers: [] };
}

function totalIn({ totals }: Till, currency: string): Balance {
  const total = totals.get(currency) ?? { currency, available: 0n, pending: 0n, transferred: 0n };
  totals.set(currency, total);
  return total;
}
