import type { VNode } from 'preact';

import type { State, Transaction } from '../ledger/transaction.ts';

const WORDS: Record<State, string> = {
  pending: 'Pending',
  'in-review': 'In review',
  abandoned: 'Abandoned',
  paid: 'Paid',
  failed: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
  reversed: 'Reversed',
};

/** The state as a word; the colour only repeats it. */
export function StateChip({ state, payments }: Pick<Transaction, 'state' | 'payments'>): VNode {
  return (
    <span class={`chip ${state}`}>
      {WORDS[state]}
      {payments.length > 1 && ` ${payments.length} times`}
    </span>
  );
}
