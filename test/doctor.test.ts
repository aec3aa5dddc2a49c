import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSandbox, type Sandbox } from '../local/sandbox/sandbox.ts';
import { eventually } from './support/eventually.ts';
import { befall, useShop } from './support/failures.ts';
import { comeBack, statusOf } from './support/outside.ts';
import { startProcess } from './support/process.ts';
import { startShop, TEST_KEY, WEBHOOK_SECRET, type Shop } from './support/shop.ts';

const { shop, receiver } = useShop({ worker: false });
const live = {
  ...{ GATEWAY_SECRET_KEY: 'sk_live_no_real_money_either', ALLOW_LIVE_KEY_ON_LOOPBACK: 'on' },
  CHECKOUT_HOSTS: 'pay.example.com',
};
let liveSandbox: Sandbox;
let liveShop: Shop;
beforeAll(async () => {
  liveSandbox = await startSandbox({ key: live.GATEWAY_SECRET_KEY, webhookUrl: null, webhookSecret: null });
  liveShop = await startShop({ gatewayUrl: liveSandbox.url, env: live, worker: false });
});
afterAll(() => Promise.all([liveShop.stop(), liveSandbox.close()]));

/** The exit code, the state of each check, and the whole output. */
async function doctor(env: Record<string, string | undefined>, ...words: string[]) {
  const usual = { DATABASE_URL: shop.database.url, GATEWAY_URL: shop.sandbox?.url, GATEWAY_SECRET_KEY: TEST_KEY };
  const all = Object.entries({ ...usual, WEBHOOK_SECRETS: WEBHOOK_SECRET, ...env });
  const process = startProcess('src/cli.ts', Object.fromEntries(all.map(([name, value = '']) => [name, value])), words);
  const exit = await process.end();
  const text = process
    .lines()
    .map(({ msg }) => msg)
    .join('\n');
  expect(text + process.stderr()).not.toMatch(/sk_(test|live)_\w|webhooks_of_no|whsec_|postgres:/);
  const lines = [...text.matchAll(/^(ok|look|wrong) +(.+?): /gm)];
  const states: Record<string, string> = Object.fromEntries(lines.map(([, state = '', about = '']) => [about, state]));
  return { exit, text, states };
}

test('doctor finds nothing wrong in a new shop, and says what to set up next', async () => {
  const { exit, states, text } = await doctor({}, 'doctor');
  const { webhooks, ...others } = states;
  expect({ exit, webhooks }).toEqual({ exit: 0, webhooks: 'look' });
  expect(Object.keys(others)).toEqual(expect.arrayContaining(['database', 'service', 'adapter', 'clock']));
  expect(new Set(Object.values(others))).toEqual(new Set(['ok']));
  expect(text).toMatch(/^look +webhooks: .*\n +> register PUBLIC_URL/m);
});

test('doctor finds overdue payments, given-up messages, open cases, and a service that refuses the key or is unreadable', async () => {
  const { reference } = await shop.checkout();
  await shop.database.query(`UPDATE payments SET next_check_at = now() - interval '11 minutes';
    INSERT INTO messages (id, mode, type, body, tries) VALUES ('msg_1', 'test', 'order.paid', '{}', 9);
    INSERT INTO cases (mode, reference, currency, class, evidence, digest, opened_at)
      VALUES ('test', '${reference}', 'NGN', 'underpaid', '{}', '', now() - interval '1 minute')`);
  await befall(shop, 'history', 'body', { body: { data: { data: [{ no: 'word' }] } } });
  await befall(shop, 'verify', 'status', { status: 401 });
  const { exit, states } = await doctor({}, 'doctor');
  expect({ exit, ...states }).toMatchObject({ exit: 1, 'payments-overdue': 'wrong', 'message-given-up': 'wrong' });
  expect(states).toMatchObject({ 'cases-open': 'look', service: 'wrong', adapter: 'look', database: 'ok' });
  const away = await doctor({ GATEWAY_URL: 'http://127.0.0.1:9' }, 'doctor');
  expect(away.states).toMatchObject({ service: 'wrong', adapter: 'wrong', clock: 'wrong' });
});

test('doctor --live tests the alerts, and shows the first live payment to compare with the service’s page', async () => {
  const json = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }] };
  await liveShop.request('POST', '/checkout', { json });
  const [payment] = await liveShop.database.query('SELECT reference, order_id AS "orderId" FROM payments');
  const { reference, orderId } = payment as { reference: string; orderId: string };
  await fetch(`${liveSandbox.url}/sandbox/transactions/${reference}/pay`, { method: 'POST', body: '{}' });
  await eventually(async () => {
    await comeBack(liveShop, reference);
    return (await statusOf(liveShop, orderId)) === 'paid';
  });
  const ALERT_SECRET = `whsec_${Buffer.from('another secret of 32 bytes here.').toString('base64')}`;
  const alerts = { ALERT_URL: receiver.url, ALERT_SECRET };
  const { FULFILMENT_SECRET } = receiver.env;
  const places = { DATABASE_URL: liveShop.database.url, GATEWAY_URL: liveSandbox.url, FULFILMENT_URL: liveSandbox.url };
  const env = { ...live, ...alerts, FULFILMENT_SECRET, ...places };
  const { exit, states, text } = await doctor(env, 'doctor', '--live');
  expect(receiver.messages.map(({ type }) => type)).toEqual(['alert.test']);
  expect({ exit, ...states }).toMatchObject({
    exit: 1,
    key: 'wrong',
    PUBLIC_URL: 'wrong',
    alerts: 'ok',
    receiver: 'ok',
  });
  expect(text).toContain('was NGN 8,500.00; the service says 8500, in major units with 2 decimals.');
});
