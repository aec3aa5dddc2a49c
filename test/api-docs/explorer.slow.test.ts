import { afterAll, beforeAll, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectToLookGood } from '../shop-pages/support.ts';
import { openBrowser } from '../support/browser.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { openExplorer, operation } from './support.ts';

let shop: Shop;
let browser: Browser;
beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await shop.stop();
});

test.each(['light', 'dark'] as const)(
  '%s mode: the explorer fits and passes axe with each part open, with an answer, and with its dialog',
  async (colorScheme) => {
    const page = await browser.newPage({ colorScheme });
    await openExplorer(page, shop.url);
    await expectToLookGood(page);
    const checkout = await operation(page, 'createCheckout');
    await checkout.getByRole('button', { name: 'Try it out' }).click();
    await checkout.getByRole('button', { name: 'Execute' }).click();
    await checkout.locator('.live-responses-table').waitFor();
    await page.evaluate(
      "document.querySelectorAll('.opblock-summary-control[aria-expanded=false]').forEach((one) => one.click())",
    );
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.locator('.dialog-ux').waitFor();
    await expectToLookGood(page);
    await page.locator('.btn-done').first().click();
    await expectToLookGood(page);
  },
);
