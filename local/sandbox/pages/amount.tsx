import type { VNode } from 'preact';

import { MajorNumber } from '../../../src/platform/html.tsx';
import { formatAmount, type Money } from '../money.ts';

/** "1,250.50 NGN" as the reader writes numbers, with the code set smaller. */
export function Amount({ money }: { money: Money }): VNode {
  return (
    <span class="amount">
      <Digits money={money} /> <span class="currency">{money.currency}</span>
    </span>
  );
}

/** The same as plain text. */
export function AmountText({ money }: { money: Money }): VNode {
  return (
    <>
      <Digits money={money} /> {money.currency}
    </>
  );
}

function Digits({ money }: { money: Money }): VNode {
  return <MajorNumber text={formatAmount(money)} />;
}
