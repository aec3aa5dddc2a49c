import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import type { Browser } from 'playwright-core';
import { PROBLEMS, Problem, type ProblemType } from '../../src/platform/problem.ts';
import { DemoShop } from '../../src/shop-pages/demo-shop.tsx';
import { ProblemPage } from '../../src/shop-pages/pages.tsx';
import { asShop, SHOP_TOKEN } from '../money/support.ts';
import { openBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startShop, type Shop } from '../support/shop.ts';
import { expectGoodLooks, FOREIGN, textOf, unsaid } from './support.ts';

let shop: Shop;
let browser: Browser;
beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop({ env: { SHOP_API_TOKEN: SHOP_TOKEN } }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await shop.stop();
});

test('without scripts, / leads to the shop, and a shopper who buys two djembes reads "Thank you"', async () => {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(shop.url);
  expect(page.url()).toBe(`${shop.url}/shop`);
  expect(await page.innerText('main')).toMatch(/Demo, no real money.*We price it → You pay elsewhere → We check/s);
  const goods = page.locator('section', { hasText: 'Djembe' });
  expect(await goods.getByRole('button').innerText()).toBe('Pay XOF 65,000');
  await goods.getByLabel('Quantity').selectOption('2');
  await goods.getByLabel('E-mail').fill('ada@example.com');
  await goods.getByRole('button', { name: 'Pay XOF 130,000', exact: true }).click();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.getByRole('heading', { name: 'Thank you, your order is paid' }).waitFor();
  expect(await page.innerText('main')).toMatch(/2 × Djembe, 30 cm\s+XOF 130,000\s+Total\s+XOF 130,000/s);
});

test('a form that is sent twice places one order, and leads to its page once it is paid', async () => {
  const [, intent = ''] = /name="intent" value="(.+?)"/.exec((await shop.request<string>('GET', '/shop')).body) ?? [];
  const form = { sku: 'ankara-tote', email: 'ada@example.com', intent };
  const send = () => shop.request('POST', '/checkout', { form, headers: { accept: 'text/html' } });
  const [first, second] = [await send(), await send()].map(({ headers }) => headers.get('location') ?? '');
  expect(second).toBe(first);
  await shop.sandboxPost(`/transactions/${String(first?.split('/').pop())}/pay`);
  await eventually(async () => (await send()).headers.get('location')?.endsWith('/page') === true);
});

test('a stopped currency has a notice and no button, and the other currencies stay on sale', async () => {
  await asShop(shop, '/checkouts/stop', { currency: 'XOF', reason: 'a secret reason' });
  const page = await browser.newPage();
  await page.goto(`${shop.url}/shop`);
  expect(await page.locator('section', { hasText: 'Djembe' }).innerText()).toMatch(/Nobody can pay in XOF right now/);
  expect(await page.getByRole('button').allInnerTexts()).toEqual(['Pay NGN 8,500.00', 'Pay KWD 18.500']);
  await asShop(shop, '/checkouts/stop', { reason: 'a secret reason' });
  await page.reload();
  expect(await page.innerText('main')).toMatch(/Nobody can pay right now/);
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await page.content()).not.toMatch(/secret/);
  await asShop(shop, '/checkouts/resume', {});
  await expectGoodLooks(browser, `${shop.url}/shop`, `${shop.url}/orders/nobody/page`);
});

const buyer = { sku: 'djembe', email: 'ada@example.com' };
test.each<[string, object | null, string, number, string]>([
  ['/checkout', { ...buyer, email: 'ada' }, 'invalid-input', 422, 'Please enter your whole e-mail address.'],
  ['/checkout', { ...buyer, sku: 'no-such' }, 'invalid-input', 422, 'Please choose something that is on sale'],
  [`/checkout/return/${'x'.repeat(26)}`, null, 'not-found', 404, 'There is nothing here'],
  [`/orders/${'x'.repeat(24)}/page`, null, 'not-found', 404, 'There is nothing here'],
  ['/orders/%00/page', null, 'not-found', 404, 'There is nothing here'],
])('%s with %j: a program gets the problem %s, and a browser gets a page', async (path, given, type, status, said) => {
  const form = given === null ? {} : { form: given as Record<string, string> };
  const ask = (accept: string) => shop.request(given ? 'POST' : 'GET', path, { ...form, headers: { accept } });
  expect(await ask('*/*')).toMatchObject({ status, body: { type: `/problems/${type}` } });
  const page = await ask('text/html,application/xhtml+xml,*/*;q=0.8');
  expect([page.status, textOf(String(page.body))]).toEqual([status, expect.stringContaining(said)]);
});

test('if the payment page cannot be opened, the order is kept, and can be paid with the keyboard alone', async () => {
  await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'status', body: {}, status: 503 });
  const page = await browser.newPage();
  await page.goto(`${shop.url}/shop`);
  const goods = page.locator('section', { hasText: 'dallah' });
  await goods.getByLabel('E-mail').fill('ada@example.com');
  await goods.getByRole('button').click();
  await page.getByRole('heading', { name: 'The payment page cannot be opened right now' }).waitFor();
  await page.getByRole('link', { name: 'Look at your order' }).click();
  await page.getByRole('heading', { name: 'This order waits for your payment' }).waitFor();
  for (const button of ['Pay KWD 18.500', 'Decline', 'Try again', 'Pay'])
    await page.getByRole('button', { name: button, exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'Thank you, your order is paid' }).waitFor();
});

test('every text of the demo shop and of the problem pages comes from words.json', () => {
  const site = { words: FOREIGN, home: '/', isTest: true };
  const products = [{ sku: 'x', name: '', description: '', image: '', unitAmount: 5n, currency: 'XOF' }];
  for (const stopped of [[], ['XOF'], ['*']]) {
    const left = unsaid(textOf(renderToString(DemoShop({ ...site, products, stopped }))));
    expect(left.replace(/[A-Z]{3} [\d,.]+|[123→]/g, '').trim()).toBe('');
  }
  for (const type of Object.keys(PROBLEMS) as ProblemType[]) {
    const problem = new Problem(type, { extra: { orderId: 'x' }, errors: [{ path: 'email', message: 'x' }] });
    expect(unsaid(textOf(renderToString(ProblemPage({ ...site, problem })))).trim()).toBe('');
  }
});

const production = {
  ...{ NODE_ENV: 'production', ALLOW_TEST_KEY_IN_PRODUCTION: 'on' },
  ...{ PUBLIC_URL: 'https://shop.example', ADMIN_TOKEN: SHOP_TOKEN },
};
test.each([
  [production, 404],
  [{ ...production, DEMO_SHOP: 'on' }, 200],
  [{ DEMO_SHOP: 'off' }, 404],
])('with %j, the demo shop answers %i, and the pages of orders exist', async (env, status) => {
  const own = await startShop({ env });
  const look = async (path: string) => own.request<string>('GET', path, { headers: { accept: 'text/html' } });
  expect([(await look('/shop')).status, (await look('/')).status]).toEqual([status, status === 200 ? 302 : 404]);
  expect((await look('/orders/nobody/page')).body).toContain('There is nothing here');
  await own.stop();
});
