import type { VNode } from 'preact';
import { useLocale } from '../../platform/html.tsx';
import { displayMoney } from '../../platform/money.ts';
import type { FoundMoney, OrderPage } from './find-orders.sql.ts';
import type { OrderSearch } from './search.ts';

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
