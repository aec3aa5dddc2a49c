import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buy, happens, saying, stands } from '../money/support.ts';
import { eventually } from '../support/eventually.ts';
import { startShop, type Checkout, type Reply, type Shop } from '../support/shop.ts';

// The console as a browser without scripts uses it.

const KEYS = { Ngozi: 'ngozi_key_of_no_money', Tunde: 'tunde_key_of_no_money', Vera: 'vera_key_of_no_money' };
type Person = keyof typeof KEYS;
const OPERATORS = `Ngozi:operator:${KEYS.Ngozi},Tunde:clerk:${KEYS.Tunde},Vera:viewer:${KEYS.Vera}`;

let shop: Shop;
let order: string;
const cookies = {} as Record<Person, string>;
beforeAll(async () => {
  shop = await startShop({ env: { OPERATORS, SHOP_TIME_ZONE: 'Africa/Lagos' } });
  ({ orderId: order } = await buy(shop, { amount: 9000 }));
  for (const person of Object.keys(KEYS) as Person[]) {
    const { headers } = await shop.request('POST', '/admin/login', { form: { key: KEYS[person], to: '/admin' } });
    cookies[person] = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  }
});
afterAll(() => shop.stop());

const open = (person: Person, path: string): Promise<Reply<string>> =>
  shop.request('GET', path, { headers: { cookie: cookies[person] } });

const send = (person: Person, path: string, form: Record<string, string>, more = {}): Promise<Reply<string>> =>
  shop.request('POST', path, { form, headers: { cookie: cookies[person], 'sec-fetch-site': 'same-origin', ...more } });

/** The hidden fields of the page's first form for this action. */
async function formOf(person: Person, path: string, what: string): Promise<Record<string, string>> {
  const { body } = await open(person, path);
  const form = body.split('<form').find((one) => one.includes(`name="do" value="${what}"`)) ?? '';
  const fields = [...form.matchAll(/type="hidden" name="([\w-]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

const PAGES: [path: string, title: RegExp][] = [
  ['/admin', /\d{4}$/],
  ['/admin/cases', /^1 thing to do$/],
  ['/admin/cases?show=done', /^Done$/],
  ['/admin/orders', /^Orders$/],
  ['/admin/orders?day=this-month&tab=needs', /^Orders$/],
  ['/admin/orders/ORDER', /^1 × Ankara tote bag · NGN 8,500.00$/],
  ['/admin/orders/ORDER/proof', /^Order \w{24}$/],
  ['/admin/find?q=nobody', /^Orders found$/],
  ['/admin/money', /^Money in \w+ \d{4}$/],
  ['/admin/checks', /^Checks$/],
  ['/admin/activity', /^Activity$/],
];

test.each(PAGES)('%s opens with its heading and without a script', async (path, title) => {
  const { status, body } = await open('Ngozi', path.replace('ORDER', order));
  expect(status).toBe(200);
  expect(/<h1>([^<]*)<\/h1>/.exec(body)?.[1]).toMatch(title);
  expect(body).not.toContain('<script');
});

test('the stylesheet needs no log-in', async () => {
  const { status, headers } = await shop.request('GET', '/style.css');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
});

test('a visitor must log in with a correct key, and the log-in leads only to pages of the console', async () => {
  const { status, headers } = await shop.request('GET', '/admin/orders?tab=paid');
  expect([status, headers.get('location')]).toEqual([303, '/admin/login?to=%2Fadmin%2Forders%3Ftab%3Dpaid']);
  const form = { key: 'a wrong key', to: '/admin' };
  expect((await shop.request<string>('POST', '/admin/login', { form })).status).toBe(401);
  const away = { key: KEYS.Ngozi, to: 'https://evil.example/admin' };
  expect((await shop.request('POST', '/admin/login', { form: away })).headers.get('location')).toBe('/admin');
});

test('the search finds an order by a part of its e-mail address and opens it at once', async () => {
  const { status, headers } = await open('Ngozi', '/admin/find?q=ADA%40');
  expect([status, headers.get('location')]).toEqual([303, `/admin/orders/${order}`]);
});

test('a viewer sees no forms and only masked addresses, and cannot act', async () => {
  const { body } = await open('Vera', `/admin/orders/${order}`);
  expect(body).not.toContain('name="do"');
  expect(body).toContain('a***@example.com');
  const [, form = ''] = /name="form" value="([^"]*)"/.exec(body) ?? [];
  expect((await send('Vera', `/admin/orders/${order}`, { form, do: 'note', order, note: 'x' })).status).toBe(403);
});

test('a clerk sees the forms of an operator disabled, and cannot send them', async () => {
  const { body } = await open('Tunde', `/admin/orders/${order}`);
  expect(body).toContain('needs an operator (Ngozi)');
  const form = await formOf('Tunde', `/admin/orders/${order}`, 'cases decide');
  const { status } = await send('Tunde', `/admin/orders/${order}`, { ...form, as: 'refund', number: 'RF-1' });
  expect(status).toBe(403);
});

test('a form with a wrong token or from another site does nothing', async () => {
  const path = `/admin/orders/${order}`;
  const fields = await formOf('Ngozi', path, 'note');
  expect((await send('Ngozi', path, { ...fields, note: 'x', form: 'another' })).status).toBe(403);
  expect((await send('Ngozi', path, { ...fields, note: 'x' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect(await shop.database.query(`SELECT FROM journal WHERE what = 'note'`)).toEqual([]);
});

test('a decision needs a confirmation, keeps the typed values, and is made only once', async () => {
  const path = `/admin/orders/${order}`;
  const fields = await formOf('Ngozi', path, 'cases decide');
  const nothing = await send('Ngozi', path, { ...fields, as: 'refund' });
  expect([nothing.status, nothing.body]).toEqual([422, expect.stringContaining('Fill this in.')]);
  const changed = await send('Ngozi', path, { ...fields, as: 'refund', number: 'RF-1', seen: 'another' });
  expect([changed.status, changed.body]).toEqual([409, expect.stringContaining('value="RF-1"')]);
  const typed = { ...fields, as: 'refund', number: 'RF-1' };
  const sure = await send('Ngozi', path, typed);
  expect(sure.body).toContain('<h1>Refund of NGN 500.00 for this order?</h1>');
  expect(sure.body).toContain('ada@example.com will read:');
  expect((await send('Ngozi', path, { ...typed, sure: 'no' })).body).toContain('value="RF-1"');
  const done = await send('Ngozi', path, { ...typed, sure: 'yes' });
  expect(done.status).toBe(303);
  expect(decodeURIComponent(done.headers.get('set-cookie') ?? '')).toContain('number RF-1. The order is paid.');
  expect((await send('Ngozi', path, { ...typed, sure: 'yes' })).status).toBe(409);
  expect((await open('Ngozi', '/admin/activity')).body).toContain('refunded NGN 500.00, number RF-1');
});

test('an amount that cannot be read is marked, and its form stays open with what was typed', async () => {
  const { orderId } = await buy(shop);
  const path = `/admin/orders/${orderId}`;
  const fields = await formOf('Ngozi', path, 'orders refund');
  for (const amount of ['1,000', '1.000', 'ten', '10.001', '0']) {
    const { status, body } = await send('Ngozi', path, { ...fields, amount, number: 'RF-2' });
    expect([amount, status]).toEqual([amount, 422]);
    expect(body).toContain(`value="${amount}"`);
    expect(body).toMatch(/<details open><summary>Write down a refund<[^]*This must be an amount without separators/);
  }
  const { body } = await send('Ngozi', path, { ...fields, amount: '10,50', number: 'RF-2' });
  expect(body).toContain('<h1>Refund of NGN 10.50 for this order?</h1>');
});

test('a refund number that was noted before is pointed out', async () => {
  const { orderId } = await buy(shop);
  const path = `/admin/orders/${orderId}`;
  const refund = { ...(await formOf('Ngozi', path, 'orders refund')), amount: '10.00' };
  expect((await send('Ngozi', path, { ...refund, number: 'RF-3' })).body).not.toContain(
    'only if it is the same refund',
  );
  const { body } = await send('Ngozi', path, { ...refund, number: 'RF-1' });
  expect(body).toMatch(new RegExp(`The number RF-1 was noted today at .* for the order ${order.slice(0, 8)}\\.`));
});

describe('an order that was paid and then charged back', () => {
  let reversed: Checkout;
  let path: string;
  beforeAll(async () => {
    reversed = await buy(shop);
    path = `/admin/orders/${reversed.orderId}`;
    await happens(shop, reversed.reference, 'reverse');
    await stands(shop, reversed.orderId, 'paid', saying(/^reversed/));
  });

  test('is the first thing to do, because its money is missing', async () => {
    await buy(shop, { amount: 100 });
    await eventually(async () => (await open('Ngozi', '/admin/cases')).body.includes('<h1>2 things to do</h1>'));
    const links = [...(await open('Ngozi', '/admin/cases')).body.matchAll(/href="\/admin\/orders\/(\w{24})"/g)];
    expect(links[0]?.[1]).toBe(reversed.orderId);
  });

  test('has a link to the proof for the bank, and offers no refund of money that left', async () => {
    const { body } = await open('Ngozi', path);
    expect(body).not.toContain('Refund it at the payment service first');
    expect(body).not.toContain('can still be refunded');
    expect(body.indexOf('Proof for the bank')).toBeLessThan(body.indexOf('The money'));
  });

  test('is sent to shipping again only after a person said why and confirmed it', async () => {
    const fields = await formOf('Ngozi', path, 'messages resend');
    expect((await send('Ngozi', path, fields)).status).toBe(422);
    const typed = { ...fields, note: 'the bank erred' };
    const { body } = await send('Ngozi', path, typed);
    expect(body).toMatch(/Send this order without its money\?[^]*NGN 8,500.00 of this order is missing/);
    expect((await send('Ngozi', path, { ...typed, sure: 'yes' })).status).toBe(303);
    const [row] = await shop.database.query(
      `SELECT lifted_by FROM messages WHERE type = 'order.paid' AND order_id = $1`,
      [reversed.orderId],
    );
    expect(row).toEqual({ lifted_by: 'Ngozi' });
  });

  test('has its customer on the page of the comparison that found it', async () => {
    await send('Ngozi', '/admin/checks', await formOf('Ngozi', '/admin/checks', 'compare'));
    await eventually(async () => (await open('Ngozi', '/admin/checks')).body.includes('Show the newest comparison'));
    const [, newest = ''] = /href="(\/admin\/checks\/\d+)"/.exec((await open('Ngozi', '/admin/checks')).body) ?? [];
    const { body } = await open('Ngozi', newest);
    expect(body).toMatch(/<h2>The sums<[^]*<h2>Payments that differ<[^]*ada@example.com[^]*NGN 8,500.00/);
  });

  test('is found by a part of its reference, and the amount finds all orders of that amount', async () => {
    const part = reversed.reference.slice(4, 16);
    expect((await open('Ngozi', `/admin/find?q=${part}`)).headers.get('location')).toBe(path);
    for (const amount of ['8500', '8,500.00', 'ngn 8,500'])
      expect((await open('Ngozi', `/admin/find?q=${encodeURIComponent(amount)}`)).body).toContain(path);
    expect((await open('Ngozi', '/admin/find?q=8501')).body).toContain('No order matches');
  });
});

test('activity shows who asked the payment service and who started a comparison', async () => {
  const path = `/admin/orders/${order}`;
  await send('Tunde', path, await formOf('Tunde', path, 'ask'));
  const { body } = await open('Ngozi', '/admin/activity?who=Tunde');
  expect(body).toContain('asked the payment service');
  expect((await open('Ngozi', '/admin/activity')).body).toContain('compared all payments with the payment service');
});

test('the confirmation of asking for the rest names what came', async () => {
  const { orderId } = await buy(shop, { amount: 6000 });
  const path = `/admin/orders/${orderId}`;
  await eventually(async () => (await open('Ngozi', path)).body.includes('Ask the customer to pay the rest'));
  const fields = { ...(await formOf('Ngozi', path, 'cases decide')), as: 'ask-rest', note: 'a friend' };
  const { body } = await send('Ngozi', path, fields);
  expect(body).toContain('We received NGN 6,000.00, a part of the price. Please pay the rest.');
  expect(body).not.toContain('NGN 0.00');
});

test('money without an order is given to an order after a confirmation', async () => {
  const reference = 'unmatched0unmatched0unmatc';
  const payment = { create: true, email: 'eve@example.com', amount: 8500, currency: 'NGN', notify: false };
  await shop.sandboxPost(`/transactions/${reference}/pay`, payment);
  await shop.command(['reconcile']);
  const { orderId } = await shop.checkout();
  const path = (await open('Ngozi', `/admin/find?q=${reference}`)).headers.get('location') ?? '';
  const fields = await formOf('Ngozi', path, 'after-restore');
  expect((await send('Ngozi', path, fields)).status).toBe(422);
  const sure = await send('Ngozi', path, { ...fields, order: orderId.slice(0, 8) });
  expect(sure.body).toContain('<h1>Does this money belong to this order?</h1>');
  const order = async () => (await open('Ngozi', `/admin/orders/${orderId}`)).body;
  expect(await order()).not.toContain(reference);
  expect((await send('Ngozi', path, { ...fields, order: orderId, sure: 'yes' })).status).toBe(303);
  expect(await order()).toContain(reference);
});

test('if a part of the surplus was reversed, the console asks for a refund of the rest only', async () => {
  const { orderId, reference } = await buy(shop, { amount: 9000 });
  await happens(shop, reference, 'reverse', { amount: 200 });
  const path = `/admin/orders/${orderId}`;
  await eventually(async () => (await open('Ngozi', path)).body.includes('I refunded NGN 300.00'));
  const fields = { ...(await formOf('Ngozi', path, 'cases decide')), number: 'RF-9' };
  const { body } = await send('Ngozi', path, fields);
  expect(body).toContain('<h1>Refund of NGN 300.00 for this order?</h1>');
  expect(body).not.toContain('NGN 500.00');
});

test('a message that a person holds is sent again only after a confirmation that names the person', async () => {
  const { orderId } = await shop.checkout();
  const reference = (
    await shop.database.query<{ reference: string }>('SELECT reference FROM payments WHERE order_id = $1', [orderId])
  )[0]?.reference;
  await happens(shop, reference ?? '', 'pay');
  const message = () =>
    shop.database.query<{ id: string; held_by: string | null }>(
      `SELECT id, held_by FROM messages WHERE order_id = $1 AND type = 'order.paid'`,
      [orderId],
    );
  await eventually(async () => (await message()).length === 1);
  await shop.database.query(`UPDATE messages SET held_by = 'ada', sent_at = NULL WHERE order_id = $1`, [orderId]);
  const path = `/admin/orders/${orderId}`;
  const fields = await formOf('Tunde', path, 'messages resend');
  const { body } = await send('Tunde', path, fields);
  expect(body).toMatch(/Send this order although somebody holds it\?[^]*Held by[^]*ada/);
  expect((await message())[0]?.held_by).toBe('ada');
});
