import type { CreateCatalogue } from '../orders/catalogue.ts';

/**
 * The line to replace when the products are yours and not those of the table `products`, for example
 * `export const catalogue: CreateCatalogue | null = (database) => ({ products: …, price: … });`
 * While it is null the table decides what is sold, and an empty one is filled with what the demo
 * shop sells, in production only with DEMO_SHOP=on.
 */
export const catalogue: CreateCatalogue | null = null;
