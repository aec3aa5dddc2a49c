import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { readCheckoutForm } from '../../src/checkout/checkout-bodies.ts';
import { formsOf, GOODS, inlineParts, product, shopApp, type ShopParts } from './support.ts';

async function shopPage(parts?: ShopParts): Promise<string> {
  return (await request(shopApp(parts).app).get('/shop').expect(200)).text;
}

describe('the shop page', () => {
  test.each([
    ['NGN', 'NGN 8,500.00'],
    ['NGN', 'NGN 4,200.50'],
    ['XOF', 'XOF 65,000'],
    ['KWD', 'KWD 3.125'],
  ])('shows %s prices with the decimals of the currency', async (_currency, shown) => {
    expect(await shopPage()).toContain(`<p class="price">${shown}</p>`);
  });

  test('has one form with one e-mail field, and one button per currency', async () => {
    const html = await shopPage();
    const [form, ...others] = formsOf(html);
    expect([form?.action, form?.method, others]).toEqual(['/checkout', 'post', []]);
    expect(form?.fields.filter(([name]) => name === 'email')).toHaveLength(1);
    const buttons = [...html.matchAll(/type="submit" name="currency" value="(...)"/g)];
    expect(buttons.map(([, currency]) => currency)).toEqual(['NGN', 'XOF', 'KWD']);
  });

  test('sends fields that the checkout reads, and leaves out what nobody wants or the button does not pay', async () => {
    const [form] = formsOf(await shopPage());
    let row = 0;
    const filled = form?.fields.map(([name, value]): [string, string] => {
      if (name === 'email') return [name, 'ada@example.com'];
      // The first not at all, as it comes; the others as often as their row says.
      return name === 'quantity' && ++row > 1 ? [name, String(row)] : [name, value];
    });
    const sent = (currency: string): unknown =>
      readCheckoutForm(new URLSearchParams([...(filled ?? []), ['currency', currency]]).toString());
    const email = 'ada@example.com';
    expect(['NGN', 'XOF'].map(sent)).toEqual([
      { email, currency: 'NGN', items: [{ sku: 'jollof-kit', quantity: 2 }] },
      { email, currency: 'XOF', items: [{ sku: 'djembe', quantity: 3 }] },
    ]);
  });

  test('never sends a price', async () => {
    const names = new Set(formsOf(await shopPage()).flatMap(({ fields }) => fields.map(([name]) => name)));
    expect([...names].sort()).toEqual(['email', 'intent', 'quantity', 'sku', 'skuCurrency']);
  });

  test('labels every field that a person fills in', async () => {
    const html = await shopPage();
    const visible = html.match(/<input(?![^>]*type="hidden")/g) ?? [];
    const labelled = html.match(/<label[^>]*>(?:(?!<\/label>).)*<input/gs) ?? [];
    expect(visible.length).toBe(GOODS.length + 1);
    expect(labelled).toHaveLength(visible.length);
  });

  test.each([
    ['test', 'no real money'],
    ['live', 'live key: payments take real money'],
    [undefined, 'no real money with a test key'],
  ] as const)('says what is true of real money when the mode is %s', async (mode, words) => {
    expect(await shopPage(mode === undefined ? {} : { mode })).toContain(`<a href="/shop#demo">${words}</a>`);
  });

  test('says so when nothing is on sale', async () => {
    expect(await shopPage({ products: [] })).toContain('There is nothing on sale right now.');
  });

  test('has headings in order, one main part, and nothing inline', async () => {
    const html = await shopPage();
    expect(inlineParts(html)).toEqual([]);
    expect(html.match(/<main/g)).toHaveLength(1);
    const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    expect(levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)).toEqual([]);
  });
});

describe('hostile product text', () => {
  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</style><svg onload=alert(1)>',
    '<!-- ',
    '&lt;b&gt;',
  ];

  test.each(HOSTILE)('is shown as text: %s', async (text) => {
    const hostile = product(text, 100n, 'NGN', { name: text, description: text, image: text });
    const html = await shopPage({ products: [hostile] });
    const harmless = await shopPage({ products: [product('a', 100n, 'NGN')] });
    expect(inlineParts(html)).toEqual([]);
    // The same tags as a page without hostile text: nothing was added, nothing was cut off.
    expect(tagNames(html)).toEqual(tagNames(harmless));
    const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
    expect(html).toContain(`<h3>${escaped}</h3>`);
  });

  test('cannot make the picture run anything or come from outside the policy', async () => {
    const html = await shopPage({
      products: [product('a', 100n, 'NGN', { image: '"onerror="alert(1)' })],
    });
    expect(html).toContain('src="&quot;onerror=&quot;alert(1)"');
  });

  function tagNames(html: string): string[] {
    return (html.match(/<\/?[a-z][a-z0-9]*/gi) ?? []).map((tag) => tag.toLowerCase());
  }
});
