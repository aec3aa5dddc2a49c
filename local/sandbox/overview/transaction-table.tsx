import type { VNode } from 'preact';

import { amountOnRecord } from '../assumptions.ts';
import type { Mode } from '../keys.ts';
import type { Transaction } from '../ledger/transaction.ts';
import { Amount } from '../pages/amount.tsx';
import { StateChip } from '../pages/state-chip.tsx';

/** One mode's transactions, one page of them. */
export type Shelf = {
  mode: Mode;
  rows: Transaction[];
  total: number;
  /** Addresses of the neighbouring pages, null at the ends. */
  newer: string | null;
  older: string | null;
};

export function TransactionTable({ mode, rows, total, newer, older }: Shelf): VNode {
  const heading = mode === 'test' ? 'Test mode' : 'Live mode';
  return (
    <section aria-labelledby={`${mode}-mode`}>
      <h2 id={`${mode}-mode`}>
        {heading} <span class="count">{total}</span>
      </h2>
      {rows.length === 0 ? (
        <p class="empty">No transactions yet.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Reference</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Amount
              </th>
              <th scope="col">Opened (UTC)</th>
              <th scope="col">Page</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.reference} row={row} />
            ))}
          </tbody>
        </table>
      )}
      {(newer !== null || older !== null) && (
        <nav class="pages" aria-label={`${heading}, pages`}>
          {newer !== null && <a href={newer}>Newer</a>}
          {older !== null && <a href={older}>Older</a>}
        </nav>
      )}
    </section>
  );
}

function Row({ row }: { row: Transaction }): VNode {
  return (
    <tr>
      <th scope="row" class="code">
        {row.reference}
      </th>
      <td>
        <StateChip {...row} />
      </td>
      <td class="number">
        <Amount money={amountOnRecord(row)} />
      </td>
      <td class="time">
        <time dateTime={row.createdAt}>{row.createdAt.slice(0, 19).replace('T', ' ')}</time>
      </td>
      <td>
        <a href={`/checkout/${row.token}`} aria-label={`Checkout page of ${row.reference}`}>
          Checkout
        </a>
      </td>
    </tr>
  );
}
