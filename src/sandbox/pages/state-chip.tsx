import type { VNode } from 'preact';

import type { State, Transaction } from '../ledger/transaction.ts';

const WORDS: Record<State, string> = {
  pending: 'Pending',
  paid: 'Paid',
  failed: 'Failed',
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
