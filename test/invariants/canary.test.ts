import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';
import { findEmail, findKey } from '../support/invariants/leaks.ts';
import { keepLines } from '../support/lines.ts';

// A key and an e-mail address that stand nowhere else go through every door; then everything that came out is searched.

const KEY = `sk_test_${randomBytes(24).toString('base64url').replace(/[-_]/g, 'x')}`;
const EMAIL = `canary.${randomBytes(6).toString('hex')}@sentinel.example`;
const TOKEN = 'admin-token-of-the-canary';
const ASSETS = new URL('../../src/demo-shop/assets/', import.meta.url);

const { logger, lines } = keepLines();
const answers: string[] = [];
let shop: TestProgram;
let report = '';
beforeAll(async () => {
  const env = { GATEWAY_SECRET_KEY: KEY, ADMIN_TOKEN: TOKEN, SHOP_API_TOKEN: TOKEN };
  shop = await startProgram({ env, logger });
  await goThroughEveryDoor();
});
afterAll(() => shop.close());

function headersOf({ headers }: Response): string {
  const lines: string[] = [];
  headers.forEach((value, name) => lines.push(`${name}: ${value}`));
  return lines.join('\n');
}

/** Asks, and keeps status, headers and body of the answer. */
async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${shop.origin}${path}`, { redirect: 'manual', ...init });
  const text = await answer.text();
  answers.push(`${path} ${answer.status}\n${headersOf(answer)}\n${text}`);
  return { status: answer.status, text };
}

const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const asAdmin = { authorization: `Bearer ${TOKEN}` };
const basket = { email: EMAIL, items: [{ sku: 'ankara-tote', quantity: 1 }] };

async function goThroughEveryDoor(): Promise<void> {
  const opened = await send('/checkout', basket, { 'idempotency-key': 'canary' });
  expect(opened.status).toBe(201);
  const { orderId, reference } = JSON.parse(opened.text) as CheckoutAnswer;
  await send('/checkout', basket, { 'idempotency-key': 'canary' });
  await send('/checkout', { ...basket, items: [] }, { 'idempotency-key': 'canary' });
  const form = new URLSearchParams({ email: EMAIL, sku: 'bissap', quantity: '2' }).toString();
  await send('/checkout', form, { 'content-type': 'application/x-www-form-urlencoded' });
  for (const bad of [{ ...basket, price: 1 }, { email: `${EMAIL} x`, items: [] }, `{"email":"${EMAIL}"`, []])
    expect((await send('/checkout', bad)).status).toBeGreaterThanOrEqual(400);
  expect((await send('/checkout', await refusedOrder())).status).toBe(502);
  await whileServiceFails(reference);
  await webhooks(reference);
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await shop.program.database.query('UPDATE payments SET next_check_at = now(), last_hinted_at = NULL');
  await shop.program.duePayments.runOnce();
  for (const path of [
    `/checkout/return/${reference}?email=x`,
    '/checkout/return/nothing',
    `/orders/${orderId}`,
  ])
    await ask(path);
  for (const path of [
    '/',
    '/shop',
    `/shop/orders/${orderId}`,
    '/products',
    '/healthz',
    '/readyz',
    '/nothing',
  ])
    await ask(path);
  const [webhook] = await shop.program.database.query<{ id: string }>(
    'SELECT max(id)::text AS id FROM webhooks',
  );
  const lists = ['orders', 'cases', 'releases', 'webhooks', 'runs', 'charts', 'login'];
  const details = [`orders/${orderId}`, `webhooks/${webhook?.id}`];
  for (const path of ['/admin', '/metrics', ...[...lists, ...details].map((page) => `/admin/${page}`)])
    expect((await ask(path, { headers: asAdmin })).status).toBe(200);
  for (const path of ['/admin', '/metrics']) await ask(path);
  for (const name of readdirSync(ASSETS)) await ask(`/shop/assets/${name}`);
  report = JSON.stringify(await shop.program.reconcile({ dryRun: false }));
}

/** An order too small for the service. */
async function refusedOrder(): Promise<object> {
  const lines = [{ description: 'a crumb', unitAmount: '0.50', quantity: 1 }];
  const order = await send('/orders', { email: EMAIL, currency: 'NGN', lines }, asAdmin);
  expect(order.status).toBe(201);
  await send('/orders', { email: EMAIL, currency: 'NGN', lines: [] }, asAdmin);
  await send('/orders', { email: EMAIL }, {});
  return { orderId: (JSON.parse(order.text) as { orderId: string }).orderId };
}

async function whileServiceFails(reference: string): Promise<void> {
  const faults: [string, object, object][] = [
    ['outage', { status: 500 }, { status: null }],
    ['outage', { status: 403 }, { status: null }],
    ['keys/refuse', { refuse: true }, { refuse: false }],
  ];
  for (const [path, begin, end] of faults) {
    await shop.hand(path, begin);
    expect((await send('/checkout', basket)).status).toBeGreaterThanOrEqual(500);
    await shop.program.database.query('UPDATE payments SET last_hinted_at = NULL, next_check_at = now()');
    for (const door of [`/checkout/return/${reference}`, '/readyz']) await ask(door);
    await ask('/admin', { headers: asAdmin });
    await shop.program.duePayments.runOnce();
    await shop.program.reconcile({ dryRun: false });
    await shop.hand(path, end);
  }
}

async function webhooks(reference: string): Promise<void> {
  const body = JSON.stringify({ data: { reference, email: EMAIL } });
  for (const signature of ['00', 'x'.repeat(64)])
    expect((await send('/webhooks/payments', body, { 'x-signature': signature })).status).toBe(401);
  for (const type of ['text/plain', 'application/json'])
    await send('/webhooks/payments', body.slice(1), { 'content-type': type });
  // The service's own webhook carries the address, too.
  await shop.hand(`transactions/${reference}/fail`);
}

/** Every row of every table as text; bytes stand there as hex. */
async function dump(): Promise<string> {
  const { database } = shop.program;
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`),
    ),
  );
  return rows.flat().map(({ row }) => row).join('\n'); // prettier-ignore
}

describe('the secret key stands', () => {
  const placesOf = (texts: readonly string[]): string[] =>
    texts.filter((text) => findKey(text, KEY).length > 0).map((text) => text.slice(0, 200));

  test('in no log line', () => {
    expect(lines.length).toBeGreaterThan(10);
    expect(placesOf(lines)).toEqual([]);
  });
  test('in no answer, neither headers nor body', () => {
    expect(answers.length).toBeGreaterThan(50);
    expect(placesOf(answers)).toEqual([]);
  });
  test('in no row of any table, not even in bytes', async () => {
    const text = await dump();
    expect(text).toContain(EMAIL);
    expect(placesOf(text.split('\n'))).toEqual([]);
  });
  test('in no report and no file that browsers load', () => {
    const files = readdirSync(ASSETS).map((name) => readFileSync(new URL(name, ASSETS), 'utf8'));
    expect(placesOf([report, ...files])).toEqual([]);
  });
});

describe("the shopper's e-mail address stands", () => {
  const placesOf = (texts: readonly string[]): string[] =>
    texts.filter((text) => findEmail(text, EMAIL)).map((text) => text.slice(0, 200));

  test('in no log line', () => {
    expect(placesOf(lines)).toEqual([]);
  });
  test('in no answer and no report', () => {
    expect(placesOf([...answers, report])).toEqual([]);
  });
});

test.each([
  ['raw', (key: string) => `x${key}y`],
  ['cut to twelve characters', (key: string) => key.slice(15, 27)],
  ['as base64', (key: string) => Buffer.from(key).toString('base64')],
  ['as base64url, beside other text', (key: string) => Buffer.from(`user:${key}.`).toString('base64url')],
  ['as hex', (key: string) => Buffer.from(key).toString('hex')],
  ['URL-encoded', (key: string) => [...Buffer.from(key)].map((byte) => `%${byte.toString(16)}`).join('')],
])('the search finds the key %s', (_form, write) => {
  expect(findKey(`before ${write(KEY)} after`, KEY)).not.toEqual([]);
});
