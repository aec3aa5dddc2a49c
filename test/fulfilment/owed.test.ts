import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { sendNotification, startWorker, useShop } from '../support/failures.ts';
import { payInSilence, settle, statusOf, unschedule } from '../support/outside.ts';
import type { Received } from '../support/receiver.ts';
import type { Checkout } from '../support/shop.ts';

// A paid order always sends its message, whichever process marked it paid, and people are told
// about messages that wait. The server has no receiver and no worker. A worker beside it delivers.

const EVENTS = { FULFILMENT_EVENTS: 'order.paid,order.review,order.refunded' };
const NO_RECEIVER = { FULFILMENT_URL: '', FULFILMENT_SECRET: '' };

const used = useShop(() => {
  const alerts = { ALERT_URL: used.receiver.url, ALERT_SECRET: used.receiver.env.FULFILMENT_SECRET };
  return Promise.resolve({ worker: false, env: { ...NO_RECEIVER, ...EVENTS, ...alerts } });
});
const { shop, receiver } = used;

type Order = Pick<Checkout, 'orderId'>;
const told = ({ orderId }: Order) => receiver.messages.filter(({ data }) => data.orderId === orderId);
const tellsPaid = (order: Order) => eventually(() => told(order).find(({ type }) => type === 'order.paid') ?? null);
/** Sets the answers to the messages of one order. All others get 204. */
const answers = ({ orderId }: Order, how: (message: Received) => number) => {
  receiver.answer((message) => (message.data.orderId === orderId ? how(message) : 204));
};
const typed = async (words: string[], env = {}) => {
  const { exit, out, err } = await shop.command(words, { USER: 'Grace', ...env });
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  return out;
};
const decide = async ({ orderId }: Order, as: string, env = {}) => {
  const open = 'SELECT id FROM cases WHERE order_id = $1 AND closed_at IS NULL';
  const rows = await eventually(async () => {
    const found = await shop.database.query(open, [orderId]);
    return found.length === 1 && found;
  });
  return typed(['cases', 'decide', String(rows[0]?.id), '--as', as, '--note', 'a test'], env);
};
/** A checkout that only a notification verifies. */
async function checkout(): Promise<Checkout> {
  const opened = await shop.checkout();
  await unschedule(shop, opened.reference);
  return opened;
}
/** An order that the server, which has no receiver, has confirmed as paid. */
async function bought(): Promise<Checkout> {
  const opened = await checkout();
  await settle(shop, opened.reference);
  expect(await statusOf(shop, opened.orderId)).toBe('paid');
  return opened;
}
const paidMessage = async ({ orderId }: Order) => {
  const sql = `SELECT * FROM messages WHERE order_id = $1 AND type = 'order.paid'`;
  const [row] = await shop.database.query<{ id: string; sent_at: Date | null; last_error: string | null }>(sql, [
    orderId,
  ]);
  return row;
};
/** Moves the creation of the messages into the past. */
const ages = ({ orderId }: Order, minutes: number) =>
  shop.database.query(
    `UPDATE messages SET created_at = created_at - interval '${minutes} minutes' WHERE order_id = $1`,
    [orderId],
  );
/** Ends the pause before the next try. */
const hurry = ({ orderId }: Order) =>
  shop.database.query('UPDATE messages SET next_try_at = now() WHERE order_id = $1 AND next_try_at IS NOT NULL', [
    orderId,
  ]);

/**
 * What doctor, the work list as text and as data, and the first console page show about waiting
 * messages.
 */
async function waiting() {
  const { out } = await shop.command(['doctor'], { USER: 'Grace' });
  const [, line = ''] = /^wrong {2}messages-waiting: ([^]*?)(?=^(?:ok|look|wrong) )/m.exec(`${out}\nok `) ?? [];
  const rows = JSON.parse(await typed(['cases', 'list', '--json'])) as { class: string; sentence: string }[];
  const row = rows.find((one) => one.class === 'messages-waiting')?.sentence ?? '';
  const { body: page } = await shop.request<string>('GET', '/admin');
  return { line, row, list: await typed(['cases', 'list']), page };
}
const isTold = (reason: RegExp) =>
  eventually(async () => {
    const says = expect.stringMatching(reason) as unknown;
    expect(await waiting()).toEqual({ line: says, row: says, list: says, page: says });
  });
const isOver = () =>
  eventually(async () => {
    expect(await waiting()).toMatchObject({ line: '', row: '' });
  });
/** Marks all messages of the order as sent, whatever the result of the test. */
const forget = ({ orderId }: Order) =>
  shop.database.query('UPDATE messages SET sent_at = coalesce(sent_at, now()) WHERE order_id = $1', [orderId]);
async function waitsBecause(order: Order, reason: RegExp): Promise<void> {
  try {
    await ages(order, 16);
    await isTold(reason);
  } finally {
    await forget(order);
  }
  await isOver();
}

test('a paid order waits while no process has a receiver, and doctor, list, console and alert name FULFILMENT_URL', async () => {
  const order = await bought();
  await ages(order, 14);
  await isOver();
  await ages(order, 2);
  await isTold(/FULFILMENT_URL/);
  await shop.restart();
  const alert = await eventually(() => receiver.messages.find(({ type }) => type === 'alert.messages-waiting') ?? null);
  expect(alert.data).toMatchObject({ over: false, sentence: expect.stringContaining('FULFILMENT_URL') });
});

describe('with a worker that has a receiver', () => {
  beforeAll(async () => {
    await shop.database.query('UPDATE messages SET sent_at = now()');
    await startWorker(used, { ...EVENTS, RECONCILE_EVERY_MIN: '0' });
  });
  const withReceiver = () => ({ ...EVENTS, ...receiver.env });

  test.each<[string, (order: Checkout) => Promise<unknown>]>([
    ['the return of a shopper to a server', ({ reference }) => settle(shop, reference)],
    [
      'the command reconcile',
      async ({ reference }) => {
        await payInSilence(shop, reference);
        await shop.command(['reconcile'], { USER: 'Grace' });
      },
    ],
    [
      'a person’s decision',
      async (order) => {
        await settle(shop, order.reference, { amount: 8_000 });
        await decide(order, 'accept');
      },
    ],
  ])('the message of an order that is paid by %s without a receiver is sent', async (_who, pays) => {
    const order = await checkout();
    await pays(order);
    expect(await statusOf(shop, order.orderId)).toBe('paid');
    await tellsPaid(order);
  });

  test('a receiver that refuses order.review still gets order.paid, and later messages wait for order.paid', async () => {
    const order = await checkout();
    answers(order, ({ type }) => (type === 'order.review' ? 422 : 204));
    await payInSilence(shop, order.reference, { amount: 8_000 });
    await sendNotification(shop, order.reference);
    await eventually(() => told(order).some(({ type }) => type === 'order.review'));
    await decide(order, 'accept', withReceiver());
    await tellsPaid(order);
    await typed(['orders', 'refund', order.orderId, '5', '--number', 'RF-1'], withReceiver());
    // The message of a later order has been sent, so the refund's message would have been, too.
    await tellsPaid(await bought());
    const types = () => [...new Set(told(order).map(({ type }) => type))];
    expect(types()).toEqual(['order.review', 'order.paid']);
    receiver.answer(204);
    // A try in progress may postpone the next one, so the pause is ended again.
    await eventually(async () => {
      await hurry(order);
      return types().length === 3;
    });
    expect(types()).toEqual(['order.review', 'order.paid', 'order.refunded']);
  });

  test('a message that was written after order.paid is sent after it', async () => {
    const order = await checkout();
    answers(order, ({ type }) => (type === 'order.paid' ? 500 : 204));
    await settle(shop, order.reference);
    await tellsPaid(order);
    await typed(['orders', 'refund', order.orderId, '5', '--number', 'RF-2'], withReceiver());
    await tellsPaid(await bought());
    expect(new Set(told(order).map(({ type }) => type))).toEqual(new Set(['order.paid']));
    receiver.answer(204);
    await eventually(async () => {
      await hurry(order);
      return told(order).some(({ type }) => type === 'order.refunded');
    });
  });

  test('a paid order that the receiver refuses with HTTP 500 waits until the receiver accepts it', async () => {
    const order = await checkout();
    answers(order, () => 500);
    await settle(shop, order.reference);
    await eventually(async () => (await paidMessage(order))?.last_error ?? null);
    await ages(order, 14);
    await isOver();
    await ages(order, 2);
    await isTold(/HTTP 500/);
    receiver.answer(204);
    await hurry(order);
    await eventually(async () => (await paidMessage(order))?.sent_at ?? null);
    await isOver();
  });

  test('a paid order that waits because its money is missing says so, also after its case was explained', async () => {
    const order = await checkout();
    answers(order, () => 500);
    await settle(shop, order.reference);
    await shop.sandboxPost(`/transactions/${order.reference}/reverse`);
    await eventually(async () => {
      expect(await paidMessage(order)).toMatchObject({ held_by: 'missing money' });
    });
    await ages(order, 16);
    await isTold(/money[^]*missing|missing[^]*money/i);
    await decide(order, 'explain');
    await waitsBecause(order, /money[^]*missing|missing[^]*money/i);
  });

  test('a paid order that a person holds waits, and the person is named', async () => {
    const order = await checkout();
    answers(order, () => 500);
    await settle(shop, order.reference);
    const { id = '' } = (await paidMessage(order)) ?? {};
    await typed(['messages', 'hold', id, '--note', 'the address is wrong']);
    await waitsBecause(order, /Grace/);
  });

  test('a paid order whose message was given up waits, and the reason says so', async () => {
    const order = await checkout();
    answers(order, () => 410);
    await settle(shop, order.reference);
    await eventually(async () => {
      expect(await paidMessage(order)).toMatchObject({ next_try_at: null, last_error: expect.any(String) });
    });
    await waitsBecause(order, /given up/i);
  });
});
