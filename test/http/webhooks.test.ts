import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { eventually } from '../support/eventually.ts';
import { expectProblem, payInSilence, statusOf, timesAsked, unschedule } from '../support/outside.ts';
import { startShop, WEBHOOK_SECRET, type Checkout, type Shop } from '../support/shop.ts';

const PATH = '/webhooks/payments';
const OLD_SECRET = 'the_secret_before_this_one';
const ADMIN_TOKEN = 'the_admin_of_no_real_money';

let shop: Shop;
let unsigned: Shop;
beforeAll(async () => {
  const GATEWAY_ADAPTER = fileURLToPath(new URL('../support/adapters/late.ts', import.meta.url));
  [shop, unsigned] = await Promise.all([
    startShop({ env: { WEBHOOK_SECRETS: `${WEBHOOK_SECRET},${OLD_SECRET}`, ADMIN_TOKEN } }),
    startShop({ env: { WEBHOOK_SECRETS: '', GATEWAY_ADAPTER } }),
  ]);
});
afterAll(async () => {
  await Promise.all([shop.stop(), unsigned.stop()]);
});

type How = { type?: string; secret?: string; headers?: Record<string, string>; path?: string };
/** Sends bytes as the service does, signed. */
function send(content: string | Uint8Array, how: How = {}) {
  const { type = 'application/json', secret = WEBHOOK_SECRET, path = PATH } = how;
  const body = new Uint8Array(Buffer.from(content));
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { ...(type !== '' && { 'content-type': type }), 'x-signature': signature, ...how.headers };
  return shop.request('POST', path, { body, headers });
}
const eventAbout = (reference: string) => ({ event: 'charge', data: { reference, status: 'SUCCESS' } });
const about = (reference: string) => JSON.stringify(eventAbout(reference));
/** A paid payment that the schedule would verify tomorrow. */
async function paidInSilence(of = shop): Promise<Checkout> {
  const checkout = await of.checkout();
  await unschedule(of, checkout.reference);
  await payInSilence(of, checkout.reference);
  return checkout;
}
const becomesPaid = ({ orderId }: Pick<Checkout, 'orderId'>, of = shop) =>
  eventually(async () => (await statusOf(of, orderId)) === 'paid');
const keptAbout = (reference: string) =>
  shop.database.query(
    `SELECT convert_from(body, 'UTF8') AS body, times, signature, address FROM webhooks
     WHERE $1 = ANY(payment_references)`,
    [reference],
  );

test.each([
  ['the new secret', { secret: WEBHOOK_SECRET }],
  ['the old secret', { secret: OLD_SECRET }],
  ['a slash at the end of the URL', { path: `${PATH}/` }],
])('a webhook with %s is stored, answered with 202, and causes a verification', async (_name, how) => {
  const checkout = await paidInSilence();
  const body = about(checkout.reference);
  expect(await send(body, how)).toMatchObject({ status: 202, body: { status: 'received' } });
  const row = { body, times: 1, signature: 'signed', address: '127.0.0.1' };
  expect(await keptAbout(checkout.reference)).toEqual([row]);
  await becomesPaid(checkout);
});

test('the status in a webhook is not believed', async () => {
  const { orderId, reference } = await shop.checkout();
  await unschedule(shop, reference);
  await send(about(reference));
  const answers = 'SELECT outcome, cause FROM verifications WHERE reference = $1';
  await eventually(async () => {
    expect(await shop.database.query(answers, [reference])).toEqual([{ outcome: 'pending', cause: 'notification' }]);
  });
  expect(await statusOf(shop, orderId)).toBe('pending');
});

test('an authentic webhook about an unknown reference is stored once, counted twice, and causes no verification', async () => {
  const stranger = 'x'.repeat(26);
  for (let time = 0; time < 2; time += 1) expect((await send(about(stranger))).status).toBe(202);
  expect(await keptAbout(stranger)).toMatchObject([{ times: 2, signature: 'signed' }]);
  // A later webhook has been followed.
  const checkout = await paidInSilence();
  await send(about(checkout.reference));
  await becomesPaid(checkout);
  expect(await timesAsked(shop, 'verify', stranger)).toBe(0);
});

test.each([
  ['names no payment', '{"event":"hello"}'],
  ['has a NUL and half a surrogate pair', '{"reference":"\\u0000\\ud800"}'],
  ['has a number as its reference', '{"reference":12,"data":[[]]}'],
])('an authentic webhook that %s is stored with 202', async (_name, body) => {
  expect((await send(body)).status).toBe(202);
  const kept = await shop.database.query('SELECT signature FROM webhooks WHERE body = $1', [Buffer.from(body)]);
  expect(kept).toEqual([{ signature: 'signed' }]);
});

test.each([
  ['in a form', 'application/x-www-form-urlencoded; charset=utf-8', (one: string) => `reference=${one}&paid=1`],
  ['in capitals', 'application/json', (one: string) => about(one.toUpperCase())],
  ['with a byte order mark', 'application/json', (one: string) => `\uFEFF${about(one)}`],
  ['as JSON of a vendor type', 'application/vnd.service+json', about],
])('a webhook may name the payment %s', async (_name, type, bodyOf) => {
  const checkout = await paidInSilence();
  expect((await send(bodyOf(checkout.reference), { type })).status).toBe(202);
  await becomesPaid(checkout);
});

test.each([
  ['a list', (events: unknown[]) => events],
  ['a list inside an object', (events: unknown[]) => ({ events })],
  ['a list as its data', (events: unknown[]) => ({ event: 'batch', data: events })],
])('%s of events in one webhook is about each of its payments', async (_name, bodyOf) => {
  const checkouts = [await paidInSilence(), await paidInSilence()];
  const events = checkouts.map(({ reference }) => eventAbout(reference));
  expect((await send(JSON.stringify(bodyOf(events)))).status).toBe(202);
  for (const checkout of checkouts) await becomesPaid(checkout);
});

async function countOf(outcome: string): Promise<number> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { body } = await shop.request<string>('GET', '/metrics', { headers });
  return Number(new RegExp(`^shop_webhooks_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0);
}
/** The reason of a refusal is the type of the problem. */
const refusals = (reason: string) =>
  shop.database.query<{ times: number; body: string | null }>(
    `SELECT sum(times) OVER ()::int AS times, convert_from(body, 'UTF8') AS body, address, signature,
       now() - last_at < interval '1 minute' AS "isNew" FROM webhooks WHERE reason = $1 ORDER BY last_at DESC`,
    [reason],
  );

const [KIND, BAD, FORGED] = ['unsupported-media-type', 'malformed-request', 'bad-signature'];
test.each<[string, number, string, string | Uint8Array, How]>([
  ['compressed', 415, KIND, gzipSync('{}'), { headers: { 'content-encoding': 'gzip' } }],
  ['of 200 KiB', 413, 'too-large', JSON.stringify('x'.repeat(200 * 1_024)), {}],
  ['without a body', 400, BAD, '', {}],
  ['that is no JSON', 400, BAD, '<event/>', {}],
  ['that is half of JSON', 400, BAD, '{"event":"', {}],
  ['that is a bare word', 400, BAD, '"paid"', {}],
  ['with somebody else’s signature', 401, FORGED, '{"sample":3}', { secret: 'somebody_else' }],
  ['without a signature', 401, FORGED, '{"sample":4}', { headers: { 'x-signature': '' } }],
  ['with half a signature', 401, FORGED, '{"sample":5}', { headers: { 'x-signature': 'abc' } }],
])('a webhook %s is refused, counted, and kept as a sample', async (_name, status, type, content, how) => {
  const [counted, [before]] = [await countOf(type), await refusals(type)];
  expectProblem(await send(content, how), status, type);
  expect(await countOf(type)).toBe(counted + 1);
  const [newest] = await refusals(type);
  const row = { times: (before?.times ?? 0) + 1, address: '127.0.0.1', signature: 'refused', isNew: true };
  expect(newest).toMatchObject(row);
  // The body is not read if it is too large or has an unknown type.
  if (status < 413) expect(newest?.body ?? '').toBe(content);
});

test('a forged webhook about one of our payments causes no verification', async () => {
  const { reference } = await shop.checkout();
  await send(about(reference), { secret: 'somebody_else' });
  const notified = 'SELECT notified_at FROM payments WHERE reference = $1';
  expect(await shop.database.query(notified, [reference])).toEqual([{ notified_at: null }]);
});

test('services that probe the webhook URL by GET or HEAD find it', async () => {
  for (const method of ['GET', 'HEAD']) expect((await fetch(`${shop.url}${PATH}`, { method })).status).toBe(200);
});

test('without secrets anybody may send webhooks, and a service that expects ACCEPTED gets it', async () => {
  const { reference, ...checkout } = await paidInSilence(unsigned);
  const { status, headers, body } = await unsigned.request('POST', PATH, { json: { reference } });
  expect([status, headers.get('content-type'), body]).toEqual([200, expect.stringMatching(/^text\/plain/), 'ACCEPTED']);
  await becomesPaid(checkout, unsigned);
  const rows = await unsigned.database.query('SELECT signature, payment_references FROM webhooks');
  expect(rows).toEqual([{ signature: 'unsigned', payment_references: [reference] }]);
});
