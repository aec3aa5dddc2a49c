import type { PrismaClient } from '../platform/prisma/client.ts';
import { invalidField, Problem } from '../platform/problem.ts';
import type { Basket, Line } from './input.ts';

/** A product on sale. `unitAmount` is in minor units. */
export type Product = {
  sku: string;
  name: string;
  description: string;
  image: string;
  unitAmount: bigint;
  currency: string;
};

/** The source of prices. src/custom/catalogue.ts is the shop's own. */
export type Catalogue = {
  /** All products on sale, in the order of the page. */
  products(prisma: PrismaClient): Promise<Product[]>;
  /** The products on sale among these skus. */
  find(prisma: PrismaClient, skus: string[]): Promise<Product[]>;
  /**
   * Checks the stock. Leave it out if everything is always in stock.
   * @returns the skus of which there is not enough
   */
  outOfStock?(prisma: PrismaClient, items: Basket['items']): Promise<string[]>;
};

/** Prices a basket. @throws {Problem} 422 or 409 that names the items */
export async function priceBasket(
  prisma: PrismaClient,
  catalogue: Catalogue,
  { items, currency }: Basket,
): Promise<{ lines: Line[]; currency: string }> {
  const skus = [...new Set(items.map(({ sku }) => sku))];
  const products = new Map((await catalogue.find(prisma, skus)).map((product) => [product.sku, product]));
  const unknown = skus.filter((sku) => !products.has(sku));
  if (unknown.length > 0) throw invalidField('items', `not on sale: ${unknown.join(', ')}`);
  const currencies = [...new Set([...products.values()].map((product) => product.currency))];
  const [only = ''] = currencies;
  if (currencies.length > 1)
    throw invalidField('items', `must share one currency, these have ${currencies.join(' and ')}`);
  if (currency !== undefined && currency.toUpperCase() !== only)
    throw invalidField('currency', `these items are sold in ${only}`);
  const missing = (await catalogue.outOfStock?.(prisma, items)) ?? [];
  if (missing.length > 0)
    throw new Problem('out-of-stock', {
      errors: [{ path: 'items', message: `not enough left: ${missing.join(', ')}` }],
    });
  const lines = items.flatMap(({ sku, quantity }) => {
    const product = products.get(sku);
    return product === undefined ? [] : [{ sku, description: product.name, unitAmount: product.unitAmount, quantity }];
  });
  return { lines, currency: only };
}
