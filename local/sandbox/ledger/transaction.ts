import type { Mode } from '../keys.ts';
import type { Money } from '../money.ts';
import type { Hand, RefundShape } from './events.ts';

/**
 * - `pending`: waits for the shopper; leaves to any other but reversed.
 * - `in-review`: the service looks at it; leaves to paid or failed.
 * - `abandoned`: the shopper left the page; not final, the page still takes the money.
 * - `paid`: money was taken, exact or not; may be paid again, or reversed.
 * - `failed`, `cancelled`, `expired`: no money came; may still be paid late.
 * - `reversed`: the money went back; final.
 */
export const STATES = [
  'pending',
  'in-review',
  'abandoned',
  'paid',
  'failed',
  'cancelled',
  'expired',
  'reversed',
] as const;

export type State = (typeof STATES)[number];

/** What a decision makes of a transaction. */
export type Change = Exclude<State, 'pending'>;

/** Money taken once. A transaction that was paid twice has two of these. */
export type Payment = { money: Money; at: string; by: Hand };

/** A part of the money that went back. */
export type Refund = Payment & { id: string; shown: RefundShape };

/** The service's record of a payment. Never changed in place: each change makes a new one. */
export type Transaction = {
  readonly id: string;
  readonly mode: Mode;
  readonly reference: string;
  /** Opens the checkout page; whoever has it may pay. */
  readonly token: string;
  readonly email: string;
  readonly redirectUrl: string;
  readonly asked: Money;
  readonly state: State;
  readonly payments: readonly Payment[];
  readonly refunds: readonly Refund[];
  /** ISO 8601 in UTC, as are all times here. */
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** A change that the integrator is owed a webhook for, with the transaction as it was right after it. */
export type Notice = { webhookId: string; change: Change; transaction: Transaction };
