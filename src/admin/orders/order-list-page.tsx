import type { VNode } from 'preact';
import type { OrderId } from '../../platform/ids.ts';
import { downloadAddress } from '../pages.ts';
import { AdminPage, type Frame } from '../layout/frame.tsx';
import { Button, Field, Tabs, Moment, Status, Table } from '../layout/parts.tsx';
import { PAGE_ROWS, type OrderPage, type OrderRow, type FoundMoney } from './find-orders.sql.ts';
import { paramsOf, type OrderSearch } from './search.ts';
import { caseTitle } from '../../cases/case-text.ts';
import { Amount, useLocale } from '../../platform/html.tsx';
import { maskEmail } from '../../reporting/activity.ts';
import { displayMoney } from '../../platform/money.ts';

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

/** Orders as a person recognises them: who, what, how much, in which state and why. */
function OrderTable({ orders }: { orders: readonly OrderRow[] }): VNode {
  const hasNumbers = orders.some(({ externalId }) => externalId !== null);
  const head = ['When', 'Customer', { words: 'What' }, { number: 'Amount' }, 'State', 'Order'];
  return (
    <div class="orders">
      <Table
        label="Orders"
        head={[...head, ...(hasNumbers ? ['Your number'] : [])]}
        rows={orders.map((order) => [
          <Moment at={order.createdAt} />,
          maskEmail(order.email),
          goodsOf(order),
          <Amount {...order} />,
          <State order={order} />,
          <a href={`/admin/orders/${order.id}`}>{order.id.slice(0, 8)}</a>,
          ...(hasNumbers ? [order.externalId ?? ''] : []),
        ])}
      />
    </div>
  );
}

function goodsOf({ item, quantity, lines }: OrderRow): string {
  if (item === null) return '';
  return `${quantity ?? 1} × ${item}${lines > 1 ? `, +${lines - 1} more` : ''}`;
}

function State({ order: { id, status, openCase, came, refunded } }: { order: OrderRow }): VNode {
  return (
    <>
      {refunded > 0n ? (
        <span class="status refunded">{refunded < (came ?? 0n) ? 'refunded in part' : 'refunded'}</span>
      ) : status === 'review' ? (
        <span class="status review">in review</span>
      ) : (
        <Status word={status} />
      )}
      {openCase !== null && (
        <>
          {' '}
          <a class="reason" href={`/admin/cases?q=${id}`}>
            {caseTitle(openCase)}
          </a>
        </>
      )}
    </>
  );
}

/** That no order was found, what for, and how far back was searched. */
function NothingFound({
  search,
  lookedBackTo,
}: Pick<OrderPage, 'lookedBackTo'> & { search: OrderSearch }): VNode {
  const { words, view, currency, from, to, before } = search;
  const isFiltered = [view, currency, from, to].some((filter) => filter !== null);
  return (
    <p class="none">
      No {before !== null && 'older '}order
      {words !== null && ` matches “${words}”`}
      {isFiltered && (words === null ? ' fits these filters' : ' with these filters')}
      {lookedBackTo !== null && ` since ${dayOf(lookedBackTo)}`}.
    </p>
  );
}

/** How many orders were found, what they paid, and what of it went back. */
function Sums({ sums, lookedBackTo }: { sums: readonly FoundMoney[]; lookedBackTo: Date | null }): VNode {
  const locale = useLocale();
  const orders = sums.reduce((all, of) => all + of.orders, 0);
  const texts = sums
    .filter(({ paid }) => paid > 0n)
    .map(({ paid, refunded, currency }) => {
      const back =
        refunded > 0n ? ` (of it refunded ${displayMoney({ amount: refunded, currency }, locale)})` : '';
      return displayMoney({ amount: paid, currency }, locale) + back;
    });
  return (
    <p>
      {orders.toLocaleString('en')} {orders === 1 ? 'order' : 'orders'}
      {texts.length > 0 && `; paid ${texts.join(', ')}`}
      {lookedBackTo !== null && ` among those since ${dayOf(lookedBackTo)}`}.
    </p>
  );
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
