import type { Catalogue } from '../orders/catalogue.ts';

/** What is sold: the table `products`. Replace it where the products are kept elsewhere. */
export const catalogue: Catalogue = {
  products: (prisma) =>
    prisma.product.findMany({ where: { active: true }, orderBy: [{ position: 'asc' }, { sku: 'asc' }] }),
  find: (prisma, skus) => prisma.product.findMany({ where: { active: true, sku: { in: skus } } }),
};

/**
 * What the demo sells, one thing for each number of decimals. An empty table is filled with it outside of production.
 */
export const DEMO_PRODUCTS = [
  {
    sku: 'ankara-tote',
    name: 'Ankara tote bag',
    description: 'Cotton, lined, 40 by 35 cm',
    unitAmount: 850_000n,
    currency: 'NGN',
    position: 1,
  },
  {
    sku: 'djembe',
    name: 'Djembe, 30 cm',
    description: 'Carved by hand',
    unitAmount: 65_000n,
    currency: 'XOF',
    position: 2,
  },
  {
    sku: 'brass-dallah',
    name: 'Brass dallah',
    description: 'Coffee pot for six',
    unitAmount: 18_500n,
    currency: 'KWD',
    position: 3,
  },
];
