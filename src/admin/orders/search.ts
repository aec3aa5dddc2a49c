import { ORDER_STATUSES } from '../../orders/order.ts';
import { parseOrderId, type OrderId } from '../../platform/ids.ts';
import { ORDER_VIEWS, type OrderView } from '../../reporting/order-search.sql.ts';
import { dayOf } from '../action-form.ts';

/** What an operator searches for. Every condition that is not given is null. */
export type OrderSearch = {
  /** Any part of what an order has, or a name of it. */
  words: string | null;
  /** The parameter `status`. */
  view: OrderView | null;
  currency: string | null;
  /** Days in UTC, both inclusive. */
  from: string | null;
  to: string | null;
  /** The order after which the page begins. */
  before: OrderId | null;
};

const VIEWS = [...ORDER_STATUSES, ...ORDER_VIEWS];

/**
 * Reads the search from a query. Unreadable conditions are ignored, and the page shows the
 * conditions that were used.
 */
export function readSearch(query: Record<string, unknown>): OrderSearch {
  const text = (name: string): string | null => {
    const value = query[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 255) : null;
  };
  return {
    words: text('q'),
    view: VIEWS.find((view) => view === text('status')) ?? null,
    currency:
      text('currency')
        ?.toUpperCase()
        .match(/^[A-Z]{3}$/)?.[0] ?? null,
    from: dayOf(text('from')),
    to: dayOf(text('to')),
    before: parseOrderId(text('before')),
  };
}

/** The search as parameters of an address. @param before of the page after an order */
export function paramsOf(
  { words, view, ...search }: OrderSearch,
  before: OrderId | null = null,
): Record<string, string> {
  const given = Object.entries({ q: words, status: view, ...search, before }).filter(
    ([, value]) => value !== null,
  );
  return Object.fromEntries(given) as Record<string, string>;
}
