import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, startProgram, type TestProgram } from '../support/program.ts';

const KEY = 'sk_test_c4n4ry5entinel';
/** More orders than there are deliveries at a time. */
const ORDERS = 12;
let hanging: Server;
let seen: { headers: IncomingHttpHeaders; body: string }[] = [];
let shop: TestProgram;

beforeAll(async () => {
  seen = [];
  hanging = createServer((req) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => seen.push({ headers: req.headers, body }));
  });
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as AddressInfo;
  const env = {
    GATEWAY_SECRET_KEY: KEY,
    GATEWAY_URL: 'http://127.0.0.1:1',
    FULFILMENT_URL: `http://127.0.0.1:${port}/`,
    FULFILMENT_SECRET: `whsec_${'a'.repeat(32)}`,
  };
  shop = await startProgram({ worker: true, env });
});
afterAll(async () => {
  hanging.closeAllConnections();
  hanging.close();
  await shop.close();
});

test('while every delivery hangs, orders are paid as ever, and the receiver never sees the key', async () => {
  const orders = await Promise.all(Array.from({ length: ORDERS }, () => shop.checkout()));
  for (const { reference } of orders) await shop.hand(`transactions/${reference}/pay`);
  const paid = async () =>
    (await shop.program.database.query(`SELECT FROM orders WHERE status = 'paid'`)).length === ORDERS;
  await eventually(paid);
  await eventually(() => Promise.resolve(seen.length >= 8));
  const delivered = await shop.program.database.query(`SELECT FROM releases WHERE delivery = 'delivered'`);
  expect(delivered).toEqual([]);
  expect(JSON.stringify(seen)).not.toContain(KEY.slice('sk_test_'.length));
});
