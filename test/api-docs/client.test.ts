import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { startShop, type Checkout, type Shop } from '../support/shop.ts';

/** The exports of the client, as a page sees them. */
type Client = {
  startCheckout(input: object): Promise<Checkout>;
  watchOrder(orderId: string, onChange: (order: { status: string }) => void): () => void;
};
type Told = { orderId?: string | undefined; type?: string | undefined };

const TOTE = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }] };
const TWO = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 2 }] };

let storefront: Server;
let browser: Browser;
let shop: Shop;
let context: BrowserContext;
let page: Page;
let home: string;

beforeAll(async () => {
  // The storefront is another site. It is an empty page.
  const empty = '<!doctype html><title>Shop</title>';
  storefront = createServer((_req, res) => res.setHeader('content-type', 'text/html').end(empty));
  await once(storefront.listen(await freePort(), '127.0.0.1'), 'listening');
  home = `http://127.0.0.1:${(storefront.address() as AddressInfo).port}`;
  [browser, shop] = await Promise.all([openBrowser(), startShop({ env: { STOREFRONT_ORIGINS: home } })]);
});
afterAll(async () => {
  await Promise.all([browser.close(), shop.stop()]);
  storefront.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  // A page without TLS has no crypto.randomUUID.
  await context.addInitScript('delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle');
  page = await context.newPage();
  await page.goto(home);
});
afterEach(() => context.close());

/** Clicks this many times at once. @returns the outcome of each click, or its error */
function click(input: object, times = 1, on = page): Promise<Told[]> {
  return on.evaluate(
    async ({ address, input: basket, times: clicks }) => {
      const { startCheckout } = (await import(address)) as Client;
      const told = Array.from({ length: clicks }, () =>
        startCheckout(basket).then(
          ({ orderId }): Told => ({ orderId }),
          (problem: unknown): Told => ({ type: (problem as Told).type, orderId: (problem as Told).orderId }),
        ),
      );
      return Promise.all(told);
    },
    { address: `${shop.url}/client.js`, input, times },
  );
}

const orders = async () => {
  const [row] = await shop.database.query<{ count: string }>('SELECT count(*) FROM orders');
  return Number(row?.count);
};
const pay = async (orderId = '') => {
  const sql = 'SELECT reference FROM payments WHERE order_id = $1';
  const [row] = await shop.database.query<{ reference: string }>(sql, [orderId]);
  await shop.sandboxPost(`/transactions/${row?.reference}/pay`);
  await eventually(async () => {
    const { body } = await shop.request<{ status: string }>('GET', `/orders/${orderId}`);
    return body.status === 'paid';
  });
};

test('a double click, a reload and another tab make one order, without crypto.randomUUID', async () => {
  const before = await orders();
  const told = await click(TOTE, 2);
  expect(await page.evaluate(() => typeof (crypto as { randomUUID?: unknown }).randomUUID)).toBe('undefined');
  await page.reload();
  told.push(...(await click(TOTE)));
  const tab = await context.newPage();
  await tab.goto(home);
  told.push(...(await click(TOTE, 1, tab)));
  expect(told[0]?.orderId).toMatch(/^\w{24}$/);
  expect(new Set(told.map(({ orderId }) => orderId)).size).toBe(1);
  expect(await orders()).toBe(before + 1);
});

test('a page that is reloaded during the checkout gets the same order', async () => {
  const before = await orders();
  await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'delay', delayMs: 1_500 });
  void click(TOTE).catch(() => undefined);
  await eventually(async () => (await orders()) === before + 1);
  await page.reload();
  expect((await click(TOTE))[0]?.orderId).toMatch(/^\w{24}$/);
  expect(await orders()).toBe(before + 1);
});

test('another basket makes another order, and so does another e-mail address', async () => {
  const before = await orders();
  for (const basket of [TOTE, TWO, { ...TWO, email: 'tunde@example.com' }, TWO]) await click(basket);
  expect(await orders()).toBe(before + 3);
});

test('after a payment that no page saw, one click reports it, and the next click buys again', async () => {
  const [first] = await click(TOTE);
  await pay(first?.orderId);
  await page.reload();
  expect(await click(TOTE)).toEqual([{ type: 'already-paid', orderId: first?.orderId }]);
  const [second] = await click(TOTE);
  expect(second?.orderId).toMatch(/^\w{24}$/);
  expect(second).not.toEqual(first);
});

const failing = { kind: 'status', status: 503 };
const badGateway = { status: 502, body: '<h1>Bad gateway</h1>', headers: { 'access-control-allow-origin': '*' } };
const meanwhile = (handle: (route: Route) => Promise<unknown>) => page.route('**/checkout', handle, { times: 1 });
test.each<[string, () => Promise<unknown>]>([
  [
    'the service cannot be reached',
    async () => {
      for (const endpoint of ['initialize', 'verify']) await shop.sandboxPost('/faults', { endpoint, ...failing });
    },
  ],
  ['the answer is lost on its way', () => meanwhile((route) => route.fetch().then(() => route.abort()))],
  ['a proxy answers in its place', () => meanwhile((route) => route.fulfill(badGateway))],
])('when %s, the checkout is sent again under the same key', async (_what, prepare) => {
  const before = await orders();
  await prepare();
  expect((await click(TOTE))[0]?.orderId).toMatch(/^\w{24}$/);
  expect(await orders()).toBe(before + 1);
});

test('a page keeps its order when the browser forbids storage', async () => {
  const before = await orders();
  await page.addInitScript(`Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden') } })`);
  await page.reload();
  const told = [...(await click(TOTE)), ...(await click(TOTE))];
  expect(told[0]).toEqual(told[1]);
  expect(await orders()).toBe(before + 1);
});

test('an order is watched until it is final, across a refused stream and a server restart', async () => {
  const [{ orderId = '' } = {}] = await click(TOTE);
  await page.route('**/events', (route) => route.fulfill({ status: 503 }), { times: 1 });
  const seen = page.evaluate(
    async ({ address, orderId: watched }) => {
      const { watchOrder } = (await import(address)) as Client;
      const statuses: string[] = [];
      Object.assign(window, { statuses });
      return new Promise<string[]>((resolve) => {
        watchOrder(watched, ({ status }) => {
          statuses.push(status);
          if (status === 'paid') resolve(statuses);
        });
      });
    },
    { address: `${shop.url}/client.js`, orderId },
  );
  await eventually(() => page.evaluate(() => (window as unknown as { statuses?: string[] }).statuses?.length === 1));
  await shop.restart();
  await pay(orderId);
  expect(await seen).toEqual(['pending', 'paid']);
  // The order is final, so the next purchase is a new order.
  expect((await click(TOTE))[0]?.orderId).not.toBe(orderId);
});

test('the API page opens without script, shows the problem that its URL names, and fits a phone', async () => {
  const plain = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  await plain.goto(`${shop.url}/problems/already-paid`);
  expect(plain.url()).toBe(`${shop.url}/docs#already-paid`);
  for (const summary of await plain.locator('summary').all()) await summary.click();
  expect(await plain.locator('#createCheckout pre').innerText()).toContain('email: string // The payer');
  for (const part of await plain.locator('html, pre').all())
    expect(await part.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
  await plain.close();
});
