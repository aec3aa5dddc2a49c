import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from './support/browser.ts';
import { startShop, type Shop } from './support/shop.ts';

// A shopper buys with a real browser. No page of ours needs a script.

let browser: Browser;
let storefront: Server;
let store: string;
let shop: Shop;

beforeAll(async () => {
  // A shop of plain HTML with its own address.
  storefront = createServer((req, res) => {
    const form = `<form method="post" action="${shop.url}/checkout">
      <input type="hidden" name="sku" value="ankara-tote"><input type="hidden" name="quantity" value="2">
      <label>E-mail <input type="email" name="email"></label><button>Buy</button></form>`;
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.end(`<!doctype html><title>A shop</title>${req.url === '/' ? form : '<p>Thank you.</p>'}`);
  }).listen(0, '127.0.0.1');
  await once(storefront, 'listening');
  store = `http://127.0.0.1:${(storefront.address() as AddressInfo).port}`;
  [shop, browser] = await Promise.all([
    startShop({ env: { STOREFRONT_RETURN_URL: `${store}/thanks`, STOREFRONT_ORIGINS: store } }),
    openBrowser(),
  ]);
});

afterAll(async () => {
  await browser.close();
  await shop.stop();
  storefront.close();
});

async function buy(button: 'Pay' | 'Decline'): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(store);
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Buy' }).click();
  await page.waitForURL(`${String(shop.sandbox?.url)}/pay/**`);
  expect(await page.locator('main').innerText()).toMatch(/17,?000(\.00)? NGN/);
  await page.getByRole('button', { name: button }).click();
  await page.waitForURL(`${store}/thanks?**`);
  return page;
}

test('a shopper buys a basket on the hosted page and lands on the paid order', async () => {
  const page = await buy('Pay');
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('status')).toBe('paid');
  const order = await shop.request('GET', `/orders/${String(searchParams.get('order'))}`);
  expect(order.body).toMatchObject({ status: 'paid', amount: '17000.00', currency: 'NGN' });
});

test('a declined payment leads back to an unpaid order', async () => {
  const page = await buy('Decline');
  expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
});

test('without a storefront, the shopper lands on our own order page', async () => {
  const own = await startShop();
  try {
    const { orderId, checkoutUrl } = await own.checkout();
    const page = await browser.newPage();
    await page.goto(checkoutUrl);
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.waitForURL(`${own.url}/**${orderId}**`);
    expect(await page.innerText('body')).toMatch(/\bpaid\b/i);
  } finally {
    await own.stop();
  }
});
