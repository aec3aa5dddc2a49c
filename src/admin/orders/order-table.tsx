import type { VNode } from 'preact';
import { caseTitle } from '../../cases/case-text.ts';
import { Amount, useLocale } from '../../platform/html.tsx';
import { maskEmail } from '../../reporting/activity.ts';
import { Moment, Status, Table } from '../layout/parts.tsx';
import type { OrderRow, FoundMoney, OrderPage } from './find-orders.sql.ts';
import { displayMoney } from '../../platform/money.ts';
import type { OrderSearch } from './search.ts';

/** Orders as a person recognises them: who, what, how much, in which state and why. */
export function OrderTable({ orders }: { orders: readonly OrderRow[] }): VNode {
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
export function NothingFound({
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
export function Sums({
  sums,
  lookedBackTo,
}: {
  sums: readonly FoundMoney[];
  lookedBackTo: Date | null;
}): VNode {
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
