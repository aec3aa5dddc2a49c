import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newId } from '../../src/platform/ids.ts';
import { openBrowser } from '../support/browser.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

// The browser's side of one intent to buy, in a real browser: one key, however often it is clicked, over reloads and tabs.

let shop: TestProgram;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let email = '';

beforeAll(async () => {
  // Long enough that a second click comes while the first is under way.
  shop = await startProgram({ latencyMs: 200 });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await shop.close();
});
beforeEach(async () => {
  email = `${newId().toLowerCase()}@example.com`;
  context = await browser.newContext();
  page = await open();
});
afterEach(() => context.close());

type Said = { checkoutUrl: string; orderId: string } | { type: string };

type Client = { startCheckout(input: object): Promise<Said> };

/** Two clients, made when the page is loaded, as a storefront makes its own. */
async function open(): Promise<Page> {
  const opened = await context.newPage();
  await opened.goto(`${shop.origin}/docs/example`);
  await makeClients(opened);
  return opened;
}

async function reload(): Promise<void> {
  await page.reload();
  await makeClients(page);
}

function makeClients(on: Page): Promise<void> {
  return on.evaluate(async () => {
    const address = '/storefront/checkout-client.js';
    const { createCheckoutClient } = (await import(address)) as { createCheckoutClient: () => Client };
    Object.assign(globalThis, { clients: [createCheckoutClient(), createCheckoutClient()] });
  });
}

/** Calls the clients of a page in turn, `times` calls at once. */
function start(on: Page, items = [{ sku: 'ankara-tote', quantity: 1 }], times = 1): Promise<Said[]> {
  return on.evaluate(
    ([who, what, count]) => {
      const { clients } = globalThis as unknown as { clients: [Client, Client] };
      const call = async (client: Client): Promise<Said> => {
        try {
          return await client.startCheckout({ email: who, items: what });
        } catch (problem) {
          return { type: (problem as { type: string }).type };
        }
      };
      return Promise.all(
        Array.from({ length: count }, (_, at) => call(at % 2 === 0 ? clients[0] : clients[1])),
      );
    },
    [email, items, times] as const,
  );
}

const pageOf = (said: Said | undefined): string | null =>
  said && 'checkoutUrl' in said ? said.checkoutUrl : null;
const orders = (): Promise<{ id: string; status: string }[]> =>
  shop.program.database.query('SELECT id, status FROM orders WHERE email = $1 ORDER BY created_at', [email]);

async function pay(): Promise<void> {
  const [payment] = await shop.program.database.query<{ reference: string }>(
    `SELECT p.reference FROM payments p JOIN orders o ON o.id = p.order_id WHERE o.email = $1 AND p.status = 'open'`,
    [email],
  );
  const reference = payment?.reference ?? '';
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
  expect((await orders()).map(({ status }) => status)).toContain('paid');
}

describe('F1: one intent has one key', () => {
  test('two calls at once, of two clients: one order, one page', async () => {
    const [one, two] = await start(page, undefined, 2);
    expect(pageOf(one)).not.toBeNull();
    expect(two).toEqual(one);
    expect(await orders()).toHaveLength(1);
  });

  test('a second call, a reload, a second tab, a browser that comes back: the same page', async () => {
    const [first] = await start(page);
    const seen = [await start(page)];
    await reload();
    seen.push(await start(page));
    seen.push(await start(await open()));
    await page.close();
    seen.push(await start(await open()));
    for (const [again] of seen) expect(again).toEqual(first);
    expect(await orders()).toHaveLength(1);
  });

  test('a reload while the first call is under way: the same order', async () => {
    const lost = start(page).catch(() => null);
    await eventually(async () => (await orders()).length === 1);
    await reload();
    await lost;
    const [again] = await start(page);
    expect(pageOf(again)).not.toBeNull();
    expect(await orders()).toHaveLength(1);
  }, 60_000);

  test('another basket is another intent, and the first one stays', async () => {
    const [first] = await start(page);
    const [other] = await start(page, [{ sku: 'ankara-tote', quantity: 2 }]);
    expect(pageOf(other)).not.toBe(pageOf(first));
    const [again] = await start(page);
    expect(again).toEqual(first);
    expect(await orders()).toHaveLength(2);
  });

  test('after a declined card: the next payment of the same order', async () => {
    const [first] = await start(page);
    await shop.program.database.query(
      `UPDATE payments SET status = 'failed' WHERE order_id = (SELECT id FROM orders WHERE email = $1)`,
      [email],
    );
    const [second] = await start(page);
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(await orders()).toHaveLength(1);
  });

  test('once the order is paid, a page that is loaded afterwards begins a new one', async () => {
    const [first] = await start(page);
    await pay();
    await reload();
    const [second] = await start(page);
    expect(pageOf(second)).not.toBeNull();
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(await orders()).toHaveLength(2);
  });

  test('a page that was loaded before is told so once, and opens no page to pay at', async () => {
    const stale = await open();
    await start(page);
    await pay();
    expect(await start(stale)).toEqual([{ type: 'already-paid' }]);
    expect(await orders()).toHaveLength(1);
    expect(pageOf((await start(stale))[0])).not.toBeNull();
    expect(await orders()).toHaveLength(2);
  });

  test('keeps no e-mail address in the browser', async () => {
    await start(page);
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
    );
    expect(kept).toContain('checkout.intents');
    expect(kept).not.toContain(email);
    expect(kept).not.toContain('example.com');
  });

  test('where storage is forbidden or holds nonsense, the page itself remembers', async () => {
    await page.evaluate(() => {
      localStorage.setItem('checkout.intents', '{"x": null');
    });
    const [first] = await start(page);
    expect(await start(page)).toEqual([first]);
    await page.evaluate(() => {
      const refuse = (): never => {
        throw new Error('forbidden');
      };
      Storage.prototype.getItem = refuse;
      Storage.prototype.setItem = refuse;
    });
    const [second] = await start(page, [{ sku: 'ankara-tote', quantity: 3 }]);
    expect(await start(page, [{ sku: 'ankara-tote', quantity: 3 }])).toEqual([second]);
  });
});

test('F1: the example disables its button while it runs, a double click makes one order, and the button comes back', async () => {
  await page.getByLabel('E-mail').fill(email);
  const button = page.getByRole('button', { name: 'Pay' });
  await shop.hand('outage', { status: 422 });
  await button.click();
  await page
    .getByText('Opening')
    .waitFor({ state: 'detached' })
    .catch(() => undefined);
  await eventually(() => button.isEnabled());
  await shop.hand('outage', { status: null });
  await button.dblclick();
  expect(await button.isDisabled()).toBe(true);
  await page.waitForURL((url) => url.origin === new URL(shop.sandbox.url).origin);
  expect(await orders()).toHaveLength(1);
  await page.goBack();
  await eventually(() => page.getByRole('button', { name: 'Pay' }).isEnabled());
});
