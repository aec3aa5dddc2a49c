import { createHmac } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { attack, problemOf, type Answer } from '../support/hostile.ts';
import { checkInvariants } from '../support/invariants.ts';
import { skeletonOf } from '../support/invariants/markup.ts';
import { keepLines } from '../support/lines.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// What hostile clients, and a service under somebody else's hand, put into texts that pages show. The same pages with
// harmless words are the measure: hostile words must change words, and no element.

const TOKEN = 'token-of-the-operator';
const asAdmin = { authorization: `Bearer ${TOKEN}` };
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  `' onmouseover='alert(1)`,
  '</pre></title><svg/onload=alert(1)>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  'javascript:alert(1)//',
  '{{constructor.constructor("alert(1)")()}}',
  '=HYPERLINK("http://evil.example")',
  '<!--<base href=//evil.example>',
];
const HARMLESS = HOSTILE.map((_text, at) => `harmless words, number ${at}`);

type Pages = Record<'shop' | 'order' | 'overview' | 'story' | 'login' | 'problem' | 'refused', Answer>;

let shop: TestProgram;
let say: RequestListener = (_req, res) => res.end();
const service = createServer((req, res) => {
  req.resume().once('end', () => {
    say(req, res);
  });
});
const { logger, lines } = keepLines();
beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const gatewayUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  shop = await startProgram({
    slowTime: true,
    gatewayUrl,
    logger,
    env: { ADMIN_TOKEN: TOKEN, SHOP_API_TOKEN: TOKEN },
  });
});
afterAll(async () => {
  await shop.close();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});

/** A service that opens checkouts, and then says of every payment whatever it is told to, in every text it has. */
function speaking(text: string): RequestListener {
  return (req, res) => {
    res.setHeader('content-type', 'application/json');
    if (req.method === 'POST') res.end(JSON.stringify({ data: 'https://pay.example/x' }));
    else
      res.end(
        JSON.stringify({
          message: text,
          data: { reference: text, status: text, amount: 10, currency: text },
        }),
      );
  };
}

const get = (path: string): Promise<Answer> =>
  attack(shop.origin, { method: 'GET', path, headers: { ...asAdmin, accept: 'text/html' } });

/** Puts the text wherever a text from outside may stand, and opens every page that may show it. */
async function pagesWith(text: string): Promise<Pages> {
  const { database, duePayments } = shop.program;
  say = speaking(text);
  await database.query(`UPDATE products SET name = $1, description = $1 WHERE sku = 'bissap'`, [text]);
  const made = await attack(shop.origin, {
    path: '/orders',
    headers: asAdmin,
    body: {
      externalId: `${text} ${performance.now()}`,
      email: 'a@b.co',
      currency: 'NGN',
      lines: [{ description: text, unitAmount: '10.00', quantity: 2 }],
    },
  });
  const { orderId } = JSON.parse(made.text) as CheckoutAnswer;
  const opened = await attack(shop.origin, { body: { orderId } });
  const { reference } = JSON.parse(opened.text) as CheckoutAnswer;
  const body = JSON.stringify({ event: text, data: { reference, status: text, note: text } });
  const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
  await attack(shop.origin, { path: '/webhooks/payments', headers: { 'x-signature': signature }, body });
  await duePayments.runOnce();
  const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  return {
    shop: await get('/shop'),
    order: await get(`/shop/orders/${orderId}`),
    overview: await get('/admin'),
    story: await get(`/admin/orders/${orderId}`),
    login: await attack(shop.origin, {
      path: '/admin/login',
      headers: form,
      body: `token=${encodeURIComponent(text)}`,
    }),
    problem: await get(`/${encodeURIComponent(text)}`),
    refused: await attack(shop.origin, {
      headers: form,
      body: new URLSearchParams({ email: text, sku: text, quantity: '1', currency: text }).toString(),
    }),
  };
}

const countless = (skeleton: string[]): string[] => [...new Set(skeleton)].sort();

describe.each(HOSTILE.map((text, at) => [text, HARMLESS[at] ?? ''] as const))(
  'H17, H18 pages with %s',
  (text, harmless) => {
    let hostile: Pages;
    let measure: Pages;
    beforeAll(async () => {
      measure = await pagesWith(harmless);
      hostile = await pagesWith(text);
    });

    test.each(['shop', 'order', 'story', 'login', 'problem', 'refused'] as const)(
      '%s has the same elements as with harmless words',
      (page) => {
        expect(hostile[page].headers['content-type']).toMatch(/^text\/html/);
        expect(hostile[page].status).toBe(measure[page].status);
        expect(skeletonOf(hostile[page].text)).toEqual(skeletonOf(measure[page].text));
      },
    );

    test('the overview, which grows, has no element of a new kind', () => {
      expect(countless(skeletonOf(hostile.overview.text))).toEqual(
        countless(skeletonOf(measure.overview.text)),
      );
    });

    test('the words are there, as words', () => {
      const shown = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
      for (const page of ['shop', 'order'] as const) expect(hostile[page].text.includes(shown)).toBe(true);
      expect(hostile.story.text.includes('held')).toBe(true);
    });
  },
);

test('H17 an error text of the service is shown to nobody, and stands in no log whole', async () => {
  const text = `<script>alert("${'x'.repeat(5_000)}")</script>`;
  say = (_req, res) => {
    res
      .writeHead(422, { 'content-type': 'application/json' })
      .end(JSON.stringify({ message: text, data: {} }));
  };
  const refused = await attack(shop.origin, {
    body: { email: 'a@b.co', items: [{ sku: 'bissap', quantity: 1 }] },
  });
  expect({ status: refused.status, problem: problemOf(refused) }).toEqual({
    status: 502,
    problem: 'payment-refused',
  });
  expect(refused.text).not.toContain('script');
  expect(lines.filter((line) => line.includes('xxxxxxxxxx'))).toEqual([]);
});

test('H20 pages of the operator are in no frame of anybody', async () => {
  for (const path of ['/admin', '/admin/login', `/admin/orders/${'x'.repeat(24)}`]) {
    const { headers } = await get(path);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-frame-options']).toBe('DENY');
  }
});

test('every page says what browsers may do with it, and every answer of whatever kind forbids guessing', () => {
  const { exchanges } = shop.traffic();
  expect(exchanges).not.toEqual([]);
  for (const { headers } of exchanges) {
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain("object-src 'none'");
  }
});

test('after all that, every answer and every log line keeps the promises', async () => {
  // The service was ours to play, so its ledger is empty: what money did is not told here.
  const violations = await checkInvariants({
    database: shop.program.database,
    sandboxUrl: shop.sandbox.url,
    traffic: shop.traffic(),
    logs: lines,
    key: shop.sandbox.testKey,
    passes: 1,
  });
  const ofAnswers = /^I(?:6|7|10|16|24|25|26|27|28):/;
  expect(violations.filter((line) => ofAnswers.test(line))).toEqual([]);
});
