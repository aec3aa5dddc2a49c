import type { VNode } from 'preact';
import { Amount, MajorNumber } from '../../platform/html.tsx';
import { formatMajor, minorDigits, type Money } from '../../platform/money.ts';
import type { ConfirmedDay, WentBackDay } from '../../reporting/money-by-day.sql.ts';
import { Table } from '../layout/parts.tsx';
import { MAX_COUNTED, type OpenMoney, type OpenWork } from '../../reporting/shop-state.sql.ts';

/** One currency today. Amounts in minor units. */
export type MoneyLine = {
  currency: string;
  /** Confirmed less what went back; below zero on a day of refunds. */
  takings: bigint;
  ordersPaid: number;
  /** Of payments for which no money has come. */
  waiting: bigint;
  waitingPayments: number;
  /** In suspense, whenever it came. */
  heldBack: bigint;
  /** Refunds written down today, and reversals raised today that no refund explains. */
  wentBack: bigint;
};

type Sources = {
  confirmed: readonly ConfirmedDay[];
  wentBack: readonly WentBackDay[];
  waiting: readonly OpenMoney[];
  suspense: readonly OpenWork[];
};

/** @returns one line per currency in which money is waited for or moved today */
export function moneyLines({ confirmed, wentBack, waiting, suspense }: Sources): MoneyLine[] {
  const rows = [...confirmed, ...wentBack, ...waiting, ...suspense];
  const currencies = new Set(rows.map(({ currency }) => currency));
  currencies.delete(null);
  return [...(currencies as Set<string>)].sort().map((currency) => {
    const sum = (rows: readonly { currency: string | null; amount: bigint }[]): bigint =>
      rows.filter((row) => row.currency === currency).reduce((all, { amount }) => all + amount, 0n);
    const confirmedHere = confirmed.filter((row) => row.currency === currency);
    return {
      currency,
      takings: sum(confirmed) - sum(wentBack),
      ordersPaid: confirmedHere.reduce((all, { releases }) => all + releases, 0),
      waiting: sum(waiting),
      waitingPayments: waiting.find((row) => row.currency === currency)?.payments ?? 0,
      heldBack: sum(suspense),
      wentBack: sum(wentBack),
    };
  });
}

const HEAD = [
  'Currency',
  { number: 'Takings' },
  { number: 'Orders paid' },
  { number: 'Waiting' },
  { number: 'Held back' },
  { number: 'Went back' },
];

type TableProps = { lines: readonly MoneyLine[]; isWaitingCut: boolean };

export function MoneyTable({ lines, isWaitingCut }: TableProps): VNode {
  if (lines.length === 0) return <p class="none">No order today, and no payment is waited for.</p>;
  return (
    <>
      <Table
        label="Money today"
        head={HEAD}
        isHeaded
        rows={lines.map(({ currency, takings, ordersPaid, waiting, waitingPayments, heldBack, wentBack }) => [
          currency,
          <strong>
            <Bare amount={takings} currency={currency} />
          </strong>,
          ordersPaid.toLocaleString('en'),
          <>
            <Bare amount={waiting} currency={currency} />
            {waitingPayments > 0 && ` (${waitingPayments.toLocaleString('en')})`}
          </>,
          <span class={heldBack > 0n ? 'warn' : undefined}>
            <Bare amount={heldBack} currency={currency} />
          </span>,
          <Bare amount={wentBack} currency={currency} />,
        ])}
      />
      <p class="none">
        Days are in UTC. Takings = paid − went back (refunds and reversals). Waiting: no money has come yet
        (how many payments). Held back: money that came and is not ours yet.
        {isWaitingCut && ` Not more than ${MAX_COUNTED.toLocaleString('en')} waiting payments are counted.`}
      </p>
    </>
  );
}

/** An amount without its currency, which the head of its row shows. */
function Bare({ amount, currency }: Money): VNode {
  if (minorDigits(currency) === null) return <Amount amount={amount} currency={currency} />;
  return <MajorNumber text={formatMajor({ amount, currency })} />;
}
