import type { VNode } from 'preact';
import { Amount, MajorNumber } from '../../platform/html.tsx';
import { formatMajor, minorDigits, type Money } from '../../platform/money.ts';
import type { HeldDay, ConfirmedDay, WentBackDay } from '../../reporting/money-by-day.sql.ts';
import { Table } from '../layout/parts.tsx';
import { MAX_COUNTED, type OpenMoney, type OpenWork } from '../../reporting/shop-state.sql.ts';

/** One currency today. Amounts in minor units. */
export type MoneyLine = {
  currency: string;
  /** Confirmed today and held today: what came in. */
  collected: bigint;
  confirmed: bigint;
  confirmedOrders: number;
  /** Refunds written down today, and reversals raised today that no refund explains. */
  wentBack: bigint;
  /** Confirmed less what went back; below zero on a day of refunds. */
  takings: bigint;
  open: bigint;
  openPayments: number;
  suspense: bigint;
};

type Sources = {
  confirmed: readonly ConfirmedDay[];
  held: readonly HeldDay[];
  wentBack: readonly WentBackDay[];
  open: readonly OpenMoney[];
  suspense: readonly OpenWork[];
};

/** @returns one line per currency in which money is open or moved today */
export function moneyLines({ confirmed, held, wentBack, open, suspense }: Sources): MoneyLine[] {
  const rows = [...confirmed, ...held, ...wentBack, ...open, ...suspense];
  const currencies = new Set(rows.map(({ currency }) => currency));
  currencies.delete(null);
  return [...(currencies as Set<string>)].sort().map((currency) => {
    const sum = (rows: readonly { currency: string | null; amount: bigint }[]): bigint =>
      rows.filter((row) => row.currency === currency).reduce((all, { amount }) => all + amount, 0n);
    const confirmedHere = confirmed.filter((row) => row.currency === currency);
    return {
      currency,
      collected: sum(confirmed) + sum(held),
      confirmed: sum(confirmed),
      confirmedOrders: confirmedHere.reduce((all, { releases }) => all + releases, 0),
      wentBack: sum(wentBack),
      takings: sum(confirmed) - sum(wentBack),
      open: sum(open),
      openPayments: open.find((row) => row.currency === currency)?.payments ?? 0,
      suspense: sum(suspense),
    };
  });
}

export function MoneyTable({ lines, isOpenCut }: { lines: readonly MoneyLine[]; isOpenCut: boolean }): VNode {
  if (lines.length === 0) return <p class="none">No order today, and nothing is open.</p>;
  const head = [
    'Currency',
    { number: 'Collected today' },
    { number: 'Confirmed today' },
    { number: 'Orders' },
    { number: 'Went back today' },
    { number: 'Takings today' },
    { number: 'Open now' },
    { number: 'Payments' },
    { number: 'In suspense now' },
  ];
  return (
    <>
      <Table label="Money today" head={head}>
        {lines.map(({ currency, confirmedOrders, openPayments, suspense, ...line }) => (
          <tr key={currency}>
            <th scope="row">{currency}</th>
            <td class="number">
              <Bare amount={line.collected} currency={currency} />
            </td>
            <td class="number">
              <Bare amount={line.confirmed} currency={currency} />
            </td>
            <td class="number">{confirmedOrders.toLocaleString('en')}</td>
            <td class="number">
              <Bare amount={line.wentBack} currency={currency} />
            </td>
            <td class="number">
              <Bare amount={line.takings} currency={currency} />
            </td>
            <td class="number">
              <Bare amount={line.open} currency={currency} />
            </td>
            <td class="number">{openPayments.toLocaleString('en')}</td>
            <td class={suspense > 0n ? 'number warn' : 'number'}>
              <Bare amount={suspense} currency={currency} />
            </td>
          </tr>
        ))}
      </Table>
      <p class="none">
        The day is that of UTC. Collected is what was confirmed today and what came today and is held in
        suspense. Went back are refunds written down today and reversals raised today; takings are confirmed
        less that.
        {isOpenCut &&
          ` Open is at least that: of more than ${MAX_COUNTED.toLocaleString('en')} payments no more are counted.`}
      </p>
    </>
  );
}

/** An amount without its currency, which the head of its row shows. */
function Bare({ amount, currency }: Money): VNode {
  if (minorDigits(currency) === null) return <Amount amount={amount} currency={currency} />;
  return <MajorNumber text={formatMajor({ amount, currency })} />;
}
