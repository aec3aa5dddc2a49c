import type { Product } from '../orders/catalogue.ts';
import { minorDigits } from '../platform/money.ts';

/**
 * The products of one currency. One order is paid in one currency, so each is paid by a button of its own.
 */
export type Shelf = { currency: string; digits: number; products: Product[] };

/** Shelves in the order in which their currencies first appear; products keep their order. */
export function shelvesOf(products: readonly Product[]): Shelf[] {
  const shelves = new Map<string, Shelf>();
  for (const product of products) {
    const { currency } = product.price;
    const shelf = shelves.get(currency) ?? { currency, digits: minorDigits(currency) ?? 0, products: [] };
    shelf.products.push(product);
    shelves.set(currency, shelf);
  }
  return [...shelves.values()];
}

/** Of a heading: "Nigerian Naira". */
export function currencyName(currency: string, language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'currency' }).of(currency) ?? currency;
  return name.slice(0, 1).toLocaleUpperCase(language) + name.slice(1);
}

/** Of a sentence: "Nigerian nairas". */
export function currencyNames(currency: string, language: string): string {
  const format = new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'name' });
  return format.formatToParts(2).find(({ type }) => type === 'currency')?.value ?? currency;
}
