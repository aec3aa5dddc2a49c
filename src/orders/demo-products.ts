import type { Database } from '../platform/database/database.ts';
import { addProductsIfNone, type ProductRow } from './orders.sql.ts';

/**
 * What the demo shop sells: three currencies with two, no and three decimals, because a shop that works
 * with only one of them is not tested. Amounts are minor units.
 */
const DEMO_PRODUCTS: readonly ProductRow[] = [
  product(
    'ankara-tote',
    'Ankara tote bag',
    'Wax print on the outside, a pocket for keys on the inside.',
    850_000n,
    'NGN',
  ),
  product(
    'jollof-kit',
    'Jollof starter kit',
    'Long-grain rice, smoked paprika, bay, and the argument about whose is best.',
    420_050n,
    'NGN',
  ),
  product(
    'adire-scarf',
    'Adire scarf',
    'Indigo resist-dyed cotton from Abeokuta. No two are alike.',
    1_275_000n,
    'NGN',
  ),
  product(
    'bissap',
    'Bissap, six bottles',
    'Hibiscus, mint and a little ginger. Keeps for a week once opened.',
    4_500n,
    'XOF',
  ),
  product(
    'djembe',
    'Djembe, 30 cm',
    'Carved from one piece of dimba wood, goatskin head, tuned by ear.',
    65_000n,
    'XOF',
  ),
  product(
    'cafe-touba',
    'Café Touba, 500 g',
    'Coffee roasted with selim pepper, ground for the cloth filter.',
    3_200n,
    'XOF',
  ),
  product('bakhoor', 'Bakhoor incense', 'Oud chips soaked in rose and sandalwood oil.', 4_750n, 'KWD'),
  product('date-box', 'Date box, 1 kg', 'Khalas and Sukkari, picked this season.', 3_125n, 'KWD'),
  product('dallah', 'Brass dallah', 'A coffee pot for twelve small cups.', 18_500n, 'KWD'),
];

/** Fills an empty catalogue, so that the demo shop has something to sell. One with products is left alone. */
export async function offerDemoProducts(database: Database): Promise<void> {
  await addProductsIfNone(database, DEMO_PRODUCTS);
}

function product(
  sku: string,
  name: string,
  description: string,
  unitAmount: bigint,
  currency: string,
): ProductRow {
  return { sku, name, description, unitAmount, currency, image: `/shop/assets/${sku}.svg` };
}
