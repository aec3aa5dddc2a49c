import type { VNode } from 'preact';
import { Page } from '../platform/html.tsx';
import { displayMoney } from '../platform/money.ts';
import type { Counts } from './repository.ts';

export type Overview = {
  mode: string;
  counts: Counts;
  orders: { id: string; status: string; amount: bigint; currency: string; createdAt: Date }[];
  run: { verdict: string | null; finishedAt: Date | null } | null;
  isKeyRefused: boolean;
};

const TITLES: Record<Counts[number]['kind'], string> = {
  orders: 'Orders',
  payments: 'Payments',
  releases: 'Releases',
  findings: 'Open findings',
  suspense: 'Money in suspense',
  currency_stops: 'Stopped currencies',
};

/** Today at a glance: does the money agree, and what waits for a person? */
export function OverviewPage({ mode, counts, orders, run, isKeyRefused }: Overview): VNode {
  const kinds = Object.keys(TITLES) as (keyof typeof TITLES)[];
  return (
    <Page title="Operations" stylesheet="/admin/admin.css">
      <header>
        <h1>Operations</h1>
        <p class={`badge ${mode}`}>{mode} mode</p>
      </header>
      <main>
        {isKeyRefused && (
          <p class="alarm">The payment service refuses the secret key. Check GATEWAY_SECRET_KEY.</p>
        )}
        <section aria-labelledby="verdict">
          <h2 id="verdict">Last reconciliation</h2>
          <p class={`verdict ${run?.verdict ?? 'none'}`}>{verdictText(run)}</p>
        </section>
        <div class="cards">
          {kinds.map((kind) => (
            <section aria-labelledby={kind} key={kind}>
              <h2 id={kind}>{TITLES[kind]}</h2>
              <CountList rows={counts.filter((row) => row.kind === kind)} />
            </section>
          ))}
        </div>
        <section aria-labelledby="latest">
          <h2 id="latest">Latest orders</h2>
          <OrderTable orders={orders} />
        </section>
      </main>
    </Page>
  );
}

function CountList({ rows }: { rows: Counts }): VNode {
  if (rows.length === 0) return <p class="none">none</p>;
  return (
    <dl>
      {rows.map(({ state, count }) => (
        <div key={state}>
          <dt>{state.replaceAll('_', ' ')}</dt>
          <dd>{count.toLocaleString('en')}</dd>
        </div>
      ))}
    </dl>
  );
}

function OrderTable({ orders }: Pick<Overview, 'orders'>): VNode {
  if (orders.length === 0) return <p class="none">No orders yet. Buy something in the shop.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of the latest orders">
      <table>
        <thead>
          <tr>
            <th scope="col">Placed</th>
            <th scope="col">Order</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {orders.map(({ id, status, amount, currency, createdAt }) => (
            <tr key={id}>
              <td>{createdAt.toISOString().slice(0, 19).replace('T', ' ')}</td>
              <td>
                <a href={`/admin/orders/${id}`}>{id}</a>
              </td>
              <td>
                <span class={`status ${status}`}>{status}</span>
              </td>
              <td class="number">{displayMoney({ amount, currency })}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function verdictText(run: Overview['run']): string {
  if (run === null) return 'There was none yet. Type: npm run reconcile';
  const at = run.finishedAt?.toISOString().slice(0, 16).replace('T', ' ') ?? '';
  if (run.verdict === 'agreed') return `Our orders and the service's records agree (${at}).`;
  if (run.verdict === 'findings')
    return `There are disagreements to look at (${at}). Type: npm run findings -- list`;
  return `The last run could not be completed (${at}).`;
}
