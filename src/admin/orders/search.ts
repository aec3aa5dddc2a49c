import { ORDER_STATUSES, type OrderStatus } from '../../orders/order.ts';
import { parseOrderId, type OrderId } from '../../platform/ids.ts';
import { fitting } from '../layout/query.ts';

/** What an operator searches for. Every condition that is not given is null. */
export type OrderSearch = {
  /** An order id, a payment reference, a shop's own id, or a whole e-mail address. */
  words: string | null;
  status: OrderStatus | null;
  currency: string | null;
  /** Days in UTC, both inclusive. */
  from: string | null;
  to: string | null;
  /** The order after which the page begins. */
  before: OrderId | null;
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads the search from a query. Unreadable conditions are ignored, and the page shows the
 * conditions that were used.
 */
export function readSearch(query: Record<string, unknown>): OrderSearch {
  const text = (name: string): string | null => {
    const value = query[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 255) : null;
  };
  const day = (name: string): string | null => {
    const value = fitting(text(name), DAY);
    return value === null || Number.isNaN(Date.parse(value)) ? null : value;
  };
  return {
    words: text('q'),
    status: ORDER_STATUSES.find((status) => status === text('status')) ?? null,
    currency:
      text('currency')
        ?.toUpperCase()
        .match(/^[A-Z]{3}$/)?.[0] ?? null,
    from: day('from'),
    to: day('to'),
    before: parseOrderId(text('before')),
  };
}

export function isEmail(words: string): boolean {
  return words.includes('@');
}

/** The search as parameters of an address. @param before of the page after an order */
export function paramsOf(
  { words, ...search }: OrderSearch,
  before: OrderId | null = null,
): Record<string, string> {
  const given = Object.entries({ q: words, ...search, before }).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as Record<string, string>;
}
