import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { readCheckoutForm } from '../../src/checkout/checkout-bodies.ts';
import type { Order, OrderStatus } from '../../src/orders/order.ts';
import {
  formsOf,
  inlineParts,
  order,
  ORDER_ID,
  REFERENCE,
  shopApp,
  STATUSES,
  withErrors,
} from './support.ts';

async function orderPage(shown: Order): Promise<string> {
  return (
    await request(shopApp({ orders: [shown] }).app)
      .get(`/shop/orders/${shown.id}`)
      .expect(200)
  ).text;
}

const TRUTHS: Record<OrderStatus, { says: string[]; offersPayment: boolean; changes: boolean }> = {
  paid: {
    says: ['Thank you, your order is paid', '20 November 2025 at 11:07</time> UTC', REFERENCE],
    offersPayment: false,
    changes: false,
  },
  pending: {
    says: [
      'Your payment is not confirmed yet',
      'If you have paid, do not pay again.',
      'I have not paid: continue to payment',
    ],
    offersPayment: true,
    changes: true,
  },
  failed: {
    says: ['The payment did not go through', 'As far as we know, nothing was charged.', 'Try again'],
    offersPayment: true,
    changes: false,
  },
  expired: {
    says: ['This order was not paid in time', 'As far as we know, nothing was charged.', 'Try again'],
    offersPayment: true,
    changes: false,
  },
  review: {
    says: ['We are looking at your payment', 'Do not pay again.', 'Need help?', 'mailto:'],
    offersPayment: false,
    changes: true,
  },
  cancelled: {
    says: ['This order was cancelled', 'Do not pay for it.', 'mailto:'],
    offersPayment: false,
    changes: false,
  },
};

describe('the language of a page', () => {
  const { app } = shopApp({ orders: [order('paid')] });
  const ask = (query: string, headers: Record<string, string> = {}) =>
    request(app).get(`/shop/orders/${ORDER_ID}${query}`).set(headers);

  test.each([
    [
      'the first that is known of those a browser wants',
      '',
      'de, fr;q=0.5, en;q=0.1',
      '',
      'fr',
      '16.901,00 NGN',
    ],
    ['English for all others', '', 'sw', '', 'en', 'NGN 16,901.00'],
    ['the one that was chosen', '?lang=fr', 'en-US', '', 'fr', '16\u202f901,00 NGN'],
    ['the one that was chosen before', '', 'en-US', '__Host-language=fr', 'fr', '16\u202f901,00 NGN'],
    ['never another', '?lang=constructor', 'en', '__Host-language=%00', 'en', 'NGN 16,901.00'],
  ])('is %s', async (_which, query, accept, cookie, language, amount) => {
    const answer = await ask(query, { 'accept-language': accept, cookie }).expect(200);
    expect(answer.text).toContain(`<html lang="${language}">`);
    expect(answer.text).toContain(language === 'fr' ? 'Merci, votre commande est payée' : 'Thank you');
    expect(answer.text).toContain(`<td>${amount}</td>`);
    const other = language === 'fr' ? 'en' : 'fr';
    expect(answer.text).toContain(`<a href="?lang=${other}" lang="${other}" hreflang="${other}">`);
    const remembered = [answer.headers['set-cookie'] ?? ''].flat().join();
    expect(remembered.includes('__Host-language=fr')).toBe(query === '?lang=fr');
  });

  test('is also that of what goes wrong', async () => {
    const answer = await request(withErrors(shopApp().app))
      .get('/shop/orders/none')
      .set({ accept: 'text/html', 'accept-language': 'fr' });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('Il n’y a rien ici')]);
  });
});

test('dates follow the reader as amounts do, and say that their words are not the language of the page', async () => {
  const { app } = shopApp({ orders: [order('paid')] });
  const { text } = await request(app).get(`/shop/orders/${ORDER_ID}`).set('accept-language', 'de');
  expect(text).toContain('<html lang="en">');
  expect(text).toMatch(/<time [^>]*lang="de"[^>]*>20\. November 2025 um 11:07<\/time> UTC/);
  expect(text).toContain('16.901,00 NGN');
});

describe.each(STATUSES)('the page of an order that is %s', (status) => {
  const { says, offersPayment, changes } = TRUTHS[status];

  test('tells the truth about it', async () => {
    const html = await orderPage(order(status));
    for (const words of says) expect(html).toContain(words);
    if (status !== 'paid') expect(html).not.toContain('Thank you');
  });

  test('shows what was ordered, the total and the reference, and has nothing inline', async () => {
    const html = await orderPage(order(status));
    for (const words of [
      'Ankara tote bag',
      '2 × <span>NGN 4,200.50',
      '<td>NGN 8,401.00',
      '<td>NGN 16,901.00',
    ])
      expect(html).toContain(words);
    expect(html).toContain(REFERENCE);
    expect(inlineParts(html)).toEqual([]);
  });

  test(
    offersPayment ? 'offers to pay the same order, and no other' : 'offers nothing to pay with',
    async () => {
      const forms = formsOf(await orderPage(order(status)));
      expect(forms).toEqual(
        offersPayment ? [{ action: '/checkout', method: 'post', fields: [['orderId', ORDER_ID]] }] : [],
      );
      for (const { fields } of forms) {
        const sent = new URLSearchParams(fields).toString();
        expect(readCheckoutForm(sent)).toEqual({ orderId: ORDER_ID });
      }
    },
  );

  test(changes ? 'loads itself again without script, and is watched with it' : 'stays as it is', async () => {
    const html = await orderPage(order(status));
    expect(html.includes('<noscript><meta http-equiv="refresh" content="5"/></noscript>')).toBe(changes);
    expect(html.includes('data-is-watched')).toBe(changes);
    expect(html.includes('<p class="watch" data-part="watch" role="status">')).toBe(changes);
  });

  test('is kept by no cache', async () => {
    const { app } = shopApp({ orders: [order(status)] });
    await request(app).get(`/shop/orders/${ORDER_ID}`).expect('cache-control', 'no-store');
  });
});

describe('the order page', () => {
  test.each([
    ['NGN', 1_234_567_890_123n, 'NGN 12,345,678,901.23'],
    ['XOF', 1_500_000n, 'XOF 1,500,000'],
    ['KWD', 12_345n, 'KWD 12.345'],
  ])('shows %s amounts to the last minor unit', async (currency, amount, shown) => {
    const lines = [{ sku: null, description: 'One thing', unitAmount: amount, quantity: 1 }];
    const html = await orderPage(order('paid', { total: { amount, currency }, lines }));
    expect(html.split(`<td>${shown}</td>`)).toHaveLength(3);
  });

  test.each([
    ['de-DE,de;q=0.9', '16.901,00 NGN'],
    ['fr', '16\u202f901,00 NGN'],
    ['tlh', 'NGN 16,901.00'],
  ])('writes them for whoever accepts %s', async (language, shown) => {
    const { app } = shopApp({ orders: [order('paid')] });
    const answer = await request(app).get(`/shop/orders/${ORDER_ID}`).set('accept-language', language);
    expect(answer.text).toContain(`<td>${shown}</td>`);
    expect(answer.headers.vary).toMatch(/accept-language/i);
  });

  test('does not speak of a payment when none was ever started', async () => {
    const html = await orderPage(order('pending', { reference: null }));
    expect(html).toContain('This order is waiting for your payment');
    expect(html).not.toContain('Your payment is not confirmed');
    expect(formsOf(html)).toHaveLength(1);
  });

  test('does not call a live payment a demo without real money', async () => {
    const html = await orderPage(order('paid', { mode: 'live' }));
    expect(html).toContain('live key: payments take real money');
    expect(html).not.toContain('no real money');
  });

  test('shows hostile lines as text', async () => {
    const description = '<script>alert(1)</script>" onclick="alert(1)';
    const html = await orderPage(
      order('pending', { lines: [{ sku: description, description, unitAmount: 1n, quantity: 1 }] }),
    );
    expect(inlineParts(html)).toEqual([]);
    expect(html).not.toContain('<script>alert');
  });
});

describe('an order that is not there', () => {
  const UNKNOWN = 'Zz9yXx8wVv7uTt6sRr5qPp4o';
  const MALFORMED = [
    'short',
    `${ORDER_ID}0`,
    "Ab3dEf6hIj9kLm2nOp5qR'--",
    '%00',
    '%zz',
    '%E0%A4%A',
    '..%2f..%2fetc',
    '%3Cscript%3Ealert(1)%3C/script%3E',
    '',
  ];

  test.each([UNKNOWN, ...MALFORMED])('gets the one answer of unknown ids: /shop/orders/%s', async (id) => {
    const { app } = shopApp({ orders: [order('paid')] });
    const path = `/shop/orders/${id}`;
    const answer = await request(withErrors(app)).get(path).expect(404);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    // Byte for byte the same, but for the address that the asker sent.
    const expected = {
      type: '/problems/not-found',
      title: 'There is nothing here',
      status: 404,
      instance: path,
    };
    expect(answer.text).toBe(JSON.stringify(expected));
  });

  test('is not looked for when the id cannot be one', async () => {
    const { app, asked } = shopApp();
    withErrors(app);
    for (const id of MALFORMED) await request(app).get(`/shop/orders/${id}`);
    expect(asked).toEqual([]);
  });
});
