import type { VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';
import { downloadAddress } from '../pages.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Field, Tabs } from '../layout/parts.tsx';
import { OrderTable, NothingFound, Sums } from './order-table.tsx';
import { PAGE_ROWS, type OrderPage } from './find-orders.sql.ts';
import { paramsOf, type OrderSearch } from './search.ts';

type Props = { frame: Frame; search: OrderSearch; page: OrderPage };

const ADDRESS = '/admin/orders';
const TABS = [
  ['All', null],
  ['To do', 'todo'],
  ['Paid', 'paid'],
  ['Refunded', 'refunded'],
  ['Not paid', 'unpaid'],
] as const;

export function OrderListPage({ frame, search, page }: Props): VNode {
  const { orders, next, lookedBackTo, sums } = page;
  const isBackwards = search.from !== null && search.to !== null && search.from > search.to;
  return (
    <AdminPage frame={frame} title="Orders" here={ADDRESS}>
      <SearchForm search={search} />
      <Tabs
        label="Which orders"
        tabs={TABS.map(([name, view]) => ({
          name,
          address: addressOf({ ...search, view }),
          isHere: search.view === view,
        }))}
      />
      <p class="none">Newest first, times in UTC.</p>
      {isBackwards && (
        <p class="alarm">
          “From” ({search.from}) is after “To” ({search.to}): no day lies between them.
        </p>
      )}
      {orders.length > 0 && <OrderTable orders={orders} />}
      {orders.length === 0 && !isBackwards && <NothingFound search={search} lookedBackTo={lookedBackTo} />}
      {orders.length > 0 && sums !== null && <Sums sums={sums} lookedBackTo={lookedBackTo} />}
      {next !== null && (
        <p class="pages">
          <a href={addressOf(search, next)} rel="next">
            {orders.length === PAGE_ROWS ? 'Older' : 'Look further back'}
          </a>
        </p>
      )}
      {orders.length > 0 && (
        <p>
          <a href={downloadAddress('orders', paramsOf(search))}>All of these as CSV</a>
        </p>
      )}
    </AdminPage>
  );
}

function addressOf(search: OrderSearch, before: OrderId | null = null): string {
  const query = new URLSearchParams(paramsOf(search, before)).toString();
  return query === '' ? ADDRESS : `${ADDRESS}?${query}`;
}

function SearchForm({ search }: { search: OrderSearch }): VNode {
  return (
    <form method="get" action={ADDRESS} class="filters" role="search">
      <Field
        id="q"
        label="Find by e-mail, goods, order number, reference, refund number or colleague"
        width="wide"
        name="q"
        type="search"
        value={search.words ?? ''}
        autocomplete="off"
        spellcheck={false}
      />
      {search.view !== null && <input type="hidden" name="status" value={search.view} />}
      <Field
        id="currency"
        label="Currency"
        name="currency"
        value={search.currency ?? ''}
        maxLength={3}
        size={4}
      />
      <Field id="from" label="From" name="from" type="date" value={search.from ?? ''} />
      <Field id="to" label="To" name="to" type="date" value={search.to ?? ''} />
      <Button>Search</Button>
    </form>
  );
}
