import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test as testOfBoth,
} from '@jest/globals';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readCheckoutForm } from '../../src/checkout/checkout-bodies.ts';
import type { Order } from '../../src/orders/order.ts';
import { listen, type RunningServer } from '../../src/platform/http-server.ts';
import { localeOf } from '../../src/platform/locale.ts';
import { displayMoney } from '../../src/platform/money.ts';
import { openBrowser } from '../support/browser.ts';
import { someOf } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { eventually } from '../support/program.ts';
import { order, ORDER_ID, shopApp } from './support.ts';

// Starting a browser on a busy machine takes longer than jest's five seconds.
const PATIENCE_MS = 180_000;

let browser: Browser;
let server: RunningServer;
let context: BrowserContext;
let page: Page;
let sent: string[];
let faults: string[];
const orders: Order[] = [];
let areEventsHeard = false;
/** How often the page has asked where an order stands. */
let questions = 0;
/** Events that were sent. */
let told = 0;

beforeEach(() => {
  sent = [];
  faults = [];
  orders.splice(0);
});

async function visit(path: string): Promise<void> {
  await page.goto(`http://127.0.0.1:${server.port}${path}`);
}

async function openContext(javaScriptEnabled = true, locale = 'en-US'): Promise<void> {
  context = await browser.newContext({ javaScriptEnabled, locale });
  page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
}

const card = (sku: string) => page.locator(`.product[data-sku="${sku}"]`);
const basket = (currency: string) => page.locator(`[data-purse="${currency}"]`);
const pay = (currency: string) => page.locator(`[data-pay="${currency}"]`);

describe('in a browser', () => {
  beforeAll(async () => {
    const { app } = shopApp({ orders });
    app.get('/orders/:orderId', (req, res) => {
      questions += 1;
      const found = orders.find(({ id }) => id === req.params.orderId);
      if (found === undefined) res.status(404).json({});
      else res.json({ orderId: found.id, status: found.status });
    });
    // Some proxies hold events back until the stream ends; then the page must ask for itself.
    app.get('/orders/:orderId/events', (req, res) => {
      if (!areEventsHeard) {
        res.status(204).end();
        return;
      }
      res.type('text/event-stream');
      const tell = (): void => {
        const found = orders.find(({ id }) => id === req.params.orderId);
        res.write(`event: order\ndata: ${JSON.stringify({ status: found?.status })}\n\n`);
        told += 1;
      };
      tell();
      const timer = setInterval(tell, 200);
      req.once('close', () => {
        clearInterval(timer);
      });
    });
    app.post('/checkout', express.text({ type: '*/*' }), (req, res) => {
      sent.push(String(req.body));
      // Slow, as a payment service is, so that a second click finds the page still there.
      setTimeout(() => res.send('<link rel="icon" href="data:,">the payment page'), 300);
    });
    server = await listen(app, '127.0.0.1', 0);
    browser = await openBrowser();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser.close();
    await server.close(0);
  });
  afterEach(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });

  const readers: [locale: string, currency: string, sku: string, amount: bigint][] = [
    ['en-NG', 'NGN', 'jollof-kit', 840_100n],
    ['fr-SN', 'XOF', 'djembe', 130_000n],
    ['ar-KW', 'KWD', 'date-box', 6_250n],
    ['de-DE', 'NGN', 'jollof-kit', 840_100n],
  ];

  testOfBoth.each(someOf(readers, 2))(
    'for somebody who reads %s the %s basket adds up as the server displays it',
    async (locale, currency, sku, amount) => {
      await openContext(true, locale);
      await visit('/shop');
      await card(sku)
        .getByRole('button', { name: /to basket|au panier/ })
        .click();
      await card(sku).locator('.step').last().click();
      const total = await basket(currency).getByRole('status').textContent();
      const money = displayMoney({ amount, currency }, localeOf(locale));
      const isFrench = locale === 'fr-SN';
      expect(total).toBe(`${isFrench ? 'Articles' : 'Goods'} ${money}`);
      // The server prices the basket: it may add a tax, so the button promises no sum.
      const words = isFrench ? 'Payer en' : 'Pay in';
      expect(await pay(currency).textContent()).toBe(`${words} ${currency}`);
    },
    PATIENCE_MS,
  );

  test(
    'a basket outlives the page, is bought by keyboard alone, and sends the plain form',
    async () => {
      await openContext();
      await visit('/shop');
      await card('jollof-kit').getByRole('button', { name: 'Add to basket' }).press('Enter');
      // The button that was pressed is gone; "+" has the focus now.
      await page.keyboard.press('Enter');
      await page.reload();
      // Enter in the e-mail field pays what is chosen, and not what the first button of the form would pay.
      await card('jollof-kit').getByRole('button', { name: 'one The jollof-kit less' }).press('Enter');
      await page.keyboard.press('Enter');
      await card('djembe').getByRole('button', { name: 'Add to basket' }).press('Enter');
      await page.getByLabel('E-mail').focus();
      await page.keyboard.type('ada@example.com');
      await page.keyboard.press('Enter');
      await page.getByText('the payment page').waitFor();
      expect(sent.map(readCheckoutForm)).toEqual([
        { email: 'ada@example.com', currency: 'XOF', items: [{ sku: 'djembe', quantity: 1 }] },
      ]);
      expect(JSON.stringify(await context.storageState())).not.toContain('ada@');
    },
    PATIENCE_MS,
  );

  test(
    'an empty basket has nothing to send, and what is removed is gone',
    async () => {
      await openContext();
      await visit('/shop');
      await card('djembe').getByRole('button', { name: 'Add to basket' }).click();
      await basket('XOF').getByRole('button', { name: 'Remove The djembe' }).click();
      await page.getByText('Nothing in it yet.').waitFor();
      expect(await page.getByRole('button', { name: 'Pay' }).count()).toBe(0);
    },
    PATIENCE_MS,
  );

  test.each([
    ['and the server tells', true],
    ['and the page has to ask', false],
  ])(
    'an order that becomes paid is shown as paid, and its things leave the basket, %s',
    async (_how, heard) => {
      areEventsHeard = heard;
      orders.push(order('pending'));
      await openContext();
      await visit('/shop');
      await card('ankara-tote').getByRole('button', { name: 'Add to basket' }).click();
      await visit(`/shop/orders/${ORDER_ID}`);
      await visit('/shop');
      await page.getByText('The payment of your last order is not confirmed yet.').waitFor();
      await page.getByRole('link', { name: 'Look at that order' }).click();
      await page.getByText('This page checks by itself.').waitFor();
      // It asks as long as it has not heard anything, and a busy machine is slow to hear.
      told = 0;
      if (heard) await eventually(() => Promise.resolve(told > 5));
      await page.evaluate(() => null);
      questions = 0;
      orders.splice(0, 1, order('paid'));
      await page.getByText('Your order has changed.').waitFor();
      expect(questions > 0).toBe(!heard);
      await page.getByRole('heading', { name: 'Thank you, your order is paid' }).waitFor();
      await visit('/shop');
      await page.getByText('Nothing in it yet.').waitFor();
      expect(await page.getByText('is not confirmed yet').isVisible()).toBe(false);
    },
    PATIENCE_MS,
  );

  test(
    'what an order in review holds is not bought again, and what a failed one holds stays in the basket',
    async () => {
      orders.push(order('failed'));
      await openContext();
      await visit('/shop');
      await card('ankara-tote').getByRole('button', { name: 'Add to basket' }).click();
      await visit(`/shop/orders/${ORDER_ID}`);
      await visit('/shop');
      await page.getByRole('button', { name: 'Pay in NGN' }).waitFor();
      // At hand on a phone.
      await page.setViewportSize({ width: 390, height: 800 });
      await page.getByRole('link', { name: '1 in basket · NGN 8,500.00' }).click();
      orders.splice(0, 1, order('review'));
      await visit(`/shop/orders/${ORDER_ID}`);
      await page.getByText('This page checks by itself.').waitFor();
      await visit('/shop');
      await page.getByText('Nothing in it yet.').waitFor();
    },
    PATIENCE_MS,
  );

  test(
    'two clicks send one request, for a basket and for an order',
    async () => {
      orders.push(order('failed'));
      await openContext();
      await visit('/shop');
      await card('djembe').getByRole('button', { name: 'Add to basket' }).click();
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByRole('button', { name: 'Pay in XOF' }).dblclick();
      await page.getByText('the payment page').waitFor();
      await visit(`/shop/orders/${ORDER_ID}`);
      await page.getByRole('button', { name: 'Try again' }).dblclick();
      await page.getByText('the payment page').waitFor();
      expect(sent.map(readCheckoutForm)).toMatchObject([{ currency: 'XOF' }, { orderId: ORDER_ID }]);
    },
    PATIENCE_MS,
  );

  test(
    'without script, the plain form buys and a pending order loads itself again',
    async () => {
      orders.push(order('pending'));
      await openContext(false);
      await visit('/shop');
      await card('djembe').getByLabel('Quantity').fill('3');
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByRole('button', { name: 'Pay in XOF' }).click();
      expect(sent.map(readCheckoutForm)).toMatchObject([{ items: [{ sku: 'djembe', quantity: 3 }] }]);
      await visit(`/shop/orders/${ORDER_ID}`);
      orders.splice(0, 1, order('paid'));
      await page.getByRole('heading', { name: 'Thank you, your order is paid' }).waitFor();
    },
    PATIENCE_MS,
  );
});
