import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/platform/ids.ts';
import { createGate } from '../support/gate.ts';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';
import { json, startOddService, type OddService } from '../support/service.ts';

// A plain HTML form sends neither script nor header. A double click posts it twice, and the browser shows the
// second answer: there must be one order, and both must lead to its page.

let shop: TestProgram;
let service: OddService;
beforeAll(async () => {
  service = await startOddService();
  shop = await startProgram({ gatewayUrl: service.url.origin });
});
afterAll(async () => {
  await shop.close();
  await service.close();
});

const query = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

type Form = { email: string; sku?: string; from?: string; intent?: string; headers?: Record<string, string> };

function send({ email, sku = 'ankara-tote', from, intent, headers = {} }: Form): Promise<Response> {
  return fetch(`${shop.origin}/checkout`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(from !== undefined && { 'x-forwarded-for': from }),
      ...headers,
    },
    body: new URLSearchParams({ email, sku, quantity: '1', ...(intent && { intent }) }).toString(),
    redirect: 'manual',
  });
}

const pageOf = (answer: Response): string | null => answer.headers.get('location');
const ordersOf = (email: string): Promise<{ id: string }[]> =>
  query<{ id: string }>('SELECT id FROM orders WHERE email = $1 ORDER BY created_at', email);
const anEmail = (): string => `${newId().toLowerCase()}@example.com`;
const opensAPage = (): void => {
  service.answer = (req, res) => {
    json({ data: `https://pay.example.com/${newId()}` })(req, res);
  };
};

describe('G14: one form posted more than once at once', () => {
  test.each([2, 20])('%i times: one order, and every answer is its page', async (times) => {
    const opened = createGate();
    service.answer = (req, res) => {
      void opened.opened.then(() => {
        json({ data: `https://pay.example.com/${newId()}` })(req, res);
      });
    };
    const email = anEmail();
    const answers = Array.from({ length: times }, () => send({ email }));
    // All of them are under way while the service has not answered the first one.
    await eventually(async () => (await ordersOf(email)).length > 0);
    opened.open();
    const pages = new Set((await Promise.all(answers)).map(pageOf));
    expect(pages.size).toBe(1);
    expect([...pages][0]).toMatch(/^https:\/\/pay\.example\.com\//);
    expect(await ordersOf(email)).toHaveLength(1);
  });

  test('one after the other, before the browser has taken the cookie of the first: one order', async () => {
    opensAPage();
    const email = anEmail();
    const [first, second] = [await send({ email }), await send({ email })];
    expect(pageOf(second)).toBe(pageOf(first));
    expect(await ordersOf(email)).toHaveLength(1);
  });

  test('after a declined card: the next payment of the same order', async () => {
    opensAPage();
    const email = anEmail();
    const first = await send({ email });
    const [order] = await ordersOf(email);
    await query(`UPDATE payments SET status = 'failed' WHERE order_id = $1`, order?.id);
    const second = await send({ email });
    expect(second.status).toBe(303);
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(await ordersOf(email)).toHaveLength(1);
  });

  test.each([
    ['at once', false],
    ['minutes later, by the cookie of the browser', true],
  ])('of an order under review, %s: refused, and no further order', async (_name, isLater) => {
    opensAPage();
    const email = anEmail();
    const first = await send({ email });
    const [order] = await ordersOf(email);
    await query(`UPDATE payments SET status = 'held' WHERE order_id = $1`, order?.id);
    if (isLater) await query(`UPDATE idempotency_keys SET created_at = now() - interval '5 min'`);
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    const second = await send({ email, headers: isLater ? { cookie } : {} });
    expect([second.status, pageOf(second)]).toEqual([409, null]);
    expect(await ordersOf(email)).toHaveLength(1);
  });
});

test("G14: the shop's own form, as two clicks without script post it: one order, and another browser gets its own", async () => {
  opensAPage();
  const email = anEmail();
  const loaded = async (): Promise<string> => {
    const page = await (await fetch(`${shop.origin}/shop`)).text();
    const [, intent] = /name="intent" value="([A-Za-z0-9]{24})"/.exec(page) ?? [];
    if (intent === undefined) throw new Error('the form has no intent');
    return intent;
  };
  const intent = await loaded();
  const clicks = await Promise.all([send({ email, intent }), send({ email, intent })]);
  expect(new Set(clicks.map(pageOf)).size).toBe(1);
  expect(pageOf(await send({ email, intent: await loaded() }))).not.toBe(pageOf(clicks[0]));
  expect(await ordersOf(email)).toHaveLength(2);
});

describe('G14: forms that are not the same', () => {
  test.each<[string, Partial<Form>, Partial<Form>]>([
    ['another e-mail behind the same address', {}, { email: anEmail() }],
    ['another rendering of the same page', { intent: newId() }, { intent: newId() }],
    ['another thing', {}, { sku: 'jollof-kit' }],
    ['another network', { from: '203.0.113.7' }, { from: '198.51.100.9' }],
  ])('%s: two orders', async (_name, one, other) => {
    opensAPage();
    const email = anEmail();
    const answers = await Promise.all([send({ email, ...one }), send({ email, ...other })]);
    expect(new Set(answers.map(pageOf)).size).toBe(2);
    expect((await ordersOf(email)).length + (await ordersOf(other.email ?? '')).length).toBe(2);
  });

  test('half a minute later and without a cookie: a second order', async () => {
    opensAPage();
    const email = anEmail();
    const first = await send({ email });
    await query(`UPDATE idempotency_keys SET created_at = now() - interval '31 s'`);
    const second = await send({ email });
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(await ordersOf(email)).toHaveLength(2);
  });

  test('a key that a client sends is its own affair: two keys, two orders', async () => {
    opensAPage();
    const email = anEmail();
    const keyed = (): Promise<Response> => send({ email, headers: { 'idempotency-key': newId() } });
    const [one, two] = [await keyed(), await keyed()];
    expect(pageOf(one)).not.toBe(pageOf(two));
  });
});

test('G14: the same form once its order is paid is a second wish', async () => {
  const plain = await startProgram();
  try {
    const post = (): Promise<Response> =>
      fetch(`${plain.origin}/checkout`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'email=ada%40example.com&sku=ankara-tote&quantity=1',
        redirect: 'manual',
      });
    const first = await post();
    const [paid] = await plain.program.database.query<{ reference: string }>(
      'SELECT reference FROM payments',
    );
    const reference = paid?.reference ?? '';
    await plain.hand(`transactions/${reference}/pay`, { notify: false });
    await fetch(`${plain.origin}/checkout/return/${reference}`, { redirect: 'manual' });
    const second = await post();
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(pageOf(second)).not.toBe(pageOf(first));
    expect(await plain.program.database.query('SELECT status FROM orders ORDER BY created_at')).toEqual([
      { status: 'paid' },
      { status: 'pending' },
    ]);
  } finally {
    await plain.close();
  }
});
