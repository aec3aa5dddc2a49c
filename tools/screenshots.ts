import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMain } from '../src/process.ts';
import { openBrowser } from '../test/support/browser.ts';
import { command, openShop, post, until, type Shop } from './demo/shop.ts';

/*
 * node --import tsx tools/screenshots.ts: takes the screenshots of the README again, after a change
 * of the pages that they show.
 */

export const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
/** The files, and their sizes in pixels. */
export const SCREENSHOTS = {
  'order.png': { width: 720, height: 560 },
  'today.png': { width: 1080, height: 760 },
} as const;

type Opened = { orderId: string; reference: string };

async function buy({ url, sandboxUrl }: Shop, sku: string, amount?: number): Promise<Opened> {
  const basket = { email: 'fatou@example.com', items: [{ sku, quantity: 1 }] };
  const opened = await post<Opened>(`${url}/checkout`, basket);
  await post(`${sandboxUrl}/sandbox/transactions/${opened.reference}/pay`, amount === undefined ? {} : { amount });
  return opened;
}

async function takeAll(shop: Shop): Promise<void> {
  const { orderId } = await buy(shop, 'ankara-tote');
  await buy(shop, 'djembe');
  await buy(shop, 'ankara-tote', 8_000);
  await buy(shop, 'ankara-tote', 9_000);
  await until('two cases are open', async () => (await shop.prisma.case.count({ where: { closedAt: null } })) === 2);
  await until('two orders are paid', async () => (await shop.prisma.proof.count()) === 2);
  await command(shop, 'reconcile');
  const browser = await openBrowser();
  const shoot = async (name: keyof typeof SCREENSHOTS, path: string) => {
    const page = await browser.newPage({ viewport: SCREENSHOTS[name], colorScheme: 'light' });
    await page.goto(`${shop.url}${path}`);
    await page.screenshot({ path: `${FOLDER}${name}` });
    await page.close();
  };
  mkdirSync(FOLDER, { recursive: true });
  await shoot('order.png', `/orders/${orderId}/page`);
  await shoot('today.png', '/admin');
  await browser.close();
}

if (isMain(import.meta.url)) {
  const shop = await openShop();
  await takeAll(shop).finally(() => shop.close());
}
