import type { Answer } from '../api/answer.ts';
import type { Balance, Transfer } from '../ledger/balances.ts';
import type { Notice, State, Transaction } from '../ledger/transaction.ts';
import type { WebhookMessage } from '../webhooks/message.ts';
import type { List, Query } from './shapes/paging.ts';
import type { RateForm } from './shapes/too-many.ts';

/**
 * What the service's reference leaves open, filled in as one kind of service fills it in. Data and small functions
 * without side effects; the ledger behind them is always the same.
 */
export type Profile = {
  title: string;
  /** What kind of service answers so, in one sentence. */
  kind: string;
  /** How initialize reads `amount`. */
  unit: 'major' | 'minor';

  opened(checkout: Opened): Answer;
  /** The reference was used before; `first` is the transaction that has it. */
  duplicate(first: Opened): Answer;
  found(transaction: Transaction): Answer;
  /** @param neighbour the newest other transaction of the mode, if there is any */
  unknown(reference: string, neighbour: Transaction | null): Answer;
  /** Anything else that is refused: key, fields, rules, an outage. */
  refused(status: number, message: string): Answer;
  /** Milliseconds for which verify does not know a new transaction yet. */
  hiddenForMs: number;
  /** Where the four facts stand in verify's answer, as JSON pointers. */
  facts: Facts;

  history(list: List, query: Query): Answer;
  /** Milliseconds by which the list is behind verify: it lacks what is younger. */
  listLagMs: number;

  webhook(notice: Notice, secret: string, at: Date): WebhookMessage;
  delivery: DeliveryRules;

  /** Where the page sends the shopper after a decision or after leaving; null: nowhere, the browser stays. */
  returnAddress(transaction: Transaction): string | null;
  /** What leaving the page makes of an open transaction. */
  onLeave: 'nothing' | 'abandoned';
  /** How a call above the limit is refused. */
  tooMany: RateForm;

  /** Below /v1. */
  balances: { path: string; answer(balances: readonly Balance[]): Answer };
  transfers: { path: string; answer(transfers: readonly Transfer[]): Answer };
};

export type Opened = { transaction: Transaction; checkoutUrl: string };

export type Facts = Record<'reference' | 'status' | 'amount' | 'currency', string>;

/** One word per state, for verify, history and webhooks. */
export type Words = Record<State, string>;

export type DeliveryRules = {
  /** Nothing but payments is told; absent: every change is. */
  tells?: 'payments';
  /** What ends a delivery well. */
  takes: 'any 2xx' | 'exactly 200';
  maxAttempts: number;
  /** What a 4xx does. */
  on4xx: 'try again' | 'end the delivery' | 'switch the address off';
};
