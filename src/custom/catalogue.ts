import type { Catalogue } from '../orders/catalogue.ts';

/** What is sold: the table `products`. Replace it where the products are kept elsewhere. */
export const catalogue: Catalogue = {
  products: (prisma) =>
    prisma.product.findMany({ where: { active: true }, orderBy: [{ position: 'asc' }, { sku: 'asc' }] }),
  find: (prisma, skus) => prisma.product.findMany({ where: { active: true, sku: { in: skus } } }),
};
