import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { startProgram, type TestProgram } from '../support/program.ts';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
let shop: TestProgram;
let receiver: Server;
let received: { headers: IncomingHttpHeaders; body: string }[] = [];
let answerWith = 200;

beforeAll(async () => {
  receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ headers: req.headers, body: Buffer.concat(chunks).toString() });
      res.writeHead(answerWith).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/orders`;
  shop = await startProgram({ env: { FULFILMENT_URL: url, FULFILMENT_SECRET: SECRET } });
});
afterAll(async () => {
  await shop.close();
  await new Promise((resolve) => receiver.close(resolve));
});
afterEach(() => {
  received = [];
  answerWith = 200;
});

async function payAnOrder(): Promise<{ orderId: string; reference: string }> {
  const order = await shop.checkout();
  await shop.hand(`transactions/${order.reference}/pay`, { notify: false });
  await fetch(`${shop.origin}/checkout/return/${order.reference}`, { redirect: 'manual' });
  return order;
}

const query = (text: string, ...values: unknown[]): Promise<object[]> =>
  shop.program.database.query(text, values);

test('a paid order is announced once, signed, with all that the receiver needs', async () => {
  const { orderId, reference } = await payAnOrder();
  await shop.program.dueReleases.runOnce();
  await shop.program.dueReleases.runOnce();
  expect(received).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: '' }] = received;
  const message = new Webhook(SECRET).verify(body, headers as Record<string, string>);
  expect(message).toEqual({
    type: 'order.paid',
    timestamp: expect.any(String) as unknown,
    data: {
      orderId,
      externalId: null,
      reference,
      amount: '8500.00',
      currency: 'NGN',
      mode: 'test',
      paidAt: expect.any(String) as unknown,
      lines: [{ sku: 'ankara-tote', description: 'Ankara tote bag', unitAmount: '8500.00', quantity: 1 }],
      metadata: {},
    },
  });
  expect(await query('SELECT delivery FROM releases WHERE order_id = $1', orderId)).toEqual([
    { delivery: 'delivered' },
  ]);
});

test('a receiver that refuses is told again later, under the same id', async () => {
  const { orderId } = await payAnOrder();
  answerWith = 500;
  await shop.program.dueReleases.runOnce();
  expect(
    await query(
      'SELECT delivery, attempts, next_check_at > now() AS later FROM releases WHERE order_id = $1',
      orderId,
    ),
  ).toEqual([{ delivery: 'waiting', attempts: 1, later: true }]);
  answerWith = 204;
  await query('UPDATE releases SET next_check_at = now() WHERE order_id = $1', orderId);
  await shop.program.dueReleases.runOnce();
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(received).toHaveLength(2);
});
