import type { VNode } from 'preact';

import type { Transaction } from '../ledger/transaction.ts';

/** A refund of a part, as it is done in the dashboard of a service. */
export function GiveBackForm({ paid }: { paid: readonly Transaction[] }): VNode | null {
  if (paid.length === 0) return null;
  return (
    <section aria-labelledby="give-back">
      <h2 id="give-back">Give back a part</h2>
      <p class="lead">
        The transaction stays paid, and the history lists a second row under its reference: the part that went
        back. No webhook tells of it.
      </p>
      <form class="line" method="post" action="/refund">
        <label>
          Of the payment
          <select name="reference">
            {paid.map(({ reference }) => (
              <option key={reference}>{reference}</option>
            ))}
          </select>
        </label>
        <label class="short">
          Amount
          <input name="amount" inputMode="decimal" maxLength={16} required />
        </label>
        <button class="button secondary" type="submit">
          Give it back
        </button>
      </form>
    </section>
  );
}
