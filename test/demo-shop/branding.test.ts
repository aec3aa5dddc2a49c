import { afterEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DEFAULTS } from '../../src/extensions.ts';
import type { Identity } from '../../src/identity.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// Every page that a shopper sees bears the shop's name; the demo's words stand only where a demo shop is.

let shop: TestProgram | null = null;
const folders: string[] = [];
afterEach(async () => {
  await shop?.close();
  shop = null;
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const LAMPS: Identity = { name: 'The Lamp Shop', helpEmail: 'help@lamps.example' };
const asPage = { accept: 'text/html' };

/** @returns the pages of a shop: of an order that a person must look at, and of what goes wrong */
async function pagesOf(identity: Identity | null, demoShop: 'on' | 'off'): Promise<string[]> {
  shop = await startProgram({ env: { DEMO_SHOP: demoShop }, extensions: { ...DEFAULTS, identity } });
  const { origin, program } = shop;
  await program.database.query(
    `INSERT INTO products (sku, name, description, image, unit_amount, currency)
     VALUES ('brass-lamp', 'Brass lamp', '', '', 125000, 'NGN')`,
  );
  const { orderId, reference } = await shop.checkout({
    email: 'ada@example.com',
    items: [{ sku: 'brass-lamp', quantity: 1 }],
  });
  await shop.hand(`transactions/${reference}/pay`, { amount: '3', notify: false });
  await fetch(`${origin}/checkout/return/${reference}`, { redirect: 'manual' });
  const answers = await Promise.all([
    fetch(`${origin}/shop/orders/${orderId}`),
    fetch(`${origin}/nothing/here`, { headers: asPage }),
    fetch(`${origin}/checkout`, {
      method: 'POST',
      headers: asPage,
      body: new URLSearchParams({ email: 'no' }),
    }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 422]);
  return Promise.all(answers.map((answer) => answer.text()));
}

/** Everything of this server that a page leads to or loads, and that is not there. */
async function deadLinks(html: string): Promise<string[]> {
  const origin = shop?.origin ?? '';
  const links = [...html.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = '']) => link);
  expect(links).not.toEqual([]);
  const statuses = await Promise.all(links.map(async (link) => (await fetch(origin + link)).status));
  return links.filter((_link, at) => statuses[at] !== 200);
}

test.each([
  ['a shop that has named itself', LAMPS, 'The Lamp Shop'],
  ['a shop that has not', null, 'Three Markets'],
])(
  'without the demo shop, the pages of %s say nothing of a demo and lead nowhere dead',
  async (_which, identity, name) => {
    for (const page of await pagesOf(identity, 'off')) {
      expect(page).toContain(name);
      expect(page).not.toMatch(/demo|sells nothing/i);
      expect(await deadLinks(page)).toEqual([]);
    }
  },
);

test('a shop that names itself is named on its shop page, too, and nobody is told that it is a demo', async () => {
  const [order = '', ...others] = await pagesOf(LAMPS, 'on');
  const shopPage = await (await fetch(`${shop?.origin ?? ''}/shop`)).text();
  expect(order).toContain('mailto:help@lamps.example');
  for (const page of [order, shopPage, ...others]) {
    expect(page).toContain('<a href="/shop">The Lamp Shop</a>');
    expect(page).not.toMatch(/Three Markets|Demo shop|sells nothing/);
    expect(await deadLinks(page)).toEqual([]);
  }
});

test('its words, its home and its look are on every page, and its files are served', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'integrator-look-'));
  folders.push(folder);
  await writeFile(join(folder, 'look.css'), ':root { --accent: #0a5c36; }');
  await writeFile(join(folder, 'notes.txt'), 'for ourselves');
  const look = { assets: pathToFileURL(`${folder}/`), stylesheet: 'look.css' };
  const words = { homeUrl: 'https://lamps.example/', ribbon: 'Open until six', footer: 'Bida, Nigeria' };
  for (const page of await pagesOf({ ...LAMPS, ...words, ...look }, 'off')) {
    expect(page).toContain('<a href="https://lamps.example/">The Lamp Shop</a>');
    expect(page).toContain('Open until six');
    expect(page).toContain('Bida, Nigeria');
    // The later one wins.
    expect(page).toMatch(/shop\.css\?[^>]*><link rel="stylesheet" href="\/shop\/own\/look\.css"/);
  }
  const css = await fetch(`${shop?.origin ?? ''}/shop/own/look.css`);
  expect([css.headers.get('content-type'), await css.text()]).toEqual([
    'text/css; charset=utf-8',
    ':root { --accent: #0a5c36; }',
  ]);
  for (const name of ['notes.txt', 'none.css', '..%2fcustom%2findex.ts'])
    expect((await fetch(`${shop?.origin ?? ''}/shop/own/${name}`)).status).toBe(404);
});

test("an order's page has the shop's own sentence about it, and is shown without it when that fails", async () => {
  const notes: Identity['orderNote'][] = [
    ({ status }) => Promise.resolve(`It is ${status}, <b>and on its way</b>.`),
    () => Promise.resolve(null),
    () => Promise.reject(new Error('the courier does not answer')),
  ];
  let at = 0;
  const orderNote: Identity['orderNote'] = (...asked) => notes[at]?.(...asked) ?? Promise.resolve(null);
  shop = await startProgram({ extensions: { ...DEFAULTS, identity: { ...LAMPS, orderNote } } });
  const { orderId } = await shop.checkout();
  const pages: string[] = [];
  for (at = 0; at < notes.length; at += 1)
    pages.push(await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text());
  expect(pages[0]).toContain('It is pending, &lt;b>and on its way&lt;/b>.');
  expect(pages[1]).toContain('The Lamp Shop');
  expect(pages[2]).toBe(pages[1]);
});
