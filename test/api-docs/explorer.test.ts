import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { apiDocument } from '../../src/api-docs/document.ts';
import { SHOP_TOKEN } from '../money/support.ts';
import { openBrowser } from '../support/browser.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { openExplorer, operation } from './support.ts';

let shop: Shop;
let browser: Browser;
beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop({ env: { SHOP_API_TOKEN: SHOP_TOKEN } }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await shop.stop();
});

/** What a page requests from other origins, what its policy blocks, and its errors. */
function watch(page: Page): string[] {
  const found: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== shop.url) found.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(message.text());
  });
  page.on('pageerror', ({ message }) => found.push(message));
  return found;
}

type Shown = { key: string | undefined; status: number; body: Record<string, string> };

/** Presses "Execute". @returns the key that is sent, and the status and the body that are shown */
async function execute(part: Locator): Promise<Shown> {
  const answered = part.page().waitForEvent('requestfinished', (request) => request.method() === 'POST');
  await part.getByRole('button', { name: 'Execute' }).click();
  const key = (await answered).headers()['idempotency-key'];
  const shown = part.locator('.live-responses-table tbody');
  const status = Number(await shown.locator('.response-col_status').first().innerText());
  const body = await shown.locator('.highlight-code pre').first().innerText();
  return { key, status, body: JSON.parse(body) as Record<string, string> };
}

test('the explorer lists each call and message, and contacts only this server', async () => {
  const page = await browser.newPage();
  const found = watch(page);
  await openExplorer(page, shop.url);
  const { paths, webhooks } = apiDocument(shop.url);
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const messages = Object.keys(webhooks).map((type) => `POST ${type}`);
  const listed = await page.locator('.opblock-summary-control').all();
  const texts = await Promise.all(
    listed.map(async (one) => {
      const method = await one.locator('.opblock-summary-method').innerText();
      return `${method} ${(await one.locator('.opblock-summary-path').innerText()).replaceAll('\u200b', '')}`;
    }),
  );
  expect(texts.sort()).toEqual([...calls, ...messages].sort());
  expect(found).toEqual([]);
  await page.close();
});

test('each "Execute" of POST /checkout opens an order, and the token authorizes POST /orders', async () => {
  const page = await browser.newPage();
  const found = watch(page);
  await openExplorer(page, shop.url);
  const checkout = await operation(page, 'createCheckout');
  await checkout.getByRole('button', { name: 'Try it out' }).click();
  const [first, second] = [await execute(checkout), await execute(checkout)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.key).toMatch(/^\d+-\d+-\d+-\d+$/);
  expect(second.key).not.toBe(first.key);
  const stored = await shop.database.query<{ id: string }>('SELECT id FROM orders ORDER BY created_at');
  expect(stored.map(({ id }) => id)).toEqual([first.body.orderId, second.body.orderId]);
  const placing = await operation(page, 'createOrder');
  await placing.locator('.authorization__btn').click();
  await page.getByRole('textbox', { name: 'Value' }).fill(SHOP_TOKEN);
  await page.getByRole('button', { name: 'Authorize' }).last().click();
  await page.locator('.btn-done').click();
  await placing.getByRole('button', { name: 'Try it out' }).click();
  expect((await execute(placing)).status).toBe(201);
  expect(found).toEqual([]);
  await page.close();
});

test('the keyboard alone sends a request', async () => {
  const page = await browser.newPage();
  await openExplorer(page, shop.url);
  const pressAt = async (name: string) => {
    const isThere = `document.activeElement.textContent.includes(${JSON.stringify(name)})`;
    let hasFocus = false;
    for (let presses = 0; presses < 60 && !hasFocus; presses++) {
      await page.keyboard.press('Tab');
      hasFocus = await page.evaluate<boolean>(`${isThere} && document.activeElement.tagName === 'BUTTON'`);
    }
    expect([name, hasFocus]).toEqual([name, true]);
    await page.keyboard.press('Enter');
  };
  for (const name of ['/products', 'Try it out', 'Execute']) await pressAt(name);
  // The documentation shows an example of an answer, too.
  await page.locator('.live-responses-table').getByText('"ankara-tote"').waitFor();
  await page.close();
});

test('under another name of this machine, the explorer moves to the origin that accepts its requests', async () => {
  const page = await browser.newPage();
  await openExplorer(page, shop.url.replace('127.0.0.1', 'localhost'));
  expect(page.url()).toBe(`${shop.url}/docs/explorer`);
  await page.close();
});

test('scripts of the explorer reach the documented calls, and not the console', async () => {
  const page = await browser.newPage();
  await openExplorer(page, shop.url);
  const reach = (path: string) =>
    page.evaluate(async (to) => {
      const { status } = await fetch(to).catch(() => ({ status: 'blocked' }));
      return status;
    }, path);
  expect([await reach('/healthz'), await reach('/orders/nobody')]).toEqual([200, 404]);
  expect([await reach('/admin'), await reach('/admin/orders')]).toEqual(['blocked', 'blocked']);
  await page.close();
});

test('the policy allows neither eval nor inline code, and browsers may keep the named files', async () => {
  const { headers, body } = await shop.request<string>('GET', '/docs/explorer');
  expect(headers.get('content-security-policy')).not.toMatch(/unsafe/);
  const files = Array.from(
    body.matchAll(/(?:src|href)="(\/docs\/explorer\/[^"]+\?v=[\w-]{12})"/g),
    ([, at = '']) => at,
  );
  expect(files).toHaveLength(4);
  for (const file of files) {
    const answer = await shop.request<string>('GET', file);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  }
  expect((await shop.request('GET', '/docs/explorer/swagger-ui.js')).status).toBe(404);
});

test('without scripts, the plain page links to the explorer, which links back', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${shop.url}/docs`);
  await page.getByRole('link', { name: 'API explorer' }).click();
  expect(await page.innerText('body')).toContain('The explorer needs scripts');
  await page.getByRole('link', { name: 'Plain page' }).click();
  expect(await page.innerText('h1')).toBe('Payment integrator');
  await page.close();
});

test('in production, there is no explorer and no link to it', async () => {
  const env = {
    ...{ NODE_ENV: 'production', ALLOW_TEST_KEY_IN_PRODUCTION: 'on' },
    ...{ PUBLIC_URL: 'https://shop.example', ADMIN_TOKEN: SHOP_TOKEN },
  };
  const own = await startShop({ env });
  expect((await own.request('GET', '/docs/explorer')).status).toBe(404);
  expect((await own.request<string>('GET', '/docs')).body).not.toContain('API explorer');
  await own.stop();
});
