import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { channelsOf } from '../src/alerts/channels.ts';
import { alertPass, type AlertParts } from '../src/alerts/pass.ts';
import { loadConfig } from '../src/config.ts';
import { createGateway } from '../src/gateway/gateway.ts';
import { loadAdapter } from '../src/load-adapter.ts';
import { openDatabase } from '../src/platform/db.ts';
import { createLogger } from '../src/platform/logger.ts';
import { eventually } from './support/eventually.ts';
import { befall, healService, useShop } from './support/failures.ts';
import { comeBack, settle } from './support/outside.ts';
import { TEST_KEY } from './support/shop.ts';
import { startMailServer, type MailServer } from './support/smtp.ts';

// The test calls the worker's pass itself, so that it does not wait for a minute. The database that
// the pass reads and the receivers that it alerts are real.

const ALERT_SECRET = `whsec_${Buffer.from('another secret of 32 bytes here.').toString('base64')}`;
const used = useShop(() => {
  const env = { ALERT_URL: used.receiver.url, ALERT_SECRET };
  return Promise.resolve({ worker: false, env });
});
const { shop, receiver, ends } = used;
let mailServer: MailServer;
let reference = '';
const workers: AlertParts[] = [];

/** A worker with its own connections and its own gateway. */
async function openWorker(): Promise<void> {
  const config = loadConfig({
    ...{ DATABASE_URL: shop.database.url, GATEWAY_URL: shop.sandbox?.url, GATEWAY_SECRET_KEY: TEST_KEY },
    ...{ ALERT_URL: receiver.url, ALERT_SECRET },
    ...{ ALERT_EMAIL: 'ops@example.com,ada@example.com', SMTP_URL: mailServer.url },
  });
  const { GATEWAY_URL: url, GATEWAY_SECRET_KEY: key, mode, DATABASE_URL } = config;
  const [logger, adapter] = [createLogger('silent'), await loadAdapter('local/sandbox-adapter.ts')];
  const service = { url, key, mode, adapter, logger };
  const gateway = createGateway({
    ...service,
    adapterVersion: 'test',
    onAdapterFault: () => undefined,
    checkoutHosts: [],
    callsPerSecond: 0,
    concurrency: 8,
  });
  const { prisma, close } = openDatabase(DATABASE_URL, { connections: 4 });
  const caseSentences: AlertParts['caseSentences'] = (ids) =>
    Promise.resolve(ids.map((id) => `Case ${id} is of bob@example.com.`));
  workers.push({ prisma, gateway, logger, channels: channelsOf(config, logger), caseSentences });
  ends.push(close, gateway.close);
}

beforeAll(async () => {
  mailServer = await startMailServer();
  ({ reference } = await shop.checkout());
  await openWorker();
  await openWorker();
  ends.push(mailServer.close);
});
afterEach(async () => {
  receiver.answer(204);
  mailServer.refuses = false;
  await sql(`DELETE FROM settings; DELETE FROM cases; DELETE FROM messages; DELETE FROM runs; DELETE FROM webhooks;
    DELETE FROM stops; UPDATE payments SET failures = 0, next_check_at = now() + interval '1 day'`);
  receiver.messages.length = mailServer.mails.length = 0;
});

const sql = (text: string) => shop.database.query(text);
/** Runs the pass at the workers with these numbers, at once. */
const pass = (...of: number[]) => Promise.all(of.flatMap((one) => workers.slice(one, one + 1).map(alertPass)));
const calls = (name: string) => receiver.messages.filter(({ type }) => type === `alert.${name}`);
const mails = (name: string) => mailServer.mails.filter(({ text }) => RegExp(`^Subject: .*${name}$`, 'm').test(text));
/** How often a state was alerted, by call and by mail. */
const times = (name: string) => [calls(name).length, mails(name).length];
/** Moves every alert, and the last time its state was seen, into the past. */
const later = (minutes: number) =>
  sql(`UPDATE settings SET value = (SELECT jsonb_object_agg(key, value || jsonb_build_object(
    'at', (value->>'at')::bigint - ${minutes * 60_000}, 'seenAt', (value->>'seenAt')::bigint - ${minutes * 60_000}))
    FROM jsonb_each(value)) WHERE name LIKE 'alert:%' AND value <> '{}'`);

const openCase = () =>
  sql(`INSERT INTO cases (mode, reference, currency, class, evidence, digest, opened_at)
    SELECT 'test', '${reference}', 'A' || count(*), 'underpaid', '{}', '', now() - interval '1 minute' FROM cases`);
const run = (verdict: string, full: boolean, hoursAgo = 0) =>
  sql(`INSERT INTO runs (mode, verdict, "full", started_at, ended_at)
    SELECT 'test', '${verdict}', ${full}, at, at FROM (SELECT now() - interval '${hoursAgo} hours' AS at) AS moment`);
const isDue = (minutes: number) => sql(`UPDATE payments SET next_check_at = now() - interval '${minutes} minutes'`);
const keyIsRefused = async () => {
  await befall(shop, 'verify', 'status', { status: 401, times: 0 });
  await expect(workers[0]?.gateway.verify(reference, 'background')).rejects.toThrow('refuses');
};
const forgedWebhook = async () => {
  await sql('DELETE FROM webhooks');
  await shop.request('POST', '/webhooks/payments', { json: { reference }, headers: { 'x-signature': 'forged' } });
};
const paymentsFail = () => sql(`UPDATE payments SET failures = 6`);
const noneForLong = () => sql('DELETE FROM runs').then(() => run('agreed', true, 40));
const message = `INSERT INTO messages (id, mode, type, body, tries) VALUES (random(), 'test', 'order.paid', '{}', 9)`;
const stop = `INSERT INTO stops (mode, what, reason, by) VALUES ('test', 'NGN', 'two units', 'program')`;

type Act = () => unknown;
test.each<[name: string, begins: Act, ends: Act]>([
  ['key-refused', keyIsRefused, () => healService(shop)],
  ['payments-failing', paymentsFail, () => sql(`UPDATE payments SET failures = 0`)],
  ['payments-overdue', () => isDue(11), () => isDue(9)],
  ['message-given-up', () => sql(message), () => sql(`UPDATE messages SET sent_at = now()`)],
  ['cases-open', openCase, () => sql(`UPDATE cases SET closed_at = now(), closed_by = 'ada'`)],
  ['reconciliation-incomplete', () => run('incomplete', false), () => run('agreed', true)],
  ['reconciliation-incomplete', noneForLong, () => run('findings', true)],
  ['webhooks-refused', forgedWebhook, () => shop.sandboxPost(`/transactions/${reference}/webhook`)],
  ['checkouts-stopped', () => sql(stop), () => sql(`UPDATE stops SET ended_at = now(), ended_by = 'ada'`)],
])('%s is alerted once, once more when it is over, and again when it comes back', async (name, begins, ends) => {
  await pass(0);
  expect(receiver.messages).toEqual([]);
  await begins();
  await pass(0);
  await pass(1);
  await ends();
  // Another process may still see the state.
  await pass(0);
  expect(times(name)).toEqual([1, 1]);
  await later(6);
  await pass(0);
  await pass(0);
  expect(times(name)).toEqual([2, 2]);
  await begins();
  await pass(0);
  await pass(0);
  expect(calls(name).map(({ data }) => data.over)).toEqual([false, true, false]);
  expect(mails(name).map(({ text }) => text.includes(' over: '))).toEqual([false, true, false]);
  expect(new Set(calls(name).map(({ id }) => id)).size).toBe(3);
  expect(receiver.messages).toHaveLength(3);
});

test('two workers at once send one alert, and an alert of a dead worker is sent when its lease ends', async () => {
  await openCase();
  await pass(0, 1, 0, 1);
  expect(times('cases-open')).toEqual([1, 1]);
  await openCase();
  await later(20);
  // The end of a lease is rounded to milliseconds when it is stored, so it can be a little later.
  await sql(`UPDATE settings SET at = clock_timestamp() + interval '60.5 seconds'`);
  await pass(0);
  expect(times('cases-open')).toEqual([1, 1]);
  await sql(`UPDATE settings SET at = now()`);
  await pass(0, 1);
  expect(times('cases-open')).toEqual([2, 2]);
});

const WAYS = [503, 307, null, 'mail'] as const;
test.each(WAYS)(
  'a channel that fails by %s is tried again under one id, and the other channel is not used again',
  async (how) => {
    await openCase();
    mailServer.refuses = how === 'mail';
    receiver.answer(() => (how === 'mail' ? 204 : how));
    await pass(0);
    await pass(1);
    mailServer.refuses = false;
    receiver.answer(204);
    await pass(0);
    await pass(0);
    expect(new Set(calls('cases-open').map(({ id }) => id)).size).toBe(1);
    expect(times('cases-open')).toEqual(how === 'mail' ? [1, 1] : [3, 1]);
  },
);

test('new cases share one alert, with their number and the first sentences', async () => {
  await openCase();
  await pass(0);
  for (let more = 0; more < 6; more += 1) await openCase();
  await pass(0);
  expect(times('cases-open')).toEqual([1, 1]);
  await later(16);
  await pass(0);
  await later(16);
  await pass(0);
  const sentences = calls('cases-open').map(({ data }) => String(data.sentence).replace(/Case \d+/g, 'Case'));
  const each = '\nCase is of …@example.com.';
  expect(sentences).toEqual([`1 case open.${each}`, `6 new cases, 7 open in all.${each.repeat(5)}\n…`]);
});

test('a case that gets another class is alerted as a new case', async () => {
  const one = await shop.checkout();
  const settled = () => sql(`UPDATE cases SET opened_at = opened_at - interval '1 minute'`);
  await settle(shop, one.reference, { amount: 1000 });
  await settled();
  await pass(0);
  await shop.sandboxPost(`/transactions/${one.reference}/record`, { amount: 9000 });
  await comeBack(shop, one.reference);
  await settled();
  await later(16);
  await pass(0);
  const sentences = calls('cases-open').map(({ data }) => String(data.sentence).split('.')[0]);
  expect(sentences).toEqual(['1 case open', '1 new case, 1 open in all']);
});

const LATE = `now() - interval '2 hours'`;
/**
 * An `order.paid` message of two hours ago.
 * @param set columns to change; by default it was sent
 */
const paidOrder = (id: string, set = `sent_at = ${LATE}`) =>
  sql(`INSERT INTO messages (id, mode, type, body, tries, created_at)
    VALUES ('${id}', 'test', 'order.paid', '{}', 1, ${LATE}); UPDATE messages SET ${set} WHERE id = '${id}'`);
const REFUSED = `sent_at = NULL, held_by = NULL, tries = 9, next_try_at = now() + interval '1 hour',
  last_error = 'the receiver answered HTTP 500'`;
const waiting = () => calls('messages-waiting').map(({ data }) => String(data.sentence));
const not = 'not announced to your own system:';
const refused = 'refused and tried again (the receiver answered HTTP 500)';

test('a message that was alerted as held is alerted at the next pass when its hold ends and the receiver refuses it', async () => {
  await paidOrder('message', `held_by = 'missing money'`);
  await pass(0);
  await sql(`UPDATE messages SET ${REFUSED}`);
  await pass(0);
  expect(waiting()).toEqual([
    `1 paid order ${not} 1 held because its money is missing.`,
    `1 paid order ${not} 1 ${refused}.`,
  ]);
  await pass(0, 1);
  expect(times('messages-waiting')).toEqual([2, 2]);
});

test('an older message that is sent again and refused, beside another refused one, is alerted after fifteen minutes', async () => {
  await paidOrder('older');
  await paidOrder('newer', REFUSED);
  await pass(0);
  await sql(`UPDATE messages SET ${REFUSED} WHERE id = 'older'`);
  await pass(0);
  expect(waiting()).toEqual([`1 paid order ${not} 1 ${refused}.`]);
  await later(16);
  await pass(0);
  await later(16);
  await pass(0);
  expect(waiting().slice(1)).toEqual([`2 paid orders ${not} 2 ${refused}.`]);
  expect(mails('messages-waiting')).toHaveLength(2);
});

test('an alert receiver that refuses one alert gets all others, and gets the refused one again', async () => {
  await paymentsFail();
  await paidOrder('message', REFUSED);
  await openCase();
  receiver.answer(({ type }) => (type === 'alert.payments-failing' ? 413 : 204));
  await pass(0);
  await pass(0);
  const others = ['messages-waiting', 'cases-open'].map(times);
  expect([times('payments-failing'), ...others]).toEqual([
    [2, 1],
    [1, 1],
    [1, 1],
  ]);
  receiver.answer(204);
  await pass(0);
  await pass(0);
  expect(times('payments-failing')).toEqual([3, 1]);
});

test('an alert about a refused key does not end while the service does not answer', async () => {
  await keyIsRefused();
  await pass(0);
  await healService(shop);
  await befall(shop, 'verify', 'status', { status: 502, times: 0 });
  await later(60);
  await pass(1);
  expect(times('key-refused')).toEqual([1, 1]);
});

test('a call is signed and names its sender, a mail goes to every recipient, and neither has a secret or an address', async () => {
  await openCase();
  await pass(0);
  const [call] = calls('cases-open');
  const headers = call?.headers as Record<string, string>;
  const read = new Webhook(ALERT_SECRET).verify(String(call?.body), headers);
  const data = { mode: 'test', state: 'cases-open', over: false, todo: 'npm run cases' };
  expect(read).toMatchObject({ type: 'alert.cases-open', data });
  expect(headers['user-agent']).toMatch(/^payment-integrator/);
  const [mail] = mails('cases-open');
  expect(mail).toMatchObject({ from: 'ops@example.com', to: ['ops@example.com', 'ada@example.com'] });
  expect(`${call?.body} ${mail?.text}`).not.toMatch(/bob@|sk_test|whsec_|postgres:/);
});

test('the server sends alerts when no worker runs', async () => {
  await isDue(11);
  await shop.restart();
  await eventually(() => calls('payments-overdue').length === 1);
});
