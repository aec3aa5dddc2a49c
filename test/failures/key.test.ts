import { beforeAll, expect, test } from '@jest/globals';
import { startSandbox, type Sandbox } from '../../local/sandbox/sandbox.ts';
import { eventually } from '../support/eventually.ts';
import { tryCheckout, useShop } from '../support/failures.ts';
import { statusOf } from '../support/outside.ts';

// A key with characters that each encoding writes differently, and a service that echoes it in all
// encodings.

const SECRET = 'aB3dE6g/H9jK+m2/N5p"8s=/T1&\\W4x/Y7zA~0b';
const KEY = `sk_test_${SECRET}`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const json = JSON.stringify(SECRET).slice(1, -1);
/**
 * Each encoding of the key, including JSON as other languages write it. For base64, also the
 * letters that depend on the key alone.
 */
const SPELLED: Record<string, [written: string, betrays?: string]> = {
  JSON: [json, SECRET],
  'JSON of PHP': [json.replaceAll('/', '\\/')],
  'JSON of Go': [json.replace('&', '\\u0026')],
  URL: [encodeURIComponent(SECRET)],
  'URL of Python': [encodeURIComponent(SECRET).replaceAll('%2F', '/')],
  form: [new URLSearchParams({ key: SECRET }).toString().slice('key='.length)],
  hex: [Buffer.from(SECRET).toString('hex')],
  base64: [base64(KEY), base64(KEY).slice(12, -4)],
  base64url: [Buffer.from(KEY).toString('base64url'), Buffer.from(KEY).toString('base64url').slice(12, -4)],
  'base64 of a header': [base64(`x-api-key: ${KEY}`), base64(`x-api-key: ${KEY}`).slice(28, -4)],
};
const ECHO = Object.values(SPELLED)
  .flatMap(([written]) => written)
  .join(' ');

let sandbox: Sandbox;
const answers: unknown[] = [];
const used = useShop(async () => {
  sandbox = await startSandbox({ key: KEY, webhookUrl: null, webhookSecret: null });
  used.ends.push(sandbox.close);
  return { gatewayUrl: sandbox.url, env: { GATEWAY_SECRET_KEY: KEY, LOG_LEVEL: 'trace', WEBHOOK_SECRETS: '' } };
});
const { shop, receiver } = used;

beforeAll(() => {
  shop.sandbox = sandbox;
});

const befalls = (endpoint: string, kind: string, more: object) =>
  fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', body: JSON.stringify({ endpoint, kind, ...more }) });

/** Sets the answer of verify about a payment, as text with the echo. */
const says = (reference: string, status: string) => {
  const record = `{"reference":"${reference}","status":"${status}","amount":8500,"currency":"NGN","note":"${ECHO}","${ECHO}":1}`;
  return befalls('verify', 'body', { reference, body: `{"status":true,"data":${record}}`, times: 0 });
};

const tell = async (body: string) => {
  const headers = { 'content-type': 'application/json' };
  answers.push(await shop.request('POST', '/webhooks/payments', { body, headers }));
};

/** Everything that is stored or shown, by its place. */
async function places(): Promise<[place: string, text: string][]> {
  const sql = "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'";
  const tables = await shop.database.query<{ name: string }>(sql);
  const rows = tables.map(async ({ name }): Promise<[string, string]> => {
    const values = (await shop.database.query(`SELECT * FROM ${name}`)).flatMap((row) => Object.values(row));
    return [name, values.map((one) => (Buffer.isBuffer(one) ? one.toString() : JSON.stringify(one))).join('\n')];
  });
  const outside = { log: shop.logs(), answers, messages: receiver.messages };
  const shown = Object.entries(outside).map(([name, all]): [string, string] => [name, JSON.stringify(all)]);
  return [...(await Promise.all(rows)), ...shown];
}

test('a key that the service echoes is in no log line, answer, message or table, not even in part', async () => {
  const paid = await shop.checkout();
  await says(paid.reference, 'SUCCESS');
  await tell(`{"reference":"${paid.reference}","echo":"${ECHO}"}`);
  await eventually(async () => (await statusOf(shop, paid.orderId)) === 'paid');
  const odd = await shop.checkout();
  await says(odd.reference, `COLLECTED ${json.replaceAll('/', '\\/')}`);
  await tell(`{"reference":"${odd.reference}","${ECHO}":null}`);
  await eventually(async () => (await statusOf(shop, odd.orderId)) === 'review');
  for (const [status, body] of [
    [400, `{"status":false,"message":"no, ${ECHO}"}`],
    [200, `{"status":true,"data":"https://pay.example/?key=${encodeURIComponent(KEY)}"}`],
    [500, ECHO],
  ] as const) {
    await befalls('initialize', 'body', { status, body });
    answers.push((await tryCheckout(shop, 'ada@example.com'))?.body);
  }
  await tell(`{"echo":"${ECHO}`);
  answers.push((await shop.request('GET', `/orders/${odd.orderId}`)).body);

  const all = await places();
  expect(all.find(([place]) => place === 'verifications')?.[1]).toContain('[redacted]');
  const found = all.flatMap(([place, text]) =>
    Object.entries(SPELLED).flatMap(([how, [written, betrays = written]]) => {
      const slices = Array.from({ length: betrays.length - 11 }, (_, from) => betrays.slice(from, from + 12));
      // JSON of an object escapes its strings once more.
      const isFound = slices.some((slice) => text.includes(slice) || text.includes(JSON.stringify(slice).slice(1, -1)));
      return isFound ? [`${how} in ${place}`] : [];
    }),
  );
  expect(found).toEqual([]);
});
