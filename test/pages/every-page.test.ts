import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { openBrowser } from '../support/browser.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { eventually, post, startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// Every page that a person may see, in phone and desktop width, light and dark: no accessibility rule is broken, nothing
// sticks out sideways, nothing is loaded from elsewhere, and the browser complains about nothing.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TOKEN = 'a-long-admin-token';
let shop: TestProgram;
let browser: Browser;
const orders: Record<string, CheckoutAnswer> = {};
let webhook = '';
let run = '';
let runBefore = '';
/** One for each look. */
const tabs: Record<string, Page> = {};
/** Of the page that is looked at. */
const faults: string[] = [];

beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  browser = await openBrowser();
  for (const name of ['pending', 'paid', 'failed', 'review', 'decided']) orders[name] = await shop.checkout();
  runBefore = (await shop.program.reconcile({ dryRun: false })).runId;
  await play('paid', 'pay');
  await play('failed', 'fail');
  await play('review', 'pay', { amount: '3' });
  await play('decided', 'pay', { amount: '3' });
  const { database } = shop.program;
  const held = (await openSuspense(database, 'test')).find((item) => item.orderId === order('decided'));
  const how = { by: 'Ngozi', note: 'sent back', decision: 'refund', refundNote: 'RF-2209' } as const;
  await resolveSuspense(database, 'test', held?.id ?? 0n, how);
  run = (await shop.program.reconcile({ dryRun: false })).runId;
  webhook = await receiveWebhook(orders.paid?.reference ?? '');
  // Nobody signed it.
  await post(`${shop.origin}/webhooks/payments`, { data: { reference: orders.paid?.reference } });
  await eventually(async () => (await database.query('SELECT FROM refused_webhooks')).length === 1);
});
afterAll(async () => {
  await browser.close();
  await shop.close();
});

async function receiveWebhook(reference: string): Promise<string> {
  const [row] = await shop.program.database.query<{ id: bigint }>(
    `INSERT INTO webhooks (mode, body, body_sha256, content_type, authenticity, reference, outcome)
     VALUES ('test', convert_to($2, 'UTF8'), sha256(convert_to($2, 'UTF8')), 'application/json', 'signed', $1, 'hinted') RETURNING id`,
    [reference, `{"data": {"reference": "${reference}", "note": "<script>alert(1)</script>"}}`],
  );
  return String(row?.id);
}

async function play(name: string, deed: string, body: object = {}): Promise<void> {
  const reference = orders[name]?.reference ?? '';
  await shop.hand(`transactions/${reference}/${deed}`, { notify: false, ...body });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
}

const order = (name: string): string => orders[name]?.orderId ?? '';

/** Every page by name: its address, and whether an operator must be logged in. */
const PAGES: Record<string, () => string> = {
  'the shop': () => '/shop',
  'a pending order': () => `/shop/orders/${order('pending')}`,
  'a paid order': () => `/shop/orders/${order('paid')}`,
  'a failed order': () => `/shop/orders/${order('failed')}`,
  'an order whose review has ended': () => `/shop/orders/${order('decided')}`,
  'the shop, with an open order': () => '/shop',
  'an order under review': () => `/shop/orders/${order('review')}`,
  'nothing here': () => '/nothing/here',
  'the hosted checkout': () => orders.pending?.checkoutUrl ?? '',
  "the sandbox's ledger": () => shop.sandbox.url,
  'operations, log in': () => '/admin/login',
  operations: () => '/admin',
  'operations, with a stop': () => '/admin',
  'operations, nothing here': () => '/admin/nothing',
  orders: () => '/admin/orders',
  'orders, none found': () =>
    '/admin/orders?q=nobody%40example.com&status=review&currency=NGN&from=2026-01-01',
  "an order's page": () => `/admin/orders/${order('review')}`,
  "a paid order's page": () => `/admin/orders/${order('paid')}`,
  'to do': () => '/admin/cases',
  'several cases, about to be closed': () => '/admin/cases',
  'to do, and what was done': () => '/admin/cases?class=underpaid&told=resolved:2,gone:1',
  'one case': () => `/admin/cases?q=${order('review')}`,
  'one case, decided, and back': () => `/admin/cases?q=${order('review')}`,
  'a closed case': () => `/admin/cases?q=${order('decided')}`,
  releases: () => '/admin/releases',
  'webhooks received': () => '/admin/webhooks',
  'webhooks refused': () => '/admin/webhooks?result=refused',
  'one webhook': () => `/admin/webhooks/${webhook}`,
  'reconciliation runs': () => '/admin/runs',
  'one run': () => `/admin/runs/${run}`,
  'one run and an earlier one': () => `/admin/runs/${run}?against=${runBefore}`,
  charts: () => '/admin/charts',
  books: () => '/admin/books',
  'the interface': () => '/docs',
  refusals: () => '/problems',
  'one refusal': () => '/problems/already-paid',
  'the example storefront': () => '/docs/example',
};

/** What a person does on a page before it is looked at. */
const DEEDS: Record<string, (page: Page) => Promise<void>> = {
  'the shop, with an open order': async (page) => {
    await page.locator('#NGN').getByRole('button', { name: /add/i }).first().click();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('button', { name: 'Pay in NGN' }).click();
    await page.waitForURL((url) => url.origin === new URL(shop.sandbox.url).origin);
    await page.goto(`${shop.origin}/shop`);
    await page.getByRole('heading', { name: 'You have an open order' }).waitFor();
  },
  'operations, with a stop': async (page) => {
    await page.getByText('Stop new checkouts…').click();
    for (const [field, text] of Object.entries({ id: 'KWD', by: 'Ngozi', note: 'the price list is wrong' }))
      await page.locator(`#stop-${field}`).fill(text);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('No new checkout begins in KWD').waitFor();
    await page.getByText('Allow KWD again…').click();
  },
  // With all that is folded on it.
  "an order's page": (page) =>
    page.evaluate(() => {
      document.querySelectorAll('details').forEach((details) => {
        details.open = true;
      });
    }),
  'several cases, about to be closed': async (page) => {
    await page.getByRole('checkbox').first().check();
    await page.getByText('Several at once').click();
    await page.getByLabel('Your name').fill('Ngozi');
    await page.getByLabel('Why, in a sentence').fill('his bank sent it back');
    await page.getByLabel('What happens to the money?').selectOption('refund');
    await page.getByLabel('Refund number').fill('RF-1');
    await page.getByRole('button', { name: 'Decide about selected…' }).click();
    await page.getByText('One shopper will read').or(page.getByText('The shopper will read')).waitFor();
  },
  'one case, decided, and back': async (page) => {
    const decide = page.getByRole('region', { name: 'What did you do with the money?' });
    await decide.getByRole('radio', { name: 'Keep' }).check();
    await decide.getByLabel('Your name').fill('Ngozi');
    await decide.getByLabel('Why, in a sentence').fill('she agreed');
    await decide.getByRole('button', { name: 'Continue…' }).click();
    await page.getByText('As agreed with you, we kept').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await decide.getByRole('radio', { name: 'Keep', checked: true }).waitFor();
    expect(await decide.getByLabel('Why, in a sentence').inputValue()).toBe('she agreed');
  },
};

/** Like another page: in `npm run test:all` alone. */
const LIKE_ANOTHER: readonly string[] = [
  'the shop',
  'a failed order',
  'an order whose review has ended',
  'operations',
  'operations, nothing here',
  'orders, none found',
  "a paid order's page",
  'to do',
  'one case',
  'a closed case',
  'webhooks refused',
  'one run',
  'one refusal',
];

const WIDTHS = { phone: 320, desktop: 1280 };
const SCHEMES = ['light', 'dark'] as const;

type Violation = { id: string; help: string; nodes: { html: string }[] };

async function violations(page: Page): Promise<string[]> {
  // Not as a script of the page, which the content policy would refuse.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    // Of all else it finds one of each kind, which takes it half the time.
    return (await axe.run({ resultTypes: ['violations'] })).violations;
  });
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

const LOOKS = SCHEMES.flatMap((scheme) => Object.keys(WIDTHS).map((width) => [scheme, width] as const));

const FEW = Object.keys(PAGES).filter((name) => !LIKE_ANOTHER.includes(name));

describe.each(IS_WHOLE ? Object.keys(PAGES) : FEW)('%s', (name) => {
  // `npm test` shows each page once, in turn in each of the looks, and `npm run test:all` in the others.
  const at = FEW.indexOf(name) % LOOKS.length;
  test.each(LOOKS.filter((_look, nth) => (nth === at) !== IS_WHOLE))('%s, %s', async (colorScheme, width) => {
    const page = (tabs[`${colorScheme}, ${width}`] ??= await openTab(colorScheme, width));
    faults.splice(0);
    await page.goto(new URL(PAGES[name]?.() ?? '', shop.origin).href, { waitUntil: 'load' });
    await DEEDS[name]?.(page);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect({ overflow, violations: await violations(page), faults }).toEqual({
      overflow: 0,
      violations: [],
      faults: [],
    });
  });
});

/** Somebody's browser in one look, an operator's too; what it complains about are faults. */
async function openTab(colorScheme: 'light' | 'dark', width: string): Promise<Page> {
  const viewport = { width: WIDTHS[width as keyof typeof WIDTHS], height: 800 };
  const extraHTTPHeaders = { authorization: `Bearer ${TOKEN}` };
  const context = await browser.newContext({ colorScheme, viewport, extraHTTPHeaders });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  // The content policy is in force: a style, a script or a picture that it refuses is an error here.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== '127.0.0.1') faults.push(`asked for ${request.url()}`);
  });
  return page;
}

test('the example storefront buys with nothing but the client, and says when the order is paid', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${shop.origin}/docs/example`);
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.waitForURL((url) => url.origin === new URL(shop.sandbox.url).origin);
  const [latest] = await shop.program.database.query<{ id: string; reference: string }>(
    `SELECT o.id, p.reference FROM orders o JOIN payments p ON p.order_id = o.id ORDER BY o.created_at DESC LIMIT 1`,
  );
  await page.goto(`${shop.origin}/docs/example?order=${latest?.id ?? ''}`);
  await page.getByText('Your order is being confirmed. Do not pay again.').waitFor();
  await shop.hand(`transactions/${latest?.reference ?? ''}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${latest?.reference ?? ''}`, { redirect: 'manual' });
  await page.getByText('Your order is paid. Thank you.').waitFor();
  await context.close();
});

describe('a phone', () => {
  let page: Page;
  beforeAll(async () => {
    const viewport = { width: 390, height: 800 };
    const extraHTTPHeaders = { authorization: `Bearer ${TOKEN}` };
    page = await (
      await browser.newContext({ viewport, extraHTTPHeaders, javaScriptEnabled: false })
    ).newPage();
  });
  afterAll(() => page.context().close());

  const isOnScreen = async (locator: Locator): Promise<boolean> => {
    const box = await locator.boundingBox();
    return box !== null && box.x >= 0 && box.x + box.width <= 390;
  };

  test('has a menu that opens by keyboard and without script, with entries for a finger', async () => {
    await page.goto(`${shop.origin}/admin`);
    const entry = page.getByRole('link', { name: 'Reconciliations', exact: true });
    expect(await entry.isVisible()).toBe(false);
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    await entry.waitFor();
    expect((await entry.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await entry.click();
    await page.getByRole('heading', { name: 'Reconciliations', exact: true }).waitFor();
  });

  // An order's state and amount speak for themselves.
  test.each([
    ['/admin/orders', /^none/],
    ['/admin/runs', /Started/],
  ])('shows each row of %s as a card, its link on the screen', async (path, label) => {
    await page.goto(shop.origin + path);
    const links = await page.locator('tbody tr a').all();
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(await isOnScreen(link)).toBe(true);
    const labels = await page
      .locator('tbody tr:first-child td')
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
    expect(labels.join()).toMatch(label);
  });

  test('shows today in the charts, drawn to its width', async () => {
    await page.goto(`${shop.origin}/admin/charts`);
    const chart = page.getByRole('img', { name: /^Money received per day, NGN/ });
    expect(await isOnScreen(chart)).toBe(true);
    const bars = await chart.locator('rect').all();
    const heights = await Promise.all(bars.map(async (bar) => (await bar.boundingBox())?.height ?? 0));
    expect(heights.filter((height) => height > 0).length).toBeGreaterThan(0);
  });
});
