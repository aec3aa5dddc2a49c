import type { Product } from '../orders/catalogue.ts';
import { minorDigits } from '../platform/money.ts';

/** The products of one currency. One order is paid in one currency, so each shelf has a basket of its own. */
export type Shelf = { currency: string; currencyName: string; digits: number; products: Product[] };

const CURRENCY_NAMES = new Intl.DisplayNames('en', { type: 'currency' });

/** Shelves in the order in which their currencies first appear; products keep their order. */
export function shelvesOf(products: readonly Product[]): Shelf[] {
  const shelves = new Map<string, Shelf>();
  for (const product of products) {
    const { currency } = product.price;
    const shelf = shelves.get(currency) ?? emptyGroup(currency);
    shelf.products.push(product);
    shelves.set(currency, shelf);
  }
  return [...shelves.values()];
}

function emptyGroup(currency: string): Shelf {
  return {
    currency,
    currencyName: CURRENCY_NAMES.of(currency) ?? currency,
    digits: minorDigits(currency) ?? 0,
    products: [],
  };
}
