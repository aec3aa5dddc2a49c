import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { explain } from '../../src/reporting/explain.ts';
import { findKey } from '../support/invariants/leaks.ts';
import { keepLines } from '../support/lines.ts';
import { startProgram } from '../support/program.ts';

// A service that echoes our key in every place of every answer: then everything that was kept and shown is searched.

const KEY = `sk_test_${randomBytes(24).toString('hex')}`;
const FORMS: readonly string[] = [
  KEY,
  Buffer.from(KEY).toString('base64'),
  Buffer.from(KEY).toString('base64url'),
  Buffer.from(KEY).toString('hex'),
  Array.from(KEY, (c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
  Array.from(KEY, (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join(''),
];
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

const unescaped = (text: string): string =>
  text.replace(/(?:\\*u00|\\x)([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
const placesOf = (texts: readonly string[]): string[] =>
  texts
    .filter((text) => [text, unescaped(text)].some((view) => findKey(view, KEY).length > 0))
    .map((text) => text.slice(0, 300));

test('B3: a service that echoes the key everywhere leaves it nowhere', async () => {
  const rows = FORMS.map(
    (form) =>
      `{"id":"${form}","reference":"${form}","status":"success","amount":25,"currency":"NGN","note":"${form}"}`,
  );
  const server = createServer((req, res) => {
    const note = `"note":[${FORMS.map((form) => `"${form}"`).join(',')}]`;
    const path = req.url ?? '';
    const reference = path.split('/').at(-1) ?? '';
    const body = path.includes('history')
      ? `{${note},"data":[${rows.join(',')}],"links":{"next":null}}`
      : path.includes('initialize')
        ? `{${note},"data":"http://127.0.0.1:9/pay"}`
        : `{${note},"data":{"reference":"${reference}","status":"${KEY}","amount":"${KEY}","currency":"NGN"}}`;
    res.writeHead(200, { 'content-type': 'application/json', 'x-echo': KEY, 'x-total-count': KEY }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const { logger, lines } = keepLines();
  const env = { GATEWAY_SECRET_KEY: KEY };
  const gatewayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shop = await startProgram({ env, logger, gatewayUrl, areWebhooksUnsigned: true });
  closers.push(() => shop.close());
  const { database } = shop.program;
  const order = await shop.checkout();
  await fetch(`${shop.origin}/checkout/return/${order.reference}?key=${KEY}`, { redirect: 'manual' });
  for (const form of FORMS)
    await fetch(`${shop.origin}/webhooks/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"data":{"reference":"${order.reference}","note":"${form}"}}`,
    });
  const shown = [JSON.stringify(await shop.program.reconcile({ dryRun: false }))];
  expect(await database.query('SELECT FROM findings')).not.toEqual([]);
  expect(await database.query('SELECT FROM webhooks')).toHaveLength(FORMS.length);
  const story = await explain(database, order.orderId);
  shown.push(story?.text ?? '', story?.evidence ?? '');
  const [webhook] = await database.query<{ id: bigint }>('SELECT max(id) AS id FROM webhooks');
  for (const page of [
    '',
    '/findings',
    '/suspense',
    '/webhooks',
    `/webhooks/${webhook?.id}`,
    '/runs',
    `/orders/${order.orderId}`,
  ])
    shown.push(await (await fetch(`${shop.origin}/admin${page}`)).text());
  const tables = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const dump = await database.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`);
    // Bytes stand there as hex: what they hold in other forms is seen when they are read.
    shown.push(
      ...dump.flatMap(({ row }) => [
        row,
        row.replace(/\\\\x([0-9a-f]+)/g, (_all, hex: string) => Buffer.from(hex, 'hex').toString()),
      ]),
    );
  }
  expect(placesOf(shown)).toEqual([]);
  expect(placesOf(lines)).toEqual([]);
});
