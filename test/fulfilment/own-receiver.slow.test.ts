import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { settle } from '../support/outside.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startShop, type Shop } from '../support/shop.ts';

// The shop's own function instead of src/custom/fulfilment.ts: support/own-receiver.ts.

let receiver: Receiver;
let shop: Shop;
beforeAll(async () => {
  receiver = await startReceiver();
  shop = await startShop({ env: { OWN_RECEIVER: receiver.url } });
});
afterAll(async () => {
  await shop.stop();
  await receiver.close();
});

const about = (orderId: string) => receiver.messages.filter(({ data }) => data.orderId === orderId);

test('an own receiver that never returns for some messages does not delay the others', async () => {
  receiver.answer(({ data }) => (data.orderId === 'stuck' ? 202 : 204));
  await shop.database.query(`INSERT INTO messages (id, mode, type, body, next_try_at)
    SELECT 'msg_' || n, 'test', 'order.paid', '{"type":"order.paid","data":{"orderId":"stuck"}}', now()
    FROM generate_series(1, 20) AS n`);
  // As many as it gets at once.
  await eventually(() => about('stuck').length >= 8);
  const { orderId, reference } = await shop.checkout();
  await settle(shop, reference);
  // Each of the twenty has fifteen seconds, and eight run at once.
  await eventually(() => about(orderId).length > 0, 75_000);
  const [row] = await shop.database.query(`SELECT count(*)::int AS times FROM messages
    WHERE id LIKE 'msg\\_%' AND order_id IS NULL AND last_error IS NOT NULL AND sent_at IS NULL`);
  expect(row?.times).toBeGreaterThanOrEqual(8);
});

test('an own receiver that throws synchronously ends no process, and its message is sent again', async () => {
  receiver.answer(204);
  await shop.database.query(`INSERT INTO messages (id, mode, type, body, next_try_at)
    VALUES ('thrown', 'test', 'order.paid', '{"type":"order.paid","data":{"orderId":"thrower"}}', now())`);
  const sql = `SELECT last_error AS error, tries FROM messages WHERE id = 'thrown'`;
  await eventually(async () => {
    expect(await shop.database.query(sql)).toMatchObject([{ error: 'thrown at once' }]);
  });
  // The time limit of the receiver passes, and the server still answers.
  await eventually(async () => {
    const [row] = await shop.database.query<{ tries: number }>(sql);
    return (row?.tries ?? 0) >= 3;
  }, 60_000);
  expect((await shop.request('GET', '/healthz')).status).toBe(200);
});
