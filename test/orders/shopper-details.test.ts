import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { placeOrder } from '../../src/checkout/checkout.sql.ts';
import { leaseDueReleases } from '../../src/fulfilment/releases.sql.ts';
import { findOrder } from '../../src/orders/orders.sql.ts';
import { insertOrder } from '../../src/orders/shop-orders.sql.ts';
import type { ShopperDetails } from '../../src/orders/shopper-details.ts';
import { newOrderId, newReference } from '../../src/platform/ids.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// Each statement that an order goes through carries what the shopper said, whatever fields a shop gives it.

let shop: TestProgram;
beforeAll(async () => {
  const env = {
    FULFILMENT_URL: 'http://127.0.0.1:9/',
    FULFILMENT_SECRET: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  };
  shop = await startProgram({ env });
});
afterAll(() => shop.close());

const details = { phone: '+2348012345678' } as object as ShopperDetails;
const wanted = {
  mode: 'test',
  email: 'ada@example.com',
  currency: 'NGN',
  amount: 100n,
  lines: [{ sku: null, description: 'a thing', unitAmount: 100n, quantity: 1 }],
  externalId: null,
  returnUrl: null,
  details,
} as const;

test('an order has the details with which a checkout began it', async () => {
  const { database } = shop.program;
  const id = newOrderId();
  await placeOrder(database, { order: { ...wanted, id }, reference: newReference(), key: null });
  expect(await findOrder(database, id)).toMatchObject({ details });
});

test('an order has the details with which it was placed, and so has its release', async () => {
  const { database } = shop.program;
  const id = newOrderId();
  await insertOrder(database, { ...wanted, id, metadata: {}, payBy: null });
  expect(await findOrder(database, id)).toMatchObject({ details });
  const { reference } = await shop.checkout({ orderId: id });
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  expect(await leaseDueReleases(database, 'test', 1, 1)).toMatchObject([{ orderId: id, details }]);
});

test('an order without any has none', async () => {
  const { orderId } = await shop.checkout();
  expect(await findOrder(shop.program.database, orderId)).toMatchObject({ details: {} });
});
