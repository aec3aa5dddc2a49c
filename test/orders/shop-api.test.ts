import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { eventually, post, startProgram, type TestProgram } from '../support/program.ts';

// What the shop's own system does with its orders: it places them again, finds them, lists them, and cancels
// them.

const TOKEN = 'shop-token-for-tests';
const env = { SHOP_API_TOKEN: TOKEN, STOREFRONT_RETURN_URL: 'https://a.example/,https://b.example/' };
let shop: TestProgram;
let nodes: TestProgram[];
beforeAll(async () => {
  shop = await startProgram({ env });
  const databaseUrl = shop.program.database.pool.options.connectionString ?? '';
  const other = { env, databaseUrl, gatewayUrl: shop.sandbox.url };
  nodes = [shop, ...(await Promise.all([1, 2, 3].map(() => startProgram(other))))];
});
afterAll(async () => {
  for (const node of nodes.reverse()) await node.close();
});

type View = { orderId: string; status: string; externalId: string | null; metadata: object; amount: string };
const authorization = { authorization: `Bearer ${TOKEN}` };
const place = (body: object, node = shop) => post(`${node.origin}/orders`, body, authorization);
const placed = async (body: object): Promise<View> => (await (await place(body)).json()) as View;
const cancel = (orderId: string, reason = 'sold out', node = shop) =>
  post(`${node.origin}/orders/${orderId}/cancel`, { reason }, authorization);
const list = (query: string) => fetch(`${shop.origin}/orders?${query}`, { headers: authorization });
const listed = async (query: string) =>
  (await (await list(query)).json()) as { orders: View[]; next: string | null };
const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);
const pay = (reference: string, body: object = {}) =>
  shop.hand(`transactions/${reference}/pay`, { notify: false, ...body });
const comeBack = (reference: string) =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
const contradictionsOf = async (orderId: string) =>
  (await explain(shop.program.database, orderId))?.orderDetail.contradictions;
const journalOf = (orderId: string) =>
  sql<{ event: string; cause: string; detail: object }>(
    'SELECT event, cause, detail FROM journal WHERE order_id = $1 ORDER BY seq',
    orderId,
  );

const line = { description: 'Saffron, 5 g', unitAmount: '7.25', quantity: 2 };
const order = { email: 'ada@example.com', currency: 'NGN', lines: [line] };
const full = {
  ...order,
  metadata: { cart: '7', channel: 'kiosk' },
  returnUrl: 'https://b.example/',
  payBy: new Date(Date.now() + 86_400_000).toISOString(),
};

describe('POST /orders may be repeated', () => {
  test('the same order again is the order as it stands now', async () => {
    const first = await placed({ ...full, externalId: 'R-1' });
    const again = await place({
      ...full,
      metadata: { channel: 'kiosk', cart: '7' },
      payBy: full.payBy.replace('Z', '+00:00'),
      externalId: 'R-1',
    });
    expect([again.status, await again.json()]).toEqual([200, first]);
    const { reference } = await shop.checkout({ orderId: first.orderId });
    await pay(reference);
    await comeBack(reference);
    const paid = await place({ ...full, externalId: 'R-1' });
    expect([paid.status, await paid.json()]).toMatchObject([200, { orderId: first.orderId, status: 'paid' }]);
  });

  test.each([
    ['a line', { lines: [{ ...line, description: 'Saffron, 6 g' }] }],
    ['a quantity', { lines: [{ ...line, quantity: 3 }] }],
    ['a currency', { currency: 'USD' }],
    ['an e-mail address', { email: 'bola@example.com' }],
    ['metadata', { metadata: { cart: '8', channel: 'kiosk' } }],
    ['a return address', { returnUrl: 'https://a.example/' }],
    ['no return address', { returnUrl: undefined }],
    ['a deadline', { payBy: new Date(Date.now() + 3_600_000).toISOString() }],
    ['no deadline', { payBy: undefined }],
  ])(
    'another %s is another order, and the answer names the one that has the number',
    async (what, change) => {
      const externalId = `O-${what}`;
      const { orderId } = await placed({ ...full, externalId });
      const answer = await place({ ...full, externalId, ...change });
      expect([answer.status, await answer.json()]).toMatchObject([
        409,
        { type: '/problems/external-id-taken', orderId },
      ]);
    },
  );

  test('twenty at once over four processes are one order', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => place({ ...full, externalId: 'R-2' }, nodes[at % 4])),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
    const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as View).orderId));
    expect(new Set(ids).size).toBe(1);
  });

  test('after an erasure everything else still counts', async () => {
    const { orderId } = await placed({ ...order, externalId: 'R-3', email: 'chi@example.com' });
    expect((await cancel(orderId)).status).toBe(200);
    await sql(`SELECT erase_email('chi@example.com', 'Ngozi', 'asked')`);
    const again = await place({ ...order, externalId: 'R-3', email: 'chi@example.com' });
    expect([again.status, await again.json()]).toMatchObject([200, { orderId }]);
    const other = { ...order, externalId: 'R-3', lines: [{ ...line, quantity: 1 }] };
    expect((await place(other)).status).toBe(409);
  });

  test('a deadline that has passed since does not make it another order', async () => {
    const { orderId } = await placed({ ...full, externalId: 'R-4' });
    await sql(
      `UPDATE orders SET created_at = now() - interval '2 days', pay_by = now() - interval '1 hour' WHERE id = $1`,
      orderId,
    );
    expect((await place({ ...full, externalId: 'R-4' })).status).toBe(200);
  });

  test.each([
    ['in the past', -1_000],
    ['nine days away', 9 * 86_400_000],
  ])('a deadline %s is refused', async (_name, ms) => {
    const answer = await place({ ...order, payBy: new Date(Date.now() + ms).toISOString() });
    expect([answer.status, await answer.json()]).toMatchObject([422, { errors: [{ path: 'payBy' }] }]);
  });
});

describe('lines and metadata', () => {
  test('a discount and a gift: the total is what is paid, and every page copes', async () => {
    const lines = [
      line,
      { description: 'Loyal customer', unitAmount: '-2.50', quantity: 1 },
      { description: 'A spoon', unitAmount: '0.00', quantity: 1 },
    ];
    const { orderId, amount } = await placed({ ...order, lines });
    expect(amount).toBe('12.00');
    const { reference } = await shop.checkout({ orderId });
    await pay(reference);
    await comeBack(reference);
    const seen = (await (await fetch(`${shop.origin}/orders/${orderId}`)).json()) as object;
    expect(seen).toMatchObject({ status: 'paid', lines });
    expect(await (await fetch(`${shop.origin}/shop/orders/${orderId}`)).text()).toContain('-NGN 2.50');
    expect(await contradictionsOf(orderId)).toEqual([]);
  });

  test('what the catalogue sells costs money', async () => {
    const { orderId } = await shop.checkout();
    const line = `INSERT INTO order_lines (order_id, position, sku, description, unit_amount, quantity)
      VALUES ($1, 2, 'tote', 'a gift', 0, 1)`;
    await expect(sql(line, orderId)).rejects.toThrow('goods_cost_money');
  });

  test('metadata comes back wherever the order is', async () => {
    const { orderId, metadata } = await placed({ ...full, externalId: 'M-1' });
    expect(metadata).toEqual(full.metadata);
    const seen = (await (await fetch(`${shop.origin}/orders/${orderId}`)).json()) as object;
    expect(seen).toMatchObject({ metadata: full.metadata, payBy: full.payBy });
    expect(seen).not.toHaveProperty('externalId');
    expect((await listed('externalId=M-1')).orders).toMatchObject([{ metadata: full.metadata }]);
    const told = (await explain(shop.program.database, orderId))?.text.replace(/\s+/g, ' ');
    expect(told).toContain('channel: kiosk');
    expect(await (await fetch(`${shop.origin}/admin/orders/${orderId}`)).text()).toContain('kiosk');
  });

  test.each<[string, object]>([
    ['21 texts', Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 'v']))],
    ['a long name', { ['k'.repeat(41)]: 'v' }],
    ['a long text', { k: 'v'.repeat(501) }],
    ['a control character', { k: 'a\u0000' }],
    ['half a surrogate pair', { k: '\ud800' }],
    ['a number', { k: 5 }],
  ])('%s is refused', async (_name, metadata) => {
    expect((await place({ ...order, metadata })).status).toBe(422);
  });
});

test('half a surrogate pair is refused wherever the shop gives a text', async () => {
  const half = 'x\ud800';
  const { orderId } = await placed(order);
  const refund = { amount: '1', reason: half };
  const answers = [
    await place({ ...order, externalId: half }),
    await place({ ...order, lines: [{ ...line, description: half }] }),
    await cancel(orderId, half),
    await post(`${shop.origin}/orders/${orderId}/refunds`, refund, authorization),
  ];
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
});

describe('GET /orders', () => {
  test('one order by the number of the shop, or none', async () => {
    const { orderId } = await placed({ ...order, externalId: 'L-1' });
    expect(await listed('externalId=L-1')).toMatchObject({
      orders: [{ orderId, externalId: 'L-1' }],
      next: null,
    });
    expect(await listed('externalId=L-2')).toEqual({ orders: [], next: null });
  });

  test('pages, newest first, that stand still while orders come', async () => {
    const since = encodeURIComponent(
      (await sql<{ at: Date }>('SELECT now() AS at'))[0]?.at.toISOString() ?? '',
    );
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.unshift((await placed(order)).orderId);
    const first = await listed(`since=${since}&limit=2`);
    await placed(order);
    const second = await listed(`since=${since}&limit=2&after=${first.next ?? ''}`);
    const third = await listed(`since=${since}&limit=2&after=${second.next ?? ''}`);
    expect([first, second, third].map((page) => page.orders.map(({ orderId }) => orderId))).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
    ]);
    expect(third.next).toBeNull();
    await cancel(ids[3] ?? '');
    expect((await listed(`since=${since}&status=cancelled`)).orders).toMatchObject([{ orderId: ids[3] }]);
  });

  test.each([
    'status=gone',
    'since=yesterday',
    'after=x',
    `after=${'x'.repeat(24)}`,
    'limit=0',
    'limit=201',
    'page=2',
  ])('422 for %s', async (query) => {
    expect((await list(query)).status).toBe(422);
  });

  test('is for the shop alone', async () => {
    expect((await fetch(`${shop.origin}/orders?limit=1`)).status).toBe(401);
  });
});

describe('POST /orders/:orderId/cancel', () => {
  test('ends an order nobody has begun to pay; again is the same; the journal says who and why', async () => {
    const { orderId } = await placed(order);
    const answer = await cancel(orderId, 'sold out');
    expect([answer.status, await answer.json()]).toMatchObject([200, { orderId, status: 'cancelled' }]);
    expect((await cancel(orderId, 'another reason')).status).toBe(200);
    expect(await journalOf(orderId)).toMatchObject([
      { event: 'order-placed' },
      { event: 'order-cancelled', cause: 'shop', detail: { was: 'pending', reason: 'sold out' } },
    ]);
    expect(await sql('SELECT cancelled_by, cancel_reason FROM orders WHERE id = $1', orderId)).toEqual([
      { cancelled_by: 'shop', cancel_reason: 'sold out' },
    ]);
    expect((await post(`${shop.origin}/checkout`, { orderId })).status).toBe(409);
    expect(await contradictionsOf(orderId)).toEqual([]);
  });

  test('asks the service first: what has been paid is paid', async () => {
    const { orderId, reference } = await shop.checkout();
    await pay(reference);
    const answer = await cancel(orderId);
    expect([answer.status, await answer.json()]).toMatchObject([409, { type: '/problems/already-paid' }]);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  });

  test('also what another card has paid after one was declined', async () => {
    const { orderId, reference } = await shop.checkout();
    await shop.hand(`transactions/${reference}/fail`, { notify: false });
    await comeBack(reference);
    await pay(reference);
    expect((await cancel(orderId)).status).toBe(409);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'paid' }]);
  });

  test('cancels nothing while the service cannot be asked, and does once it can', async () => {
    const { orderId } = await shop.checkout();
    await shop.hand('outage', { status: 503 });
    const answer = await cancel(orderId);
    await shop.hand('outage', { status: null });
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { type: '/problems/payment-service-unavailable', orderId },
    ]);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'pending' }]);
    await eventually(async () => (await cancel(orderId)).status === 200);
  });

  test('money that comes later is seen, is in suspense, and pays nothing', async () => {
    const { orderId, reference } = await shop.checkout();
    expect((await cancel(orderId)).status).toBe(200);
    const [watched] = await sql(
      `SELECT status, next_check_at > now() AS next FROM payments WHERE reference = $1`,
      reference,
    );
    expect(watched).toEqual({ status: 'open', next: true });
    await pay(reference);
    await comeBack(reference);
    expect(await sql('SELECT class FROM suspense_items WHERE order_id = $1', orderId)).toEqual([
      { class: 'paid_after_cancel' },
    ]);
    expect(await sql('SELECT status FROM orders WHERE id = $1', orderId)).toEqual([{ status: 'cancelled' }]);
    expect(await contradictionsOf(orderId)).toEqual([]);
  });

  test('what the service says only now is read first; a review may then be cancelled, and its money waits', async () => {
    const { orderId, reference } = await shop.checkout();
    await pay(reference, { amount: '3' });
    const answer = await cancel(orderId);
    expect([answer.status, await answer.json()]).toMatchObject([409, { type: '/problems/under-review' }]);
    expect((await cancel(orderId)).status).toBe(200);
    expect(
      await sql(
        `SELECT o.status, s.class, s.closed_at FROM orders o JOIN suspense_items s ON s.order_id = o.id
        WHERE o.id = $1`,
        orderId,
      ),
    ).toEqual([{ status: 'cancelled', class: 'underpaid', closed_at: null }]);
    expect(await contradictionsOf(orderId)).toEqual([]);
  });

  test('ten cancels, payments and webhooks at once over four processes: one truth', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { orderId, reference } = await shop.checkout();
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, at) => {
          const node = nodes[at % 4] ?? shop;
          if (at === 3) await pay(reference);
          return at % 2 === 0
            ? cancel(orderId, 'at once', node)
            : fetch(`${node.origin}/checkout/return/${reference}`, { redirect: 'manual' });
        }),
      );
      await comeBack(reference);
      const [end] = await sql<{ status: string; releases: bigint; suspense: bigint }>(
        `SELECT status, (SELECT count(*) FROM releases WHERE order_id = o.id) AS releases,
           (SELECT count(*) FROM suspense_items WHERE order_id = o.id) AS suspense FROM orders o WHERE id = $1`,
        orderId,
      );
      expect([
        { status: 'paid', releases: 1n, suspense: 0n },
        { status: 'cancelled', releases: 0n, suspense: 1n },
      ]).toContainEqual(end);
      expect(answers.every(({ status }) => status < 500)).toBe(true);
      expect((await journalOf(orderId)).filter(({ event }) => event === 'order-cancelled').length).toBe(
        end?.status === 'cancelled' ? 1 : 0,
      );
      expect(await contradictionsOf(orderId)).toEqual([]);
    }
  });

  test.each<[number, string, object]>([
    [404, 'x'.repeat(24), { reason: 'x' }],
    [404, 'short', { reason: 'x' }],
    [422, 'x'.repeat(24), {}],
    [422, 'x'.repeat(24), { reason: '' }],
  ])('%s for %s with %j', async (status, orderId, body) => {
    expect((await post(`${shop.origin}/orders/${orderId}/cancel`, body, authorization)).status).toBe(status);
  });

  test('is for the shop alone', async () => {
    const { orderId } = await placed(order);
    expect((await post(`${shop.origin}/orders/${orderId}/cancel`, { reason: 'x' })).status).toBe(401);
  });
});
