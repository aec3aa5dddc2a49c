import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startShop, TEST_KEY, type Reply, type Shop } from '../support/shop.ts';
import { happens, stands, tell } from './support.ts';

// A service that echoes our key in every answer.

let shop: Shop;
const answers: Reply[] = [];
beforeAll(async () => {
  shop = await startShop({ env: { LOG_LEVEL: 'debug' } });
});
afterAll(() => shop.stop());

const SECRET = TEST_KEY.replace('sk_test_', '');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const HEADER = base64(`x-api-key: ${TEST_KEY}`);
/** The encodings of the key, and the part of each that reveals it. */
const FORMS = [
  ['as it is', TEST_KEY, SECRET],
  ['in capitals', TEST_KEY.toUpperCase(), SECRET],
  ['in hex', hex(TEST_KEY), hex(SECRET)],
  ['in base64', base64(TEST_KEY), base64(TEST_KEY).slice(12, -4)],
  ['in base64, as a header', HEADER, HEADER.slice(28, -4)],
] as const;

/** The text is in no row of a table (bytes appear in hex), no log line and no answer. */
async function expectNowhere(betrays: string): Promise<void> {
  const named = `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`;
  const tables = await shop.database.query(named);
  expect(tables.length).toBeGreaterThan(15);
  const rows = tables.map(({ name }) => shop.database.query(`SELECT to_jsonb(t)::text FROM ${String(name)} t`));
  const places = { rows: await Promise.all(rows), logs: shop.logs(), answers };
  for (const [place, content] of Object.entries(places))
    for (const one of [betrays, hex(betrays), hex(betrays.toUpperCase())])
      expect([place, JSON.stringify(content).toLowerCase().includes(one.toLowerCase())]).toEqual([place, false]);
}

test.each(FORMS)('the key, echoed %s, is in no table, log or answer', async (_, written, betrays) => {
  const says = { status: `COLLECTED ${written}`, id: written, message: written, [written]: 1 };
  const { orderId, reference } = await shop.checkout();
  await happens(shop, reference, 'record', says);
  await stands(shop, orderId, 'review', 'unknown_status 0 0 NGN');
  // No record, no JSON, a refused key, a server error. Then initialize refuses.
  const failure = { status: false, message: written };
  for (const more of [{ status: 200 }, { status: 200, body: written }, { status: 401 }, { status: 500 }]) {
    await shop.sandboxPost('/faults', { endpoint: 'verify', reference, kind: 'status', body: failure, ...more });
    answers.push(await shop.request('GET', `/checkout/return/${reference}`));
  }
  const basket = { email: 'ada@example.com', items: [{ sku: 'djembe', quantity: 1 }] };
  for (const body of [failure, written]) {
    await shop.sandboxPost('/faults', { endpoint: 'initialize', kind: 'status', status: 400, body });
    answers.push(await shop.request('POST', '/checkout', { json: basket }));
  }
  // One webhook is stored, and one is refused.
  await shop.sandboxPost(`/transactions/${reference}/webhook`, { body: { ...says, reference } });
  answers.push(await shop.request('POST', '/webhooks/payments', { json: says }));
  answers.push(await shop.request('GET', `/orders/${orderId}`), await shop.request('GET', '/readyz'));
  expect(await shop.sandboxGet('/faults')).toEqual([]);
  await expectNowhere(betrays);
});

test('a key that is echoed in escapes is in no table, log or answer', async () => {
  const { reference } = await shop.checkout();
  const spelled = hex(TEST_KEY).replace(/../g, '\\u00$&');
  const body = `{"status": true, "data": {"reference": "${reference}", "status": "${spelled}"}}`;
  await shop.sandboxPost('/faults', { endpoint: 'verify', reference, kind: 'body', body, times: 0 });
  await tell(shop, reference);
  await expectNowhere(SECRET);
});
