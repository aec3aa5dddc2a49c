import type { VNode } from 'preact';

import { formatForPeople, type Money } from '../money.ts';

/** "1,250.50 NGN", with the code set smaller. */
export function Amount({ money }: { money: Money }): VNode {
  return (
    <span class="amount">
      {formatForPeople(money)} <span class="currency">{money.currency}</span>
    </span>
  );
}
