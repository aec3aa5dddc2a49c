import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { buy, happens } from '../money/support.ts';
import { expectGoodLooks, expectToLookGood } from '../shop-pages/support.ts';
import { openBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, type Shop } from '../support/shop.ts';

// Each page of the console with everything that it may show, on a desktop and two phones, in light
// and dark mode.

let shop: Shop;
let browser: Browser;
let receiver: Receiver;
/** The values for the names in the paths. */
const ids: Record<string, string> = { MONTH: new Date().toISOString().slice(0, 7) };
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.answer(503);
  [shop, browser] = await Promise.all([startShop({ env: receiver.env }), openBrowser()]);
  const { orderId, reference } = await buy(shop);
  await happens(shop, reference, 'reverse');
  const [little, much] = [await buy(shop, { amount: 8000 }), await buy(shop, { amount: 9000 })];
  Object.assign(ids, { REVERSED: orderId, LITTLE: little.orderId, MUCH: much.orderId });
  const stranger = { create: true, email: 'eve@example.com', amount: 2000, currency: 'NGN', notify: false };
  await shop.sandboxPost('/transactions/stranger0stranger0stranger/pay', stranger);
  await shop.command(['reconcile']);
  const found = 'SELECT r.id AS "RUN", c.id AS "CASE" FROM runs r, cases c WHERE order_id IS NULL';
  Object.assign(ids, (await shop.database.query(found))[0]);
});
afterAll(async () => {
  await browser.close();
  await shop.stop();
  await receiver.close();
});

const at = (path: string): string => `${shop.url}/admin${path.replace(/[A-Z]+/, (name) => ids[name] ?? '')}`;

const PAGES = ['', '/login', '/cases', '/cases/CASE', '/orders?tab=unsent', '/orders', '/orders/MUCH', '/checks'];
const MORE = ['/orders/nobody', '/orders/REVERSED', '/orders/REVERSED/proof', '/find?q=nobody', '/money?month=MONTH'];
test.each([...PAGES, ...MORE, '/checks/RUN', '/activity'])('/admin%s fits and passes axe', async (path) => {
  await expectGoodLooks(browser, at(path));
});

test.each(['light', 'dark'] as const)(
  '%s mode: a refused form and a confirmation page pass axe',
  async (colorScheme) => {
    const page = await browser.newPage({ colorScheme });
    await page.goto(at('/orders/LITTLE'));
    await page.getByLabel('I refunded NGN 8,000.00').check();
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.innerText('[role=alert]')).toMatch(/Nothing was done/);
    await expectToLookGood(page);
    await page.getByLabel('Refund number').first().fill('RF-1');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.innerText('h1')).toBe('Refund of NGN 8,000.00 for this order?');
    await expectToLookGood(page);
  },
);
