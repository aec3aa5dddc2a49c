import type { Catalogue } from '../orders/catalogue.ts';

/**
 * The products for sale: the table `products`. Replace this if your products are stored elsewhere.
 */
export const catalogue: Catalogue = {
  products: (prisma) =>
    prisma.product.findMany({ where: { active: true }, orderBy: [{ position: 'asc' }, { sku: 'asc' }] }),
  find: (prisma, skus) => prisma.product.findMany({ where: { active: true, sku: { in: skus } } }),
};
