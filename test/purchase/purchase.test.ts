import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

/** The whole way in a real browser: shop, hosted page, return, order page, with the worker running as it does in life. */
let shop: TestProgram;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  shop = await startProgram({ worker: true });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await shop.close();
});
beforeEach(() => open(true));
afterEach(() => context.close());

async function open(javaScriptEnabled: boolean): Promise<void> {
  complaints = [];
  context = await browser.newContext({ javaScriptEnabled });
  page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
}

const card = (sku: string) => page.locator(`.product[data-sku="${sku}"]`);

async function buyScarf(): Promise<void> {
  await page.goto(`${shop.origin}/shop`);
  await card('adire-scarf').getByRole('button', { name: /add/i }).click();
  await page.getByLabel(/e-?mail/i).fill('ada@example.com');
  await page.getByRole('button', { name: /^pay /i }).click();
  await page.waitForURL(`${shop.sandbox.url}/checkout/**`);
}

describe('somebody buys a scarf', () => {
  test('pays on the hosted page, comes back and sees the order paid', async () => {
    await buyScarf();
    await page.getByRole('button', { name: /^pay /i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
    expect(await page.locator('main').innerText()).toMatch(/12,750\.00/);
    expect(complaints).toEqual([]);
  });

  test('whose payment fails is told so, and can try again', async () => {
    await buyScarf();
    await page.getByRole('button', { name: /fail/i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    await page.getByRole('button', { name: /try again/i }).click();
    await page.waitForURL(`${shop.sandbox.url}/checkout/**`);
    await page.getByRole('button', { name: /^pay /i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
  });

  test('and leaves the page: the order page says that it is not confirmed yet, and changes by itself when money comes', async () => {
    await buyScarf();
    await page.getByRole('button', { name: /leave/i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    expect(await page.locator('main').innerText()).toMatch(/do not pay again/i);
    const orderId = page.url().split('/').at(-1) ?? '';
    const [payment] = await shop.program.database.query<{ reference: string }>(
      'SELECT reference FROM payments WHERE order_id = $1',
      [orderId],
    );
    await shop.hand(`transactions/${payment?.reference ?? ''}/pay`);
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
  });

  test('by keyboard alone', async () => {
    await page.goto(`${shop.origin}/shop`);
    await tabTo(/add adire scarf|add.*basket/i, 'adire-scarf');
    await page.keyboard.press('Enter');
    await page.getByLabel(/e-?mail/i).focus();
    await page.keyboard.type('ada@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${shop.sandbox.url}/checkout/**`);
    await tabTo(/^pay /i);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
  });

  test('without any script', async () => {
    await context.close();
    await open(false);
    await page.goto(`${shop.origin}/shop`);
    await page.locator('#NGN').locator('.product[data-sku="adire-scarf"] input[type="number"]').fill('1');
    await page.getByLabel(/e-?mail/i).fill('ada@example.com');
    await page.getByRole('button', { name: 'Pay in NGN' }).click();
    await page.waitForURL(`${shop.sandbox.url}/checkout/**`);
    await page.getByRole('button', { name: /^pay /i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/*`);
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
  });
});

test('a plain form that cannot be served is answered by a page, not by code', async () => {
  await context.close();
  await open(false);
  await page.goto(`${shop.origin}/shop`);
  await page.getByLabel(/e-?mail/i).fill('ada@example.com');
  await page.getByRole('button', { name: 'Pay in NGN' }).click();
  await page.getByRole('heading', { name: 'Something is missing' }).waitFor();
});

test('every paid order of this file was released once', async () => {
  const counts = await eventually(() =>
    shop.program.database.query(
      "SELECT o.id FROM orders o LEFT JOIN releases r ON r.order_id = o.id WHERE (o.status = 'paid') <> (r.id IS NOT NULL)",
    ),
  );
  expect(counts).toEqual([]);
});

/** Presses Tab until the focus is on a control with that name, inside the card of `sku` if one is given. */
async function tabTo(name: RegExp, sku?: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const element = document.activeElement;
      return {
        name: element?.getAttribute('aria-label') ?? element?.textContent ?? '',
        sku: element?.closest<HTMLElement>('[data-sku]')?.dataset.sku,
      };
    });
    if (name.test(focus.name) && (sku === undefined || focus.sku === sku)) return;
  }
  throw new Error(`no amount of tabbing leads to ${String(name)}`);
}
