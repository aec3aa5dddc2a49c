import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { LISTS } from '../../src/commands/work-lists.ts';
import { createDueEvents } from '../../src/fulfilment/due-deliveries.ts';
import { EVENT_TYPES, ROW_TYPES, type EventType } from '../../src/fulfilment/event.ts';
import { createHttpReceiver } from '../../src/fulfilment/http-receiver.ts';
import { MESSAGES } from '../../src/fulfilment/message.ts';
import type { Queryable } from '../../src/platform/database/database.ts';
import { explain } from '../../src/reporting/explain.ts';
import { Secret } from '../../src/platform/secret.ts';
import { reopenOrder } from '../../src/orders/reopen.sql.ts';
import { asOrderId } from '../support/ids.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

// What a receiver hears of beside paid orders: written where it becomes true, sent in order, once each at least.

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
type Message = { type: keyof typeof MESSAGES; timestamp: string; data: Record<string, unknown> };
let shop: TestProgram;
let server: Server;
let url: URL;
let received: { id: string; body: string; message: Message }[] = [];
let answerTo: (message: Message) => number = () => 204;

beforeAll(async () => {
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = req.headers as IncomingHttpHeaders & Record<string, string>;
      const message = new Webhook(SECRET).verify(body, headers) as Message;
      received.push({ id: String(headers['webhook-id']), body, message });
      res.writeHead(answerTo(message)).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const env = {
    FULFILMENT_URL: url.href,
    FULFILMENT_SECRET: SECRET,
    FULFILMENT_EVENTS: EVENT_TYPES.join(','),
  };
  shop = await startProgram({ env });
  // From its first look on the types are wanted.
  await shop.program.dueEvents.runOnce();
});
afterAll(async () => {
  await shop.close();
  await new Promise((resolve) => server.close(resolve));
});
afterEach(async () => {
  answerTo = () => 204;
  await sql(`UPDATE releases SET delivery = 'delivered', next_check_at = NULL`);
  await sql(`UPDATE events SET delivery = 'delivered', next_check_at = NULL`);
  received = [];
});

const sql = <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
  shop.program.database.query<Row>(text, values);

type Ordered = { orderId: string; reference: string };
const comeBack = ({ reference }: Ordered) =>
  fetch(`${shop.origin}/checkout/return/${reference}`, { redirect: 'manual' });
/** An order after the shopper did something at the service and came back. */
async function ordered(deed: 'pay' | 'fail', body: object = {}): Promise<Ordered> {
  const order = await shop.checkout();
  await shop.hand(`transactions/${order.reference}/${deed}`, { notify: false, ...body });
  await comeBack(order);
  return order;
}

const CANCEL = `UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = 'Ngozi',
  cancel_reason = 'the shopper rang' WHERE id = $1`;
const cancel = (db: Queryable, { orderId }: Ordered) => db.query(CANCEL, [orderId]);
const reopen = ({ orderId }: Ordered) =>
  reopenOrder(shop.program.database, 'test', asOrderId(orderId), { by: 'Ngozi', note: 'she rang again' });
const refund = (db: Queryable, { orderId }: Ordered, id: string, amount: number) =>
  db.query(
    `INSERT INTO refunds (id, order_id, mode, amount, currency, reason, external_id, refunded_by)
     VALUES ($2, $1, 'test', $3, 'NGN', 'broken', $2, 'Ngozi')`,
    [orderId, `re_${id.repeat(24)}`, amount],
  );

const eventsOf = ({ orderId }: Ordered) =>
  sql<{ id: string; type: string; delivery: string }>(
    'SELECT id, type, delivery FROM events WHERE order_id = $1 ORDER BY seq',
    orderId,
  );
const typesOf = async (order: Ordered) => (await eventsOf(order)).map(({ type }) => type);
/** Everything that is due, and what is due after it. */
async function deliver(): Promise<void> {
  for (;;) {
    const { dueReleases, dueEvents } = shop.program;
    if ((await dueReleases.runOnce()) + (await dueEvents.runOnce()) === 0) return;
  }
}
const due = (table: string) => sql(`UPDATE ${table} SET next_check_at = now() WHERE delivery = 'waiting'`);
const told = () => received.map(({ message }) => message.type);

describe('what happens is written where it becomes true', () => {
  test('a common order writes none: its release is the event', async () => {
    expect(await typesOf(await ordered('pay'))).toEqual([]);
  });

  test('an order that fails, is tried again and fails again, tells of both', async () => {
    const { orderId } = await ordered('fail');
    const again = await shop.checkout({ orderId });
    await shop.hand(`transactions/${again.reference}/fail`, { notify: false });
    await comeBack(again);
    expect(await typesOf(again)).toEqual(['order.failed', 'order.failed']);
    await deliver();
    expect(received.map(({ message }) => message.data.status)).toEqual(['failed', 'failed']);
    expect(received[1]?.message.data.reference).toBe(again.reference);
  });

  test('too little: the order is in review and the money in suspense; then a person cancels it', async () => {
    const order = await ordered('pay', { amount: '10.00' });
    await cancel(shop.program.database, order);
    expect(await typesOf(order)).toEqual(['order.review', 'suspense.opened', 'order.cancelled']);
    await deliver();
    const about = { orderId: order.orderId, externalId: null, mode: 'test', currency: 'NGN', metadata: {} };
    const { reference } = order;
    expect(received.map(({ message: { data } }) => data)).toEqual([
      { ...about, status: 'review', amount: '8500.00', reference },
      {
        ...{ ...about, status: 'review', amount: '10.00', reference, class: 'underpaid' },
        suspenseId: expect.stringMatching(/^\d+$/) as unknown,
      },
      { ...about, status: 'cancelled', amount: '8500.00', reference, reason: 'the shopper rang' },
    ]);
  });

  test('refunds tell their sum, and a reversal what no refund explains', async () => {
    const order = await ordered('pay');
    await deliver();
    await refund(shop.program.database, order, 'a', 100_000);
    await refund(shop.program.database, order, 'b', 50_000);
    await shop.hand(`transactions/${order.reference}/reverse`, { notify: false });
    await shop.program.reconcile({ dryRun: false });
    await shop.program.reconcile({ dryRun: false });
    expect(await typesOf(order)).toEqual(['order.refunded', 'order.refunded', 'order.reversed']);
    await deliver();
    expect(told()).toEqual(['order.paid', 'order.refunded', 'order.refunded', 'order.reversed']);
    const about = { status: 'paid', amount: '8500.00', reference: order.reference };
    expect(received.slice(1).map(({ message }) => message.data)).toMatchObject([
      { ...about, refundId: `re_${'a'.repeat(24)}`, refundAmount: '1000.00', refunded: '1000.00' },
      { ...about, refundExternalId: `re_${'b'.repeat(24)}`, refundAmount: '500.00', refunded: '1500.00' },
      { ...about, unexplained: '7000.00' },
    ]);
  });

  test('money of no order here is told of without one', async () => {
    await sql(`INSERT INTO suspense_items (mode, class, reference, amount, currency)
      VALUES ('test', 'unknown_reference', 'foreign', 1234, 'KES')`);
    await deliver();
    expect(received.map(({ message }) => message.data)).toMatchObject([
      {
        orderId: null,
        externalId: null,
        status: null,
        amount: '12.34',
        currency: 'KES',
        reference: 'foreign',
      },
    ]);
    expect(await sql(`SELECT delivery FROM events WHERE order_id IS NULL`)).toEqual([
      { delivery: 'delivered' },
    ]);
  });

  test.each<[EventType, (db: Queryable, order: Ordered) => Promise<unknown>]>([
    ['order.cancelled', cancel],
    [
      'order.expired',
      (db, { reference }) =>
        db.query(`UPDATE payments SET status = 'expired', next_check_at = NULL WHERE reference = $1`, [
          reference,
        ]),
    ],
    [
      'suspense.opened',
      (db, { orderId, reference }) =>
        db.query(
          `INSERT INTO suspense_items (mode, class, reference, order_id, amount, currency)
           VALUES ('test', 'late_payment', $2, $1, 5, 'NGN')`,
          [orderId, reference],
        ),
    ],
  ])('%s is not there when its transaction ends in nothing', async (type, change) => {
    const order = await shop.checkout();
    const { database } = shop.program;
    const undone = database.transaction(async (tx) => {
      await change(tx, order);
      expect(
        (
          await tx.query<{ type: string }>('SELECT type FROM events WHERE order_id = $1', [order.orderId])
        ).map((event) => event.type),
      ).toContain(type);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await eventsOf(order)).toEqual([]);
    await change(database, order);
    expect(await typesOf(order)).toContain(type);
  });

  test('each message is made to its schema', async () => {
    const order = await ordered('pay', { amount: '10.00' });
    await cancel(shop.program.database, order);
    await reopen(order);
    await refund(shop.program.database, await ordered('pay'), 'c', 1);
    await ordered('fail');
    await deliver();
    expect(new Set(told()).size).toBe(7);
    for (const { message } of received)
      expect(MESSAGES[message.type].strict().parse(message)).toEqual(message);
  });

  test('what was cancelled and is reopened tells of it first, in its transaction', async () => {
    const [order, held] = [await ordered('fail'), await ordered('pay', { amount: '10.00' })];
    for (const one of [order, held]) {
      await cancel(shop.program.database, one);
      expect(await reopen(one)).toBe(true);
    }
    expect(await typesOf(order)).toEqual(['order.failed', 'order.cancelled', 'order.reopened']);
    expect((await typesOf(held)).slice(-3)).toEqual(['order.cancelled', 'order.reopened', 'order.review']);
    await deliver();
    const data = received.filter(({ message }) => message.type === 'order.reopened');
    expect(data.map(({ message }) => message.data.status).sort()).toEqual(['pending', 'review']);
  });

  test('what has happened stays: no id is given twice, and no row changes', async () => {
    const order = await ordered('fail');
    const [event] = await eventsOf(order);
    expect(event?.id).toMatch(/^evt_[A-Za-z0-9]{24}$/);
    for (const change of ['data = \'{"status": "paid"}\'', `id = 'evt_${'x'.repeat(24)}'`, 'seq = DEFAULT'])
      await expect(sql(`UPDATE events SET ${change} WHERE id = $1`, event?.id)).rejects.toThrow(/refused/);
    await expect(sql('DELETE FROM events WHERE id = $1', event?.id)).rejects.toThrow(/refused/);
    await expect(sql('TRUNCATE events')).rejects.toThrow(/refused/);
  });
});

describe('the events of one order are sent one after the other', () => {
  test('each waits for the one before it, and another order does not', async () => {
    const order = await ordered('pay', { amount: '10.00' });
    await cancel(shop.program.database, order);
    answerTo = ({ type }) => (type === 'order.review' ? 500 : 204);
    const other = await ordered('fail');
    await deliver();
    expect(told().sort()).toEqual(['order.failed', 'order.review']);
    expect((await eventsOf(order)).map(({ delivery }) => delivery)).toEqual([
      'waiting',
      'waiting',
      'waiting',
    ]);
    expect(await eventsOf(other)).toMatchObject([{ delivery: 'delivered' }]);
    answerTo = () => 204;
    await due('events');
    await deliver();
    expect(told().slice(2)).toEqual(['order.review', 'suspense.opened', 'order.cancelled']);
  });

  test('what happened before the release is sent before it, and what came later after it', async () => {
    const { orderId } = await ordered('fail');
    const again = await shop.checkout({ orderId });
    await shop.hand(`transactions/${again.reference}/pay`, { notify: false });
    await comeBack(again);
    await refund(shop.program.database, again, 'd', 1);
    answerTo = ({ type }) => (type === 'order.failed' ? 500 : 204);
    await deliver();
    expect(told()).toEqual(['order.failed']);
    answerTo = ({ type }) => (type === 'order.paid' ? 500 : 204);
    await due('events');
    await deliver();
    expect(told().slice(1)).toEqual(['order.failed', 'order.paid']);
    answerTo = () => 204;
    await due('releases');
    await deliver();
    expect(told().slice(3)).toEqual(['order.paid', 'order.refunded']);
  });

  test('what was given up holds nothing up', async () => {
    const order = await ordered('pay', { amount: '10.00' });
    answerTo = ({ type }) => (type === 'order.review' ? 410 : 204);
    await deliver();
    expect(told()).toEqual(['order.review', 'suspense.opened']);
    expect((await eventsOf(order)).map(({ delivery }) => delivery)).toEqual(['dead', 'delivered']);
    const [{ id } = { id: '' }] = await eventsOf(order);
    expect(await sql(`SELECT event, alert ->> 'release' AS id FROM alert_states WHERE key = $1`, id)).toEqual(
      [{ event: 'release-given-up', id }],
    );
    answerTo = () => 204;
    expect(await shop.program.redeliver({ idOrOrderId: id, by: 'Ngozi', note: 'mended' })).toBe('due');
    await deliver();
    expect(received[2]).toEqual(received[0]);
    expect(
      await sql(
        `SELECT event, cause FROM journal WHERE order_id = $1 AND event LIKE 'event-%' ORDER BY seq`,
        order.orderId,
      ),
    ).toEqual([
      { event: 'event-dead', cause: 'schedule' },
      { event: 'event-delivered', cause: 'schedule' },
      { event: 'event-redelivery', cause: 'operator:Ngozi' },
      { event: 'event-delivered', cause: 'schedule' },
    ]);
  });
});

describe('at least once, with one id and the same bytes', () => {
  test('also after an attempt that failed, and after the receiver took it and this program did not note it', async () => {
    const order = await ordered('fail');
    answerTo = () => 500;
    await deliver();
    answerTo = () => 204;
    await due('events');
    await deliver();
    // As if the process had ended between the receipt and its commit.
    await sql(
      `UPDATE events SET delivery = 'waiting', next_check_at = now(), leased_until = now() - interval '1 s'
      WHERE order_id = $1`,
      order.orderId,
    );
    await deliver();
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  test('four processes deliver each event, and each in its turn', async () => {
    const orders: Ordered[] = [];
    while (orders.length < 12) orders.push(await ordered('pay', { amount: '10.00' }));
    for (const order of orders) await cancel(shop.program.database, order);
    const { database, alarm, logger } = shop.program;
    const workers = Array.from({ length: 4 }, () => {
      const { receive, close } = createHttpReceiver(url, new Secret(SECRET));
      const parts = { database, mode: 'test' as const, alarm, logger, types: ROW_TYPES };
      return { close, loop: createDueEvents({ ...parts, eventReceiver: receive }) };
    });
    while ((await Promise.all(workers.map(({ loop }) => loop.runOnce()))).some((count) => count > 0));
    await Promise.all(workers.map(({ close }) => close()));
    expect(received).toHaveLength(36);
    expect(new Set(received.map(({ id }) => id)).size).toBe(36);
    for (const { orderId } of orders)
      expect(
        received.filter(({ message }) => message.data.orderId === orderId).map(({ message }) => message.type),
      ).toEqual(['order.review', 'suspense.opened', 'order.cancelled']);
  });
});

test('the list, the pages and the story of the order show it, and redeliver it', async () => {
  const order = await ordered('fail');
  answerTo = () => 410;
  await deliver();
  const [{ id } = { id: '' }] = await eventsOf(order);
  const lines = await LISTS.releases.list(shop.program, {});
  expect(lines).toMatchObject([
    {
      cells: [
        id.slice(0, 12),
        'order.failed',
        'dead',
        '1',
        expect.stringMatching(/^20/),
        order.orderId.slice(0, 8),
      ],
      below: [expect.stringMatching(/^.•••@/), expect.stringMatching(/^the receiver answered HTTP 410/)],
      names: [id, order.orderId],
    },
  ]);
  const page = async (path: string) => (await fetch(`${shop.origin}/admin/${path}`)).text();
  expect(await page('releases')).toContain(id);
  expect(await page('releases?type=order.failed')).toContain(id);
  expect(await page('releases?type=order.expired')).not.toContain(id);
  expect(await page(`orders/${order.orderId}`)).toContain(`value="${id}"`);
  expect((await explain(shop.program.database, order.orderId))?.evidence).toMatch(
    new RegExp(`event +order.failed .*${id} dead 1 deliveries last error`),
  );
  const request = { by: 'Ngozi', id, note: 'mended' };
  expect(await LISTS.releases.subcommands.redeliver?.perform(shop.program, request)).toEqual({
    ...{ isDone: true, told: 'Due now.' },
  });
  answerTo = () => 204;
  await deliver();
  expect(await eventsOf(order)).toMatchObject([{ delivery: 'delivered' }]);
});

describe('only what is wanted is sent', () => {
  const wanting = async (types: readonly EventType[]): Promise<void> => {
    const { receive, close } = createHttpReceiver(url, new Secret(SECRET));
    const { database, alarm, logger } = shop.program;
    const parts = { database, mode: 'test' as const, alarm, logger };
    await createDueEvents({ ...parts, eventReceiver: receive, types }).runOnce();
    await close();
  };

  test('a type that is wanted later is sent from then on; the older ones, when a person asks', async () => {
    await wanting([]);
    const before = await ordered('fail');
    expect(await eventsOf(before)).toMatchObject([{ delivery: 'unneeded' }]);
    await wanting(['order.failed']);
    const after = await ordered('fail');
    await deliver();
    expect(received.map(({ message }) => message.data.orderId)).toEqual([after.orderId]);
    const asked = { by: 'Ngozi', note: null };
    expect(await shop.program.sendUnsent({ ...asked, type: 'order.failed' })).toBe(1);
    await deliver();
    expect(received.map(({ message }) => message.data.orderId)).toEqual([after.orderId, before.orderId]);
    await wanting(ROW_TYPES);
  });

  test('without a receiver none waits, and a release does not wait for an event', async () => {
    const order = await ordered('fail');
    const released: string[] = [];
    const again = await shop.checkout({ orderId: order.orderId });
    await shop.hand(`transactions/${again.reference}/pay`, { notify: false });
    await comeBack(again);
    const inProgram = await startProgram({
      databaseUrl: await databaseUrlOf(),
      env: { FULFILMENT_EVENTS: 'order.paid,order.failed' },
      extensions: {
        ...{ catalogue: null, onAlert: null, identity: null, routes: null, migrations: null },
        receiver: ({ orderId }) => Promise.resolve(void released.push(orderId)),
      },
    });
    try {
      await inProgram.program.dueEvents.runOnce();
      await inProgram.program.dueReleases.runOnce();
      expect(released).toEqual([order.orderId]);
      expect(await eventsOf(await ordered('fail'))).toMatchObject([{ delivery: 'unneeded' }]);
    } finally {
      await inProgram.close();
    }
    await wanting(ROW_TYPES);
  });

  async function databaseUrlOf(): Promise<string> {
    const [row] = await sql<{ name: string }>('SELECT current_database() AS name');
    const address = new URL(process.env.TEST_TEMPLATE_URL ?? '');
    address.pathname = `/${row?.name ?? ''}`;
    return address.href;
  }
});
