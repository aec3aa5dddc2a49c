import { beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../support/eventually.ts';
import {
  befall,
  callsOf,
  expectPaidOnce,
  healService,
  hold,
  letPass,
  paymentsOf,
  release,
  sendNotification,
  tryCheckout,
  useShop,
  waitsForLock,
} from '../support/failures.ts';
import { payInSilence } from '../support/outside.ts';

// A process is killed with SIGKILL at each step between the click and the message, and started
// again. The tests move leases and due times instead of waiting.

const taken: { id: string; orderId: string; body: string }[] = [];
/** What the receiver does before it answers. It may never end. */
let beforeAnswer: () => Promise<unknown> = () => Promise.resolve();
let email: string;

const used = useShop(async () => {
  const server = createServer((req, res) => {
    void text(req).then(async (body) => {
      const { data } = JSON.parse(body) as { data: { orderId: string } };
      taken.push({ id: String(req.headers['webhook-id']), orderId: data.orderId, body });
      await beforeAnswer();
      res.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  used.ends.push(() => {
    server.close().closeAllConnections();
  });
  const FULFILMENT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const FULFILMENT_SECRET = `whsec_${Buffer.alloc(24, 'x').toString('base64')}`;
  // One interactive call at a time, so that the next call waits.
  return { env: { FULFILMENT_URL, FULFILMENT_SECRET, GATEWAY_CONCURRENCY: '1' } };
});
const { shop } = used;

beforeEach(() => {
  email = `${randomUUID()}@example.com`;
});

const clickPay = () => tryCheckout(shop, email, { 'idempotency-key': email });
const placed = () => eventually(async () => (await paymentsOf(shop, 'email', email))[0] ?? null);
const taking = (orderId: string) => taken.filter((message) => message.orderId === orderId);

async function kill(): Promise<void> {
  expect(await shop.kill('SIGKILL')).toEqual(['SIGKILL']);
  // PostgreSQL does not notice a lost client while a statement waits for a lock, and would execute
  // the statement later. So the waiting sessions are terminated.
  const waiting = "datname = current_database() AND wait_event_type = 'Lock'";
  await shop.database.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${waiting}`);
  await healService(shop);
  beforeAnswer = () => Promise.resolve();
}

/** The database alone is enough: after a restart, the shop delivers the order once. */
async function recovers(orderId: string): Promise<void> {
  await shop.restart();
  await delivers(orderId);
}

async function delivers(orderId: string): Promise<void> {
  // Longer than any lease.
  await letPass(shop.database, 31);
  await expectPaidOnce(shop, orderId);
  await eventually(async () => {
    const sql = 'SELECT sent_at IS NOT NULL AS "isSent" FROM messages WHERE order_id = $1';
    expect(await shop.database.query(sql, [orderId])).toEqual([{ isSent: true }]);
  });
  const messages = taking(orderId);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(1);
  expect(new Set(messages.map(({ body }) => body)).size).toBe(1);
}

test('killed before initialize, the reference is never sent, and the next click pays the same order', async () => {
  await befall(shop, 'initialize', 'hang');
  void tryCheckout(shop, 'somebody@example.com');
  await eventually(async () => (await callsOf(shop, 'initialize')).length === 1);
  void clickPay();
  const { order_id: orderId, reference, status } = await placed();
  expect(status).toBe('sending');
  await kill();
  expect(await callsOf(shop, 'initialize', reference)).toEqual([]);

  await shop.restart();
  await letPass(shop.database, 31);
  const again = await clickPay();
  expect(again).toMatchObject({ status: 201, body: { orderId } });
  const next = again?.body.reference ?? '';
  expect(next).not.toBe(reference);
  await payInSilence(shop, next);
  await delivers(orderId);
  expect(await callsOf(shop, 'initialize', reference)).toEqual([]);
  expect(await callsOf(shop, 'verify', reference)).not.toEqual([]);
});

test('killed while initialize hangs, the schedule finds the money paid on a page that we never saw', async () => {
  await befall(shop, 'initialize', 'hang');
  void clickPay();
  const { order_id: orderId, reference } = await placed();
  await eventually(async () => (await callsOf(shop, 'initialize', reference)).length === 1);
  await kill();
  await payInSilence(shop, reference);
  await recovers(orderId);
});

test('killed between the answer of initialize and its record, the order is paid once', async () => {
  await befall(shop, 'initialize', 'delay', { delayMs: 1_000 });
  void clickPay();
  const { order_id: orderId, reference } = await placed();
  await hold(shop.database, `SELECT 1 FROM orders WHERE id = '${orderId}' FOR UPDATE`);
  await waitsForLock(shop.database, /FROM orders WHERE id = .* FOR NO KEY UPDATE/);
  expect(await callsOf(shop, 'initialize', reference)).toMatchObject([{ status: 200 }]);
  await kill();
  await release();
  expect(await paymentsOf(shop, 'email', email)).toMatchObject([{ status: 'sending', checkout_url: null }]);
  await payInSilence(shop, reference);
  await recovers(orderId);
});

test('killed while verify hangs, the lease ends by itself, and the payment is verified again', async () => {
  const { orderId, reference } = await shop.checkout({ email });
  await payInSilence(shop, reference);
  await befall(shop, 'verify', 'hang', { times: 0 });
  await sendNotification(shop, reference);
  await eventually(async () => (await callsOf(shop, 'verify', reference)).length > 0);
  await kill();
  const sql = 'SELECT leased_until > clock_timestamp() AS "isLeased" FROM payments WHERE reference = $1';
  expect(await shop.database.query(sql, [reference])).toEqual([{ isLeased: true }]);
  await recovers(orderId);
});

test('killed inside the transaction that pays, nothing of it is stored, and it is repeated', async () => {
  const { orderId, reference } = await shop.checkout({ email });
  await payInSilence(shop, reference);
  // The answer of verify has arrived by then. The delivery loop waits for the lock, too.
  await hold(shop.database, 'LOCK TABLE messages IN SHARE MODE');
  await sendNotification(shop, reference);
  await waitsForLock(shop.database, /^\s*(?!UPDATE)\S/);
  await kill();
  await release();
  const seen = await shop.database.query(
    `SELECT (SELECT count(*)::int FROM verifications WHERE reference = $1) AS verifications,
            (SELECT count(*)::int FROM ledgers WHERE reference = $1) AS ledgers,
            (SELECT count(*)::int FROM proofs WHERE reference = $1) AS proofs`,
    [reference],
  );
  expect(seen).toEqual([{ verifications: 0, ledgers: 0, proofs: 0 }]);
  await recovers(orderId);
});

test('killed before the receiver answers, the next process sends the message again under its id', async () => {
  const { orderId, reference } = await shop.checkout({ email });
  beforeAnswer = () => new Promise(() => undefined);
  await shop.sandboxPost(`/transactions/${reference}/pay`);
  await eventually(() => taking(orderId).length === 1);
  await kill();
  await recovers(orderId);
  expect(taking(orderId)).toHaveLength(2);
});

test('killed after the receiver accepted a message, before that is stored, the same bytes are sent again under one id', async () => {
  const { orderId, reference } = await shop.checkout({ email });
  beforeAnswer = () => hold(shop.database, `SELECT 1 FROM messages WHERE order_id = '${orderId}' FOR UPDATE`);
  await shop.sandboxPost(`/transactions/${reference}/pay`);
  await waitsForLock(shop.database, /^UPDATE [^]*messages[^]* SET [^]*sent_at/);
  await kill();
  await release();
  await recovers(orderId);
  expect(taking(orderId)).toHaveLength(2);
});
