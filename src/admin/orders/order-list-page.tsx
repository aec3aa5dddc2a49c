import type { VNode } from 'preact';
import { ORDER_STATUSES } from '../../orders/order.ts';
import { Amount } from '../../platform/html.tsx';
import { downloadAddress } from '../layout/download.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Choice, Moment, Older, OrderLink, Status, Table } from '../layout/parts.tsx';
import type { OrderPage } from './orders.sql.ts';
import { paramsOf, type OrderSearch } from './search.ts';

type Props = { frame: Frame; search: OrderSearch; page: OrderPage; estimate: bigint };

/** With fewer orders, the database's statistics are not reliable yet. */
const WORTH_ESTIMATING = 1_000n;

export function OrderListPage({ frame, search, page, estimate }: Props): VNode {
  const { orders, next, lookedBackTo } = page;
  return (
    <AdminPage frame={frame} title="Orders" here="/admin/orders">
      <SearchForm search={search} />
      <p class="none">
        Newest first, times in UTC.
        {estimate >= WORTH_ESTIMATING &&
          ` About ${estimate.toLocaleString('en')} orders in all, by the database’s own statistics.`}
      </p>
      {orders.length === 0 ? (
        <p class="none">{lookedBackTo === null ? 'No such order.' : 'No such order on this page.'}</p>
      ) : (
        <Table label="Orders" head={['Placed', 'Status', { number: 'Total' }, 'Order', 'External id']}>
          {orders.map(({ id, externalId, status, amount, currency, createdAt }) => (
            <tr key={id}>
              <td>
                <Moment at={createdAt} />
              </td>
              <td>
                <Status word={status} />
              </td>
              <td class="number">
                <Amount amount={amount} currency={currency} />
              </td>
              <td>
                <OrderLink id={id} />
              </td>
              <td>{externalId ?? ''}</td>
            </tr>
          ))}
        </Table>
      )}
      {lookedBackTo !== null && (
        <p>
          Looked back to <Moment at={lookedBackTo} />. Older orders are on the next page.
        </p>
      )}
      {next !== null && <Older address="/admin/orders" params={paramsOf(search, next)} />}
      {orders.length > 0 && (
        <p>
          <a href={downloadAddress('orders', paramsOf(search))}>All of these as CSV</a>
        </p>
      )}
    </AdminPage>
  );
}

function SearchForm({ search }: { search: OrderSearch }): VNode {
  const statuses = ORDER_STATUSES.map((status) => ({ value: status, name: status }));
  return (
    <form method="get" action="/admin/orders" class="filters" role="search">
      <p class="field wide">
        <label for="q">Order id, reference, external id, or e-mail</label>
        <input
          id="q"
          name="q"
          type="search"
          value={search.words ?? ''}
          autocomplete="off"
          spellcheck={false}
        />
      </p>
      <Choice
        id="status"
        name="status"
        label="Status"
        chosen={search.status ?? ''}
        options={[{ value: '', name: 'any' }, ...statuses]}
      />
      <p class="field short">
        <label for="currency">Currency</label>
        <input id="currency" name="currency" value={search.currency ?? ''} maxLength={3} size={4} />
      </p>
      <p class="field">
        <label for="from">From day</label>
        <input id="from" name="from" type="date" value={search.from ?? ''} />
      </p>
      <p class="field">
        <label for="to">To day</label>
        <input id="to" name="to" type="date" value={search.to ?? ''} />
      </p>
      <p class="field">
        <button>Search</button>
      </p>
    </form>
  );
}
