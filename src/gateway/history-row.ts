import type { StatusClass } from './evidence.ts';

/** One record of the history in our words. A hint about a payment, never evidence. */
export type HistoryRow = {
  /** Null: the record names none. Numbers keep their digits; text that a database or a page cannot hold is replaced. */
  reference: string | null;
  /** The service's own id of the transaction, if the record shows one. Text, because ids go beyond 2^53. */
  serviceId: string | null;
  /** `unreadable`: the record is no object, or it lacks reference, status, or the money of something paid. */
  status: StatusClass | 'unreadable';
  /** The service's own word, for people. */
  statusWord: string | null;
  /** Minor units of `currency`. Null when absent or unreadable. */
  amount: bigint | null;
  currency: string | null;
  /** Whether the dialect lets the expected money stand for what the record does not say. */
  isMoneyAssumed: boolean;
  /** Stands for the record where it has no reference: the same record has the same digest tomorrow. */
  digest: string | null;
};

/** Reads the record from `start` up to, not including, `end` of `bytes`. */
export type ReadRow = (bytes: Buffer, start: number, end: number) => HistoryRow;

/** Longer texts are cut, with a digest behind them: an index entry of PostgreSQL holds no more than 2,700 bytes. */
export const MAX_TEXT = 160;
