import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { eventually } from '../support/eventually.ts';
import { expectProblem, payInSilence, settle, statusOf, unschedule, type ProblemBody } from '../support/outside.ts';
import { startShop, WEBHOOK_SECRET, type Checkout, type Shop } from '../support/shop.ts';

// The limits of the public calls: idempotency keys, pages of orders, the shop's own numbers,
// addresses, webhooks, and bodies of any size.

const TOKEN = 'the_shop_of_no_real_money';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ env: { SHOP_API_TOKEN: TOKEN } });
});
afterAll(() => shop.stop());

type View = { orderId: string; status: string; held: string; due: string; email: string };
type Page = { orders: View[]; next: string | null };

const headers = { authorization: `Bearer ${TOKEN}` };
const post = <Body = Checkout & View>(path: string, json: unknown) =>
  shop.request<Body>('POST', path, { json, headers });
const line = { description: 'A drum', unitAmount: '25.00', quantity: 1 };
const basic = { email: 'ada@example.com', currency: 'NGN', lines: [line] };
async function place(more = {}): Promise<string> {
  const { status, body } = await post('/orders', { ...basic, ...more });
  expect(status).toBe(201);
  return body.orderId;
}
const buy = (json: unknown, key?: string) =>
  shop.request<Checkout>('POST', '/checkout', { json, headers: key === undefined ? {} : { 'idempotency-key': key } });
const basketOf = (email: string) => ({ email, items: [{ sku: 'ankara-tote', quantity: 1 }] });
const cancel = (orderId: string) => post(`/orders/${orderId}/cancel`, { reason: 'sold out' });
const view = async (orderId: string) => (await shop.request<View>('GET', `/orders/${orderId}`)).body;
const getOrders = async (query: string) => (await shop.request<Page>('GET', `/orders?${query}`, { headers })).body;

/** The ids of all pages. @param between called after each page that has a next page */
async function listAll(query: string, between: (page: Page) => Promise<void> = () => Promise.resolve()) {
  const seen: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Page = await getOrders(`${query}${after && `&after=${encodeURIComponent(after)}`}`);
    seen.push(...page.orders.map(({ orderId }) => orderId));
    if (page.next !== null) await between(page);
    after = page.next;
  }
  return seen;
}

describe('an Idempotency-Key belongs to one request', () => {
  test('with the same order it gives the same page, and with another order of the same address 422', async () => {
    const email = 'keys@example.com';
    const [first, second] = [await place({ email }), await place({ email })];
    const opened = await buy({ orderId: first }, 'one-key');
    expect(opened.status).toBe(201);
    expect(await buy({ orderId: first }, 'one-key')).toMatchObject({ status: 201, body: opened.body });
    expectProblem(await buy({ orderId: second }, 'one-key'), 422, 'idempotency-key-reused');
    expect(await shop.database.query('SELECT 1 FROM payments WHERE order_id = $1', [second])).toEqual([]);
    expect(await buy({ orderId: second }, 'another-key')).toMatchObject({ status: 201, body: { orderId: second } });
  });

  test('with an order after a basket of the same address it gives 422', async () => {
    const email = 'baskets@example.com';
    const basket = await buy(basketOf(email), 'of-a-basket');
    expect(basket.status).toBe(201);
    const orderId = await place({ email });
    expectProblem(await buy({ orderId }, 'of-a-basket'), 422, 'idempotency-key-reused');
    expect(await buy(basketOf(email), 'of-a-basket')).toMatchObject({ status: 201, body: basket.body });
    // A storefront keeps its key while it continues with the order that the key has placed.
    const own = { orderId: basket.body.orderId };
    expect(await buy(own, 'of-a-basket')).toMatchObject({ status: 201, body: basket.body });
  });

  test('of one address does not keep another address from using the same key', async () => {
    const [first, second] = [await place({ email: 'eve@example.com' }), await place({ email: 'bob@example.com' })];
    for (const orderId of [first, second])
      expect(await buy({ orderId }, 'a-common-key')).toMatchObject({ status: 201, body: { orderId } });
  });
});

describe('the list of orders', () => {
  test('loses no order when the last order of a page leaves the filter before the next page', async () => {
    const since = new Date(Date.now() - 1_000).toISOString();
    const placed: string[] = [];
    for (let count = 0; count < 120; count += 1) placed.push(await place({ email: 'pages@example.com' }));
    const left: string[] = [];
    const seen = await listAll(`status=pending&since=${since}`, async ({ orders }) => {
      const last = orders.at(-1)?.orderId ?? '';
      expect(orders).toHaveLength(50);
      expect((await cancel(last)).status).toBe(200);
      left.push(last);
    });
    expect(left).toHaveLength(2);
    const ours = seen.filter((one) => placed.includes(one));
    expect(new Set(ours).size).toBe(ours.length);
    expect(ours.sort()).toEqual(placed.sort());
    const again = await listAll(`status=pending&since=${since}`);
    expect(again.filter((one) => left.includes(one))).toEqual([]);
  });

  test('shows with updatedSince the orders that were paid, cancelled, refunded or held since then, and no others', async () => {
    const { orderId: paidBefore, reference: settled } = await shop.checkout({ email: 'before@example.com' });
    const { orderId: refunded, reference: toRefund } = await shop.checkout({ email: 'refund@example.com' });
    for (const reference of [settled, toRefund]) await settle(shop, reference);
    const paidAfter = await shop.checkout({ email: 'after@example.com' });
    await unschedule(shop, paidAfter.reference);
    const paidLate = await shop.checkout({ email: 'late@example.com' });
    expect((await cancel(paidLate.orderId)).status).toBe(200);
    await unschedule(shop, paidLate.reference);
    const [cancelled, untouched] = [await place(), await place()];
    for (const orderId of [paidBefore, refunded]) expect(await statusOf(shop, orderId)).toBe('paid');

    // In a millisecond of its own. This machine's clock is also the database's.
    const before = Date.now();
    await eventually(() => Date.now() > before + 10);
    const since = new Date(before + 5).toISOString();
    expect(await listAll(`updatedSince=${since}&status=cancelled`)).toEqual([]);

    await settle(shop, paidAfter.reference);
    await settle(shop, paidLate.reference);
    expect((await cancel(cancelled)).status).toBe(200);
    const refund = { amount: '100.00', reason: 'torn' };
    expect((await post(`/orders/${refunded}/refunds`, refund)).status).toBe(201);

    const paid = await listAll(`updatedSince=${since}&status=paid`);
    expect(paid).toEqual(expect.arrayContaining([paidAfter.orderId, refunded]));
    expect(paid).not.toContain(paidBefore);
    const ended = await listAll(`updatedSince=${since}&status=cancelled`);
    expect(ended.sort()).toEqual([cancelled, paidLate.orderId].sort());
    const all = await listAll(`updatedSince=${since}`);
    expect(all).toEqual(expect.arrayContaining([paidAfter.orderId, refunded, cancelled, paidLate.orderId]));
    for (const still of [paidBefore, untouched]) expect(all).not.toContain(still);
    const late = new Date(Date.now() + 60_000).toISOString();
    expect(await listAll(`updatedSince=${late}`)).toEqual([]);
  });

  test('refuses an updatedSince that is not a time with a zone', async () => {
    expect((await getOrders(`updatedSince=${new Date().toISOString()}`)).orders).toEqual(expect.any(Array));
    for (const bad of ['today', '2026-01-01T00:00:00', '']) {
      const answer = await shop.request('GET', `/orders?updatedSince=${bad}`, { headers });
      const { errors } = expectProblem(answer, 422, 'invalid-input');
      expect(errors).toMatchObject([{ path: 'updatedSince', message: expect.not.stringContaining('not a field') }]);
    }
  });
});

test('an order of the shop’s number may be sent again with its metadata in another order', async () => {
  const order = { ...basic, externalId: 'M-1' };
  const first = await post('/orders', { ...order, metadata: { cart: '7', till: '2', '10': 'ten', '9': 'nine' } });
  expect(first.status).toBe(201);
  const turned = '"metadata":{"till":"2","9":"nine","cart":"7","10":"ten"}';
  const body = JSON.stringify(order).replace(/\}$/, `,${turned}}`);
  const again = await shop.request<View>('POST', '/orders', {
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  expect(again).toMatchObject({ status: 200, body: { orderId: first.body.orderId } });
  for (const metadata of [{ cart: '2', till: '7', '10': 'ten', '9': 'nine' }, { cart: '7', till: '2' }, undefined])
    expectProblem(await post('/orders', { ...order, metadata }), 409, 'external-id-taken');
});

describe('an order shows the amounts that are due and held', () => {
  /** An order of NGN 25.00 with a page to pay it. */
  async function opened(): Promise<{ orderId: string; reference: string }> {
    const orderId = await place({ email: 'held@example.com' });
    return { orderId, reference: (await buy({ orderId })).body.reference };
  }

  test('its price is due until it is paid', async () => {
    const { orderId, reference } = await opened();
    expect(await view(orderId)).toMatchObject({ status: 'pending', due: '25.00', held: '0.00' });
    await settle(shop, reference);
    expect(await view(orderId)).toMatchObject({ status: 'paid', due: '0.00', held: '0.00' });
  });

  test('when it is paid after it was cancelled, the money is held', async () => {
    const { orderId, reference } = await opened();
    expect((await cancel(orderId)).status).toBe(200);
    expect(await view(orderId)).toMatchObject({ status: 'cancelled', held: '0.00' });
    await settle(shop, reference);
    expect(await view(orderId)).toMatchObject({ status: 'cancelled', held: '25.00' });
    const listed = await getOrders(`status=cancelled`);
    expect(listed.orders.find((one) => one.orderId === orderId)).toMatchObject({ held: '25.00' });
  });

  test('when it is paid in part, it is under review, the money is held, and nothing more is due', async () => {
    const { orderId, reference } = await opened();
    await settle(shop, reference, { amount: 12.5 });
    expect(await view(orderId)).toMatchObject({ status: 'review', held: '12.50', due: '0.00' });
  });
});

describe('a webhook', () => {
  const send = (text: string, type: string | null, secret = WEBHOOK_SECRET) => {
    const body = new Uint8Array(Buffer.from(text));
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const kind: Record<string, string> = type === null ? {} : { 'content-type': type };
    return shop.request('POST', '/webhooks/payments', { body, headers: { ...kind, 'x-signature': signature } });
  };
  const event = (reference: string) => JSON.stringify({ event: 'charge', data: { reference, status: 'SUCCESS' } });
  const form = (reference: string) => `reference=${reference}&paid=1`;
  const FORM = 'application/x-www-form-urlencoded';
  const MARK = '\uFEFF';

  test.each<[string, string | null, (reference: string) => string]>([
    ['in JSON labelled as text', 'text/plain', event],
    ['in JSON labelled as text with a charset', 'text/plain; charset=utf-8', event],
    ['in JSON without a type', null, event],
    ['in JSON labelled as bytes', 'application/octet-stream', event],
    ['in JSON with a byte order mark', 'application/json', (one) => MARK + event(one)],
    ['in JSON with a byte order mark, labelled as text', 'text/plain', (one) => MARK + event(one)],
    ['in a form', FORM, form],
    ['in a form with a byte order mark', FORM, (one) => MARK + form(one)],
    ['in a form labelled as text', 'text/plain', form],
  ])('that names a payment %s is accepted, and the payment is verified', async (_name, type, bodyOf) => {
    const { orderId, reference } = await shop.checkout();
    await unschedule(shop, reference);
    await payInSilence(shop, reference);
    expect(await send(bodyOf(reference), type)).toMatchObject({ status: 202 });
    await eventually(async () => (await statusOf(shop, orderId)) === 'paid');
  });

  test.each([
    ['without a type', null],
    ...['text/plain', 'application/octet-stream', 'application/json', FORM, 'image/png'].map(
      (type) => [`of type ${type}`, type] as const,
    ),
  ])('%s with a wrong signature is refused and causes no verification', async (_name, type) => {
    const { reference } = await shop.checkout();
    await unschedule(shop, reference);
    expectProblem(await send(event(reference), type, 'somebody_else'), 401, 'bad-signature');
    const notified = 'SELECT notified_at FROM payments WHERE reference = $1';
    expect(await shop.database.query(notified, [reference])).toEqual([{ notified_at: null }]);
  });
});

describe('an order of the shop', () => {
  test.each([
    ['letters', 'd'],
    ['letters of four bytes', '\u{1F941}'],
  ])('with 500 lines of 200 %s is accepted unchanged', async (_name, letter) => {
    const description = letter.repeat(200);
    const lines = Array.from({ length: 500 }, () => ({ ...line, description }));
    const { status, body } = await post<{ lines: unknown[] }>('/orders', { ...basic, lines });
    expect({ status, lines: body.lines.length }).toEqual({ status: 201, lines: 500 });
    expect(body.lines[499]).toEqual({ ...line, description });
  });

  test('of one mebibyte is read, and with one byte more it is refused', async () => {
    const MIB = 1_024 * 1_024;
    const json = { ...headers, 'content-type': 'application/json' };
    const text = JSON.stringify(basic);
    const answer = await shop.request('POST', '/orders', { body: text.padEnd(MIB), headers: json });
    expect(answer.status).toBe(201);
    expectProblem(
      await shop.request('POST', '/orders', { body: text.padEnd(MIB + 1), headers: json }),
      413,
      'too-large',
    );
  });
});

describe('an e-mail address', () => {
  const IDN = 'ada@xn--80ak6aa92e.xn--p1ai';
  test.each([
    [' ada.trimmed@example.com ', 'ada.trimmed@example.com'],
    [IDN, IDN],
    ['smith&co@example.com', 'smith&co@example.com'],
    ["o'neil+tag@example.co.uk", "o'neil+tag@example.co.uk"],
  ])(
    'like %j is accepted by checkout and orders, stored trimmed, and erased by the erase command',
    async (given, stored) => {
      const bought = await buy(basketOf(given));
      expect(bought.status).toBe(201);
      const placed = await post('/orders', { ...basic, email: given });
      expect(placed).toMatchObject({ status: 201, body: { email: stored } });
      const ids = [bought.body.orderId, placed.body.orderId];
      const rows = await shop.database.query('SELECT email FROM orders WHERE id = ANY($1)', [ids]);
      expect(rows).toEqual([{ email: stored }, { email: stored }]);
      // These orders are open, so erase lists them. This shows that it found the address.
      const erased = await shop.command(['erase', given, '--by', 'Ada']);
      expect(erased).toMatchObject({ exit: 1, err: '' });
      for (const id of ids) expect(erased.out).toContain(id);
      for (const id of ids) expect((await cancel(id)).status).toBe(200);
      expect(await shop.command(['erase', stored, '--by', 'Ada'])).toMatchObject({ exit: 0, err: '' });
      const left = await shop.database.query('SELECT 1 FROM orders WHERE email = $1', [stored]);
      expect(left).toEqual([]);
    },
  );

  test('in a form is trimmed', async () => {
    const form = { email: ' form@example.com ', sku: 'djembe' };
    expect((await shop.request('POST', '/checkout', { form })).status).toBe(303);
    expect(await shop.database.query(`SELECT email FROM orders WHERE email LIKE '%form@%'`)).toEqual([
      { email: 'form@example.com' },
    ]);
  });

  const doors: [string, (email: string) => ReturnType<typeof shop.request>][] = [
    ['a checkout', (email) => buy(basketOf(email))],
    ['an order of the shop', (email) => post('/orders', { ...basic, email })],
  ];
  test.each(doors)('in another alphabet is refused by %s, with the form to write instead', async (_name, call) => {
    const { status, body } = await call('ada@münchen.de');
    expect(status).toBe(422);
    const { errors } = body as ProblemBody;
    expect(errors).toMatchObject([{ path: 'email', message: expect.stringContaining('xn--mnchen-3ya.de') }]);
  });

  test.each(['ada@localhost', 'ada@@x.de', 'ada@-x.de', 'a..b@x.de', 'ada', '@x.de', 'a b@x.de', ' '])(
    'like %j is refused by checkout and orders',
    async (email) => {
      for (const [, call] of doors) {
        const { errors } = expectProblem(await call(email), 422, 'invalid-input');
        expect(errors).toMatchObject([{ path: 'email' }]);
      }
    },
  );
});
