import { afterEach, describe, expect, test } from '@jest/globals';

import { DECK } from '../../../local/sandbox/faults/deck.ts';
import { openBrowser } from '../../support/browser.ts';
import {
  ask,
  cleanUp,
  control,
  onCleanUp,
  openCheckout,
  receiver,
  start,
  until,
  verified,
} from './support.ts';

afterEach(cleanUp);

/** Presses a button of a checkout page, as a browser without script would. */
function press(page: string, deed: 'pay' | 'fail' | 'leave'): Promise<Response> {
  return fetch(`${page}/${deed}`, { method: 'POST', redirect: 'manual' });
}

describe('the checkout page', () => {
  test.each([
    ['NGN', '1250.5', '1,250.50'],
    ['XOF', '1000000', '1,000,000'],
    ['KWD', '12.345', '12.345'],
  ])('shows %s amounts as people write them', async (currency, amount, shown) => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a', { amount, localCurrency: JSON.stringify(currency) });
    expect(await (await fetch(page)).text()).toContain(`${shown} <span class="currency">${currency}</span>`);
  });

  test('writes them as the browser asks, in the title and on the button, too', async () => {
    const page = await openCheckout(await start(), 'a', { amount: '1250.5', localCurrency: '"NGN"' });
    const html = await (await fetch(page, { headers: { 'accept-language': 'de-DE' } })).text();
    expect(html).toMatch(/<title>[^<]*1\.250,50 NGN<\/title>/);
    expect(html).toContain('1.250,50 <span class="currency">NGN</span>');
    expect(html).toContain('Pay 1.250,50 NGN');
  });

  test('names the reference, says that no real money moves, and offers pay, fail and leave', async () => {
    const sandbox = await start();
    const html = await (await fetch(await openCheckout(sandbox, 'order-77'))).text();
    expect(html).toContain('order-77');
    expect(html).toContain('no real money');
    for (const deed of ['pay', 'fail', 'leave'])
      expect(html).toMatch(new RegExp(`method="post" action="[^"]+/${deed}"`));
  });

  test('sends the payer back with reference and status, and the money is taken', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    const response = await press(page, 'pay');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('https://shop.example/back?reference=a&status=success');
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: '25.00' });
  });

  test('sends the payer back from a failure, and nothing is taken', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    expect((await press(page, 'fail')).headers.get('location')).toBe(
      'https://shop.example/back?reference=a&status=failed',
    );
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'FAILED' });
  });

  test('lets the payer leave with nothing added and nothing decided, and come back to pay', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    expect((await press(page, 'leave')).headers.get('location')).toBe('https://shop.example/back');
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'PENDING' });
    await press(page, 'pay');
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'SUCCESS' });
  });

  test.each([
    [
      'https://shop.example/back?order=7&x=a%20b',
      'https://shop.example/back?order=7&x=a%20b&reference=a&status=success',
    ],
    ['https://shop.example/back?', 'https://shop.example/back?reference=a&status=success'],
    ['https://shop.example/back#top', 'https://shop.example/back?reference=a&status=success#top'],
    ['http://localhost:3000', 'http://localhost:3000/?reference=a&status=success'],
  ])('keeps the query of %s', async (redirectUrl, back) => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a', { redirectUrl: JSON.stringify(redirectUrl) });
    expect((await press(page, 'pay')).headers.get('location')).toBe(back);
  });

  test('pays once and tells once, however often and fast pay is pressed', async () => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    const page = await openCheckout(sandbox, 'a');
    const pressed = await Promise.all(Array.from({ length: 20 }, () => press(page, 'pay')));
    for (const response of pressed) {
      expect(response.headers.get('location')).toBe('https://shop.example/back?reference=a&status=success');
    }
    expect(JSON.parse((await control(sandbox, 'transactions/a')).text)).toMatchObject({ timesPaid: 1 });
    await until(async () => (await control(sandbox, 'webhooks')).text.includes('"pending":0'));
    expect(shop.hooks).toHaveLength(1);
  });

  test.each([
    ['pay', 'fail', 'SUCCESS'],
    ['fail', 'pay', 'FAILED'],
  ] as const)('once it took "%s" does not take "%s" any more', async (first, second, status) => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    await press(page, first);
    const back = (await press(page, second)).headers.get('location');
    expect(back).toContain(`status=${status.toLowerCase()}`);
    expect(await verified(sandbox, 'a')).toMatchObject({ status });
  });

  test('of a decided payment shows what happened, the way back, and no button', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    await press(page, 'pay');
    const html = await (await fetch(page)).text();
    expect(html).toContain('Payment received');
    expect(html).toContain('href="https://shop.example/back?reference=a&amp;status=success"');
    expect(html).not.toContain('<form');
  });

  test.each([
    ["o'brien@example.com", 'https://shop.example/'],
    ['ada@example.com', 'https://shop.example/"><script>alert(1)</script>'],
    ['ada@example.com', 'https://shop.example/?a="onclick="alert(1)&b=<script>'],
    ['ada@example.com', 'https://shop.example/#"><script>alert(1)</script>'],
  ])('escapes what a hostile shop or payer typed: %s, %s', async (email, redirectUrl) => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a', {
      email: JSON.stringify(email),
      redirectUrl: JSON.stringify(redirectUrl),
    });
    const open = await (await fetch(page)).text();
    await press(page, 'pay');
    const decided = await (await fetch(page)).text();
    for (const html of [open, decided]) {
      expect(html).not.toContain('<script');
      expect(html).not.toContain('"onclick');
      expect(html).toContain(email);
    }
  });

  test('does not exist for a token that was never given out', async () => {
    const sandbox = await start();
    const nowhere = `${sandbox.url}/checkout/AAAAAAAAAAAAAAAAAAAAAAAA`;
    expect((await fetch(nowhere)).status).toBe(404);
    for (const deed of ['pay', 'fail', 'leave'] as const)
      expect((await press(nowhere, deed)).status).toBe(404);
  });
});

describe('every page', () => {
  test('forbids scripts, foreign styles and frames, and leaks no address to the shop', async () => {
    const sandbox = await start();
    const { headers } = await fetch(await openCheckout(sandbox, 'a'));
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('finds its style sheet', async () => {
    const sandbox = await start();
    const sheet = await fetch(`${sandbox.url}/sandbox.css`);
    expect(sheet.headers.get('content-type')).toContain('text/css');
    expect(await sheet.text()).toContain('prefers-color-scheme: dark');
  });
});

describe('the overview page', () => {
  test('tells keys, base address and calls, and lists transactions newest first with their pages', async () => {
    const sandbox = await start();
    const older = await openCheckout(sandbox, 'older');
    await openCheckout(sandbox, 'newer');
    await control(sandbox, 'transactions/older/pay', {});
    const html = await (await fetch(sandbox.url)).text();
    for (const text of [
      sandbox.testKey,
      sandbox.liveKey,
      sandbox.url,
      'curl',
      'Paid',
      new URL(older).pathname,
    ]) {
      expect(html).toContain(text);
    }
    expect(html.indexOf('newer')).toBeLessThan(html.indexOf('older'));
  });

  test('turns the pages of one mode without those of the other', async () => {
    const sandbox = await start();
    for (let count = 0; count < 26; count += 1) await openCheckout(sandbox, `row-${count}`);
    const first = await (await fetch(sandbox.url)).text();
    expect(first).not.toContain('row-0<');
    expect(first).toContain('href="/?test=2&amp;live=1"');
    const second = await (await fetch(`${sandbox.url}/?test=2&live=1`)).text();
    expect(second).toContain('row-0<');
    expect(second).toContain('href="/?test=1&amp;live=1"');
  });
});

/** A form of a page, sent as a browser would. */
async function submit(url: string, fields: Record<string, string>, headers = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' });
}

describe('the deck on the checkout page', () => {
  test('offers every deed, and every fault that a single checkout can have', async () => {
    const sandbox = await start();
    const html = await (await fetch(await openCheckout(sandbox, 'a'))).text();
    for (const { name } of DECK)
      expect([name, html.includes(`value="${name}"`)]).toEqual([name, !name.startsWith('history-')]);
  });

  test('plays a deed and lays a fault over this checkout alone', async () => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    const page = await openCheckout(sandbox, 'a');
    await openCheckout(sandbox, 'b');
    const fields = { deed: 'pay-less', air: 'answer-empty', calls: '1' };
    expect((await submit(`${page}/deck`, fields)).headers.get('location')).toMatch(
      /^https:\/\/shop\.example\//,
    );
    expect((await ask(sandbox, 'verify/b')).text).toContain('PENDING');
    expect((await ask(sandbox, 'verify/a')).text).toBe('');
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: '12.50' });
  });

  test('does nothing for what no form can have sent', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    expect((await submit(`${page}/deck`, { deed: '__proto__', air: 'constructor' })).status).toBe(303);
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'PENDING' });
    expect((await control(sandbox, 'faults')).text).toContain('"set":[]');
  });
});

describe('the forms of the overview page', () => {
  const own = (sandbox: { url: string }): Record<string, string> => ({ origin: sandbox.url });

  test('switch the profile, lay faults, clear the air, and reset', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await submit(`${sandbox.url}/profile`, { name: 'sessions' }, own(sandbox));
    await submit(`${sandbox.url}/faults`, { fault: 'webhook-lost', calls: '2' }, own(sandbox));
    await submit(`${sandbox.url}/faults`, { fault: 'key-refused', calls: '' }, own(sandbox));
    const html = await (await fetch(sandbox.url)).text();
    expect(html).toContain('It plays: Sessions');
    expect(JSON.parse((await control(sandbox, 'faults')).text)).toMatchObject({
      set: [
        { fault: 'webhook-lost', endpoint: 'webhook', reference: null, calls: 2 },
        { fault: 'key-refused', endpoint: null, reference: null, calls: null },
      ],
    });
    await submit(`${sandbox.url}/faults/clear`, {}, own(sandbox));
    expect((await control(sandbox, 'faults')).text).toContain('"set":[]');
    await submit(`${sandbox.url}/reset`, {}, own(sandbox));
    expect((await control(sandbox, 'transactions')).text).toBe('{"transactions":[]}');
    expect(JSON.parse((await control(sandbox, 'profile')).text)).toMatchObject({ name: 'sessions' });
  });

  test('give back a part of a payment, and the page shows where a checkout leads back to', async () => {
    const sandbox = await start({ shopUrl: 'https://shop.example/here' });
    await openCheckout(sandbox, 'a');
    expect(await (await fetch(sandbox.url)).text()).not.toContain('Give back a part');
    await control(sandbox, 'transactions/a/pay', {});
    const html = await (await fetch(sandbox.url)).text();
    expect(html).toContain('Give back a part');
    expect(html).toContain('value="https://shop.example/here"');
    await submit(`${sandbox.url}/refund`, { reference: 'a', amount: '5' }, own(sandbox));
    expect((await control(sandbox, 'transactions/a')).text).toContain('"refunded":{"amount":"5.00"');
  });

  test('move the clock', async () => {
    const sandbox = await start();
    await submit(`${sandbox.url}/clock`, { hours: '48' }, own(sandbox));
    expect((await control(sandbox, 'clock')).text).toContain('"aheadSec":172800');
    expect(await (await fetch(sandbox.url)).text()).toContain('48 hours ahead');
  });

  test('open a checkout for a storefront that has no backend yet', async () => {
    const sandbox = await start();
    const fields = { amount: '12.50', currency: 'kwd', redirectUrl: 'https://shop.example/back' };
    const opened = await submit(`${sandbox.url}/open`, fields, own(sandbox));
    const page = new URL(opened.headers.get('location') ?? '', sandbox.url).href;
    expect(await (await fetch(page)).text()).toContain('12.500');
    expect((await press(page, 'pay')).headers.get('location')).toMatch(
      /^https:\/\/shop\.example\/back\?reference=/,
    );
  });

  test.each([
    { amount: '1.234' },
    { amount: '0' },
    { currency: 'ZZZ' },
    { redirectUrl: 'javascript:alert(1)' },
  ])('open nothing for %j', async (wrong) => {
    const sandbox = await start();
    const fields = { amount: '12.50', currency: 'NGN', redirectUrl: 'https://shop.example/', ...wrong };
    const answer = await submit(`${sandbox.url}/open`, fields, own(sandbox));
    expect(answer.headers.get('location')).toBe('/');
    expect((await control(sandbox, 'transactions')).text).toBe('{"transactions":[]}');
  });

  test.each([
    ['another page', { origin: 'https://evil.example' }],
    ['a page that hides where it is', { origin: 'null' }],
    ['nobody', {}],
  ])('are refused to %s', async (_, headers) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    for (const path of ['profile', 'faults', 'faults/clear', 'reset', 'open', 'refund', 'clock'])
      expect((await submit(`${sandbox.url}/${path}`, { name: 'sessions' }, headers)).status).toBe(403);
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'PENDING' });
  });

  test('work in a browser without any script', async () => {
    const sandbox = await start();
    const browser = await openBrowser();
    onCleanUp(() => browser.close());
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(sandbox.url);
    await page.selectOption('select[name=name]', 'wallets');
    await page.getByRole('button', { name: 'Switch' }).click();
    expect(await page.locator('#profile').textContent()).toBe('It plays: Wallets');
    await page.selectOption('select[name=fault]', 'answer-cut');
    await page.getByRole('button', { name: 'Let it happen' }).click();
    expect(await page.locator('.air').textContent()).toContain('answer-cut');
  });
});
