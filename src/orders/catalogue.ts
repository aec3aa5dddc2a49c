import type { Database, Queryable } from '../platform/database/database.ts';
import { payableCurrency, type Money } from '../platform/money.ts';
import type { OrderId } from '../platform/ids.ts';
import type { OrderLine } from './order.ts';
import { pricesOf, productsOnSale } from './orders.sql.ts';

/**
 * What the shop sells and what it costs. Prices come from here and from nowhere else. It is the first of the
 * parts that a shop replaces: the type stays, and `src/custom/catalogue.ts` gives another implementation.
 */
export type Catalogue = {
  products(): Promise<Product[]>;
  /** Prices the wanted items in their order, or says which sku is not on sale. */
  price(items: readonly WantedItem[]): Promise<Pricing>;
  /**
   * Reserves stock for an order, in the transaction that has just placed it: what is written through
   * `tx` is kept with the order or not at all. Called once per order and never again for a further
   * payment of it. Left out: nothing is reserved. Shoppers wait for it, and others queue at the rows it
   * locks, so it must ask nothing but the database.
   * @param order `items` as the shopper wants them, `lines` as `price` made them of those
   */
  reserve?(
    tx: Queryable,
    order: { orderId: OrderId; items: readonly WantedItem[]; lines: readonly OrderLine[] },
  ): Promise<Reservation>;
};

/** A catalogue of the shop's own, which may ask the database for its products. */
export type CreateCatalogue = (database: Database) => Catalogue;

/** `price` is above zero. */
export type Product = { sku: string; name: string; description: string; image: string; price: Money };
export type WantedItem = { sku: string; quantity: number };
export type OutOfStock = { outcome: 'out-of-stock'; skus: string[] };
/**
 * `payWithinSec`: how long it is kept, at most eight days: the order's deadline. An order that is not paid by
 * then expires permanently, and its later money is raised. Left out: there is no deadline, and the order may
 * be paid as long as money may come.
 */
type Reservation = { outcome: 'reserved'; payWithinSec?: number } | OutOfStock;
export type Pricing =
  | { outcome: 'priced'; lines: OrderLine[]; currency: string }
  | { outcome: 'unknown-sku'; skus: string[] }
  /** On sale, but fewer in stock than wanted. */
  | OutOfStock
  | { outcome: 'mixed-currencies'; currencies: string[] }
  /** Nothing of it has a price, such as a voucher alone. */
  | { outcome: 'total-too-small' };

/**
 * The same catalogue without the products that cost nothing, and those whose currency cannot be paid in: no
 * checkout could be opened for them, and no page could show their price. Small letters count as capitals.
 */
export function onlyPayable(catalogue: Catalogue): Catalogue {
  return {
    // Bound, and not spread: a catalogue may be written as a class.
    ...(catalogue.reserve && { reserve: catalogue.reserve.bind(catalogue) }),
    products: async () =>
      (await catalogue.products()).flatMap((product) => {
        const currency = payableCurrency(product.price.currency);
        if (currency === null || !costsMoney(product)) return [];
        return [{ ...product, price: { ...product.price, currency } }];
      }),
    price: async (items) => {
      const pricing = await catalogue.price(items);
      if (pricing.outcome !== 'priced') return pricing;
      const currency = payableCurrency(pricing.currency);
      if (currency !== null) return { ...pricing, currency };
      return { outcome: 'unknown-sku', skus: [...new Set(items.map(({ sku }) => sku))] };
    },
  };
}

export const createCatalogue: CreateCatalogue = (database) => {
  return {
    products: async () => {
      const rows = await productsOnSale(database);
      return rows.map(({ unitAmount, currency, ...row }) => ({
        ...row,
        price: { amount: unitAmount, currency },
      }));
    },
    price: async (items) => {
      const rows = await pricesOf(
        database,
        items.map(({ sku }) => sku),
      );
      const products = rows.map(({ sku, name, unitAmount: amount, currency }) => ({
        sku,
        name,
        price: { amount, currency },
      }));
      return priceFrom(products, items);
    },
  };
};

/** Prices the wanted items, in their order, from these products. A price of zero or less is none. */
export function priceFrom(
  products: readonly Pick<Product, 'sku' | 'name' | 'price'>[],
  items: readonly WantedItem[],
): Pricing {
  const bySku = new Map(products.filter(costsMoney).map((product) => [product.sku, product]));
  const unknown = items.filter(({ sku }) => !bySku.has(sku)).map(({ sku }) => sku);
  if (unknown.length > 0) return { outcome: 'unknown-sku', skus: [...new Set(unknown)] };
  const wanted = items.flatMap(({ sku, quantity }) => {
    const product = bySku.get(sku);
    return product === undefined ? [] : [{ sku, quantity, description: product.name, price: product.price }];
  });
  const currencies = [...new Set(wanted.map(({ price }) => price.currency))];
  const [currency, ...others] = currencies;
  if (currency === undefined) return { outcome: 'total-too-small' };
  if (others.length > 0) return { outcome: 'mixed-currencies', currencies };
  const lines = wanted.map(({ price, ...line }) => ({ ...line, unitAmount: price.amount }));
  return { outcome: 'priced', currency, lines };
}

/** PostgreSQL refuses an order of goods for nothing: a gift or a discount is a line without a sku. */
function costsMoney({ price }: Pick<Product, 'price'>): boolean {
  return price.amount > 0n;
}
