import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { befall } from '../support/failures.ts';
import { comeBack } from '../support/outside.ts';
import { letPass, look, startDesk, type Desk } from './support.ts';

// Ids of nineteen digits as JSON numbers, which a double cannot hold.

const [ID, OTHER] = ['9007199254740993001', '9007199254740993002'];

let desk: Desk;
let service: Server;
/** The texts of the rows of each page, and of each record of verify. */
let pages: string[][] = [];
const records = new Map<string, string>();
beforeAll(async () => {
  desk = await startDesk();
  service = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://service');
    const page = Number(searchParams.get('page') ?? 1);
    const list = `{"data":[${(pages[page - 1] ?? []).join()}],"hasNextPage":${page < pages.length}}`;
    const record = pathname.endsWith('/history') ? list : records.get(pathname.split('/').at(-1) ?? '');
    const body = `{"status":${record !== undefined},"data":${record ?? 'null'}}`;
    res.writeHead(record === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
});
afterAll(async () => {
  service.close().closeAllConnections();
  await desk.stop();
});

const rowOf = (reference: string, id: string) =>
  `{"id":${id},"reference":"${reference}","status":"SUCCESS","amount":8500,"currency":"NGN"}`;
const filler = (name: string) => `{"id":"${name}","reference":"${name}","status":"PENDING"}`;

/** An order that was paid by a payment with this id. */
async function paidBy(id: string): Promise<string> {
  const { reference } = await desk.checkout();
  const record = rowOf(reference, id);
  records.set(reference, record);
  const body = `{"status":true,"data":${record}}`;
  await befall(desk, 'verify', 'body', { reference, body, contentType: 'application/json', times: 0 });
  await comeBack(desk, reference);
  expect(await look(desk, reference)).toMatchObject({ order: 'paid' });
  return reference;
}
/** Applies the whole history. */
async function hear(reference: string, ...list: string[][]): Promise<void> {
  pages = list;
  const GATEWAY_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const GATEWAY_ADAPTER = new URL('../support/adapters/prompt.ts', import.meta.url).pathname;
  for (let run = 0; run < 2; run += 1) {
    await letPass(desk, reference, '1 minute');
    const { out, err } = await desk.command(['reconcile', '--json'], { GATEWAY_URL, GATEWAY_ADAPTER, USER: 'ada' });
    expect(out === '' ? err : JSON.parse(out)).toMatchObject({ complete: true });
  }
}

test('a row with an id of nineteen digits that moves between two pages is one charge', async () => {
  const reference = await paidBy(ID);
  const proof = 'SELECT service_id FROM proof_payments WHERE reference = $1';
  expect(await desk.database.query(proof, [reference])).toEqual([{ service_id: ID }]);
  const row = rowOf(reference, ID);
  await hear(reference, [filler('first'), row], [row, filler('last')]);
  expect(await look(desk, reference)).toMatchObject({ cases: [], money: ['NGN received 850000 captured 850000'] });
});

test('two ids of nineteen digits that differ in the last digit are two charges', async () => {
  const reference = await paidBy(OTHER);
  const next = OTHER.replace(/.$/, '3');
  await hear(reference, [rowOf(reference, next), rowOf(reference, OTHER)]);
  expect(await look(desk, reference)).toMatchObject({
    cases: ['charged_again 850000 0 NGN'],
    money: ['NGN received 1700000 captured 850000'],
  });
});
