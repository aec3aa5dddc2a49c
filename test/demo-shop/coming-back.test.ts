import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openSuspense, resolveSuspense } from '../../src/cases/suspense.sql.ts';
import { assignItem, SUSPENSE } from '../../src/cases/work-lists.sql.ts';
import { openBrowser } from '../support/browser.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { startProgram, type TestProgram } from '../support/program.ts';
import { testOfAll } from '../support/test-of-all.ts';

// Shoppers who come back: to the shop before they have paid, to an order page while nobody knows, and to one whose money
// a person has decided about. The whole program, the worker running, and a real browser.

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
beforeEach(() => {
  complaints = [];
});
afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

async function open(javaScriptEnabled = true): Promise<void> {
  context = await browser.newContext({ javaScriptEnabled });
  page = await openTab();
}

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  tab.on('pageerror', (error) => complaints.push(error.message));
  tab.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return tab;
}

/** Chooses so many scarves and buys them; ends on the hosted page. */
async function buyScarves(count: number, email: string): Promise<string> {
  await page.goto(`${shop.origin}/shop`);
  const card = page.locator('.product[data-sku="adire-scarf"]');
  const add = card.getByRole('button', { name: /add/i });
  if (await add.isVisible()) await add.click();
  await card.locator('input[type="number"]').fill(String(count));
  await page.getByLabel(/e-?mail/i).fill(email);
  await page.getByRole('button', { name: /^pay /i }).first().click();
  await page.waitForURL(`${shop.sandbox.url}/checkout/**`);
  return page.url();
}

const ordersOf = (email: string) =>
  shop.program.database.query<{ id: string; reference: string; status: string }>(
    `SELECT o.id, p.reference, o.status FROM orders o JOIN payments p ON p.order_id = o.id WHERE email = $1`,
    [email],
  );

/** Without script in `npm run test:all` alone. */
const FORMS: [name: string, hasScript: boolean][] = [
  ['with script', true],
  ...(IS_WHOLE ? [['without script', false] as [string, boolean]] : []),
];

describe.each(FORMS)('a shopper who comes back to the shop before paying, %s', (_name, hasScript) => {
  const email = `${hasScript ? 'ada' : 'bola'}@example.com`;
  beforeEach(() => open(hasScript));

  test('is offered the open checkout, and the same basket leads to it again', async () => {
    const checkout = await buyScarves(1, email);
    await page.goto(`${shop.origin}/shop`);
    await page.getByRole('heading', { name: 'You have an open order' }).waitFor();
    expect(await page.locator('.notice').count()).toBe(1);
    await page.getByRole('button', { name: 'continue to payment' }).click();
    await page.waitForURL(checkout);
    expect(await buyScarves(1, email)).toBe(checkout);
    expect(await ordersOf(email)).toHaveLength(1);
  });

  test('gets an order of its own for another basket, another person, and after paying', async () => {
    const checkouts = [
      await buyScarves(2, `2.${email}`),
      await buyScarves(3, `2.${email}`),
      await buyScarves(3, `3.${email}`),
    ];
    expect(new Set(checkouts).size).toBe(3);
    await page.getByRole('button', { name: /^pay /i }).click();
    await page
      .getByText(/thank you/i)
      .first()
      .waitFor();
    await page.goto(`${shop.origin}/shop`);
    expect(await page.getByText('You have an open order').isVisible()).toBe(false);
    expect(await buyScarves(3, `3.${email}`)).not.toBe(checkouts[2]);
  });
});

test('another browser learns nothing of an open order, whatever it buys', async () => {
  await open();
  const checkout = await buyScarves(1, 'chidi@example.com');
  await context.close();
  await open();
  expect(await buyScarves(1, 'chidi@example.com')).not.toBe(checkout);
  await page.goto(`${shop.origin}/shop`);
  expect(await page.getByText('You have an open order').count()).toBe(1);
  for (const cookie of ['not%ZZ an id', "x'; DROP TABLE orders", 'Zz9yXx8wVv7uTt6sRr5qPp4o', '%00']) {
    const answer = await fetch(`${shop.origin}/shop`, {
      headers: { cookie: `__Host-open-order=${cookie}` },
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain('You have an open order');
  }
});

testOfAll(
  'while verify answers a minute late, nothing is called an error and nobody pays twice',
  async () => {
    await open();
    const checkout = await buyScarves(1, 'dayo@example.com');
    const [{ id, reference } = { id: '', reference: '' }] = await ordersOf('dayo@example.com');
    await shop.hand('faults', { fault: 'answer-slow', endpoint: 'verify', reference });
    await page.getByRole('button', { name: /^pay /i }).click();
    await page.waitForURL(`${shop.origin}/shop/orders/${id}`);
    // Each question is given up long before its answer: what the page says now it says for the whole minute.
    const other = await context.newPage();
    await other.goto(`${shop.origin}/shop/orders/${id}`);
    await page.reload();
    for (const tab of [page, other]) {
      const words = await tab.locator('main').innerText();
      expect(words).toContain('Your payment is not confirmed yet');
      expect(words).toContain('do not pay again');
      expect(words).not.toMatch(/error|failed|went wrong|did not go through/i);
    }
    // Somebody who tries nevertheless comes to the checkout that is paid, and it takes no more money.
    expect(await buyScarves(1, 'dayo@example.com')).toBe(checkout);
    expect(await page.getByRole('button', { name: /^pay /i }).count()).toBe(0);
    await shop.hand('faults/clear');
    await other.getByRole('heading', { name: 'Thank you, your order is paid' }).waitFor();
    expect(await ordersOf('dayo@example.com')).toEqual([{ id, reference, status: 'paid' }]);
    const records = await shop.program.database.query(
      `SELECT outcome FROM verifications WHERE order_id = $1 AND outcome = 'paid'`,
      [id],
    );
    expect(records).toHaveLength(1);
  },
);

type ReviewEnd = [decision: 'refund' | 'write_off' | 'keep', refundNote: string | null, words: string[]];

const REVIEW_ENDS: ReviewEnd[] = [
  ['refund', 'RF-2209', ['Your payment was refunded', 'We refunded NGN 3.00, number RF-2209.']],
  ['keep', null, ['This order is closed', 'As agreed with you, we kept NGN 3.00.']],
  ['write_off', null, ['This order is closed', 'We did not return NGN 3.00']],
];

/** Brings an order under review onto a tab, and ends the review. */
async function endsBy(tab: Page, [decision, refundNote, words]: ReviewEnd): Promise<void> {
  const { database } = shop.program;
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
  await tab.goto(`${shop.origin}/checkout/return/${reference}`);
  await tab.getByRole('heading', { name: 'We are looking at your payment' }).waitFor();
  const item = (await openSuspense(database, 'test')).find((one) => one.orderId === orderId);
  // That somebody works on it is not for the shopper to see.
  await assignItem(database, SUSPENSE, 'test', item?.id ?? 0n, 'Tunde', 'Ngozi');
  await tab.reload();
  expect(await tab.locator('main').innerText()).not.toMatch(/Tunde|Ngozi/);
  const how = { by: 'Ngozi', note: 'spoke to her', decision, refundNote };
  await resolveSuspense(database, 'test', item?.id ?? 0n, how);
  for (const text of words) await tab.getByText(text).first().waitFor();
  const shown = await tab.locator('main').innerText();
  expect(shown).toContain('Need help?');
  expect(shown).not.toMatch(/Ngozi|spoke to her|checks (by itself|every)/);
  expect(await tab.locator('form.pay').count()).toBe(0);
}

describe.each(FORMS)('an order under review, %s', (_name, hasScript) => {
  test('tells the shopper by itself when it has ended, by whichever decision', async () => {
    await open(hasScript);
    // Each waits for its page to ask again.
    const ends = hasScript ? someOf(REVIEW_ENDS, 1) : REVIEW_ENDS;
    await Promise.all(ends.map(async (end) => endsBy(await openTab(), end)));
  });

  test('is not over while some of its money is undecided', async () => {
    await open(hasScript);
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
    await page.goto(`${shop.origin}/checkout/return/${reference}`);
    await shop.program.database.query(
      `INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency, closed_at, closed_by, decision)
       VALUES ('test', 'late', $1, $2, 1, 'NGN', now(), 'Ngozi', 'other')`,
      [reference, orderId],
    );
    await page.reload();
    await page.getByRole('heading', { name: 'We are looking at your payment' }).waitFor();
  });
});
