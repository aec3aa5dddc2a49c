import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { buy, happens } from '../reconciliation/makers.ts';
import { startDesk, type Desk } from '../reconciliation/support.ts';
import { READ_SLIPS, TEXT_SLIPS } from '../support/adapters/slips.ts';
import { eventually } from '../support/eventually.ts';
import { befall, callsOf, healService, paymentsOf, tryCheckout } from '../support/failures.ts';
import { comeBack, payInSilence, statusOf } from '../support/outside.ts';
import { startProcess } from '../support/process.ts';
import { TEST_KEY, type Checkout } from '../support/shop.ts';

// A shop writes its own adapter, and may not compile it. A mistake in it costs one answer, and is
// reported.

const adapterAt = (name: string) => fileURLToPath(new URL(`../support/adapters/${name}.ts`, import.meta.url));

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk({ env: { GATEWAY_ADAPTER: adapterAt('slips') } });
});
afterEach(() => healService(desk));
afterAll(() => desk.stop());

/** The doctor's line about the adapter, without the advice; empty if it is ok. */
async function doctorSays(): Promise<string> {
  const { out } = await desk.run('doctor');
  return /^(?:look|wrong) +adapter: ([^]*?)(?=^(?:ok|look|wrong) |^ +> )/m.exec(`${out}\nok `)?.[1] ?? '';
}
const doctorNames = (member: RegExp) =>
  eventually(async () => {
    expect(await doctorSays()).toMatch(member);
  });
const unreadable = async (reference: string) => {
  const sql = 'SELECT 1 FROM payments WHERE reference = $1 AND unreadable_since IS NOT NULL';
  return (await desk.database.query(sql, [reference])).length > 0;
};
const openCases = (reference: string) =>
  desk.database.query('SELECT class FROM cases WHERE reference = $1 AND closed_at IS NULL', [reference]);

/**
 * A payment that is paid, with these fields in every record. The record is corrected after the
 * test.
 */
async function paidWith(said: Record<string, unknown>): Promise<Checkout> {
  const checkout = await desk.checkout();
  await happens(desk, checkout.reference, 'record', said);
  await payInSilence(desk, checkout.reference);
  expect((await comeBack(desk, checkout.reference)).status).toBe(303);
  wrong.push({ checkout, said });
  return checkout;
}
const wrong: { checkout: Checkout; said: Record<string, unknown> }[] = [];
const mend = async () => {
  for (const { checkout, said } of wrong.splice(0))
    await happens(desk, checkout.reference, 'record', { ...said, slip: null, amount: 8_500 });
};
afterEach(mend);
/**
 * A run completes although one row of the history is unreadable, and opens no case about the
 * others.
 */
async function oneRowIsUnreadable(...others: Checkout[]): Promise<void> {
  expect(await desk.reconcile()).toMatchObject({
    exit: 1,
    report: { complete: true, verdict: 'findings', history: { unreadable: 1 } },
  });
  for (const { reference } of others) expect(await openCases(reference)).toEqual([]);
}

test.each(Object.keys(READ_SLIPS))(
  'when `read` returns %s, that record is unreadable and all others are readable',
  async (slip) => {
    const [checkout, honest] = [await paidWith({ slip }), await buy(desk)];
    expect(await statusOf(desk, checkout.orderId)).toBe('pending');
    await eventually(() => unreadable(checkout.reference));
    await oneRowIsUnreadable(checkout, honest);
    await doctorNames(/(?<!cannot )\bread\b/);
    await mend();
    await comeBack(desk, checkout.reference);
    await eventually(async () => (await statusOf(desk, checkout.orderId)) === 'paid');
    expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { complete: true, verdict: 'agreed' } });
  },
);

test.each(Object.keys(TEXT_SLIPS))('when `read` returns %s, the payment still counts', async (slip) => {
  const checkout = await paidWith({ slip });
  await eventually(async () => (await statusOf(desk, checkout.orderId)) === 'paid');
  expect(await desk.reconcile()).toMatchObject({ exit: 0, report: { verdict: 'agreed' } });
});

test('an amount too large for the database pays nothing and ends no run', async () => {
  const [checkout, honest] = [await paidWith({ amount: '9'.repeat(30) }), await buy(desk)];
  expect(await statusOf(desk, checkout.orderId)).not.toBe('paid');
  await oneRowIsUnreadable(honest);
  await mend();
  await comeBack(desk, checkout.reference);
  await eventually(async () => (await statusOf(desk, checkout.orderId)) === 'paid');
});

test('when `webhook.references` returns null, the webhook is accepted', async () => {
  const { reference } = await desk.checkout();
  const body = { slip: 'null', data: { reference } };
  expect(await desk.sandboxPost(`/transactions/${reference}/webhook`, { body })).toEqual({ status: 202 });
  await doctorNames(/webhook\.references/);
});

test.each<[member: string, returns: string, page: object]>([
  ['rows', 'a text', { rows: 'a text' }],
  ['next', 'a number', { next: 'a number' }],
  ['next', 'nothing', { next: 'nothing' }],
])('when `history.%s` returns %s, the run is incomplete and says why', async (member, _returns, page) => {
  const { reference } = await buy(desk);
  const body = { status: true, data: { data: [] }, ...page };
  await befall(desk, 'history', 'body', { body, times: 0 });
  const reason = expect.stringMatching(/page 1\b/) as unknown;
  expect(await desk.reconcile()).toMatchObject({ exit: 2, report: { complete: false, verdict: 'incomplete', reason } });
  expect(await openCases(reference)).toEqual([]);
  await doctorNames(new RegExp(`history\\.${member}`));
  await healService(desk);
  expect(await desk.reconcile()).toMatchObject({ report: { complete: true } });
});

test.each(['a refusal that is a number', 'nothing'])(
  'when `initialize.checkoutUrl` returns %s, the shopper is asked to try again and others can pay',
  async (slip) => {
    const email = `${slip.replaceAll(' ', '-')}@example.com`;
    await befall(desk, 'initialize', 'body', { body: { status: true, slip } });
    expect(await tryCheckout(desk, email)).toMatchObject({ status: 503, body: { orderId: expect.any(String) } });
    const [payment] = await paymentsOf(desk, 'email', email);
    // A checkout may be open, so verify is asked.
    await eventually(async () => (await callsOf(desk, 'verify', payment?.reference)).length > 0);
    const { orderId } = await buy(desk);
    expect(await statusOf(desk, orderId)).toBe('paid');
    await doctorNames(/initialize\.checkoutUrl/);
  },
);

test('when `initialize.body` throws, nothing is sent and the shopper is asked to try again', async () => {
  const before = (await callsOf(desk, 'initialize')).length;
  expect(await tryCheckout(desk, 'unwritable@example.com')).toMatchObject({ status: 503 });
  expect(await callsOf(desk, 'initialize')).toHaveLength(before);
  expect((await tryCheckout(desk, 'writable@example.com'))?.status).toBe(201);
  await doctorNames(/initialize\.body/);
});

/** A run whose history has these rows, written as text, and then the rows of our payments. */
async function listed(...texts: string[]) {
  const all = await desk.sandboxGet<{ list: object[] }[]>('/transactions');
  const data = [...texts, ...all.flatMap(({ list }) => list).map((row) => JSON.stringify(row))];
  // The sandbox cannot serve an answer of this size. Verify does not know the other references.
  const service = createServer((req, res) => {
    const isList = req.url?.includes('/history') === true;
    const body = `{"status":${isList},"data":{"data":[${isList ? data.join() : ''}],"hasNextPage":false}}`;
    res.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const GATEWAY_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const env = { GATEWAY_URL, GATEWAY_ADAPTER: adapterAt('slips'), USER: 'ada' };
  const { exit, out, err } = await desk.command(['reconcile', '--json'], env);
  service.close().closeAllConnections();
  return { exit, err, report: out === '' ? null : (JSON.parse(out) as object) };
}

test('a history row that is nested a hundred thousand levels deep ends no run', async () => {
  const { reference } = await buy(desk);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(await listed(`{"reference":"deep","status":"PENDING","deep":${deep}}`)).toMatchObject({
    report: { complete: true },
  });
  expect(await openCases(reference)).toEqual([]);
});

test('rows whose sum is too large for the database end no run', async () => {
  const { reference } = await buy(desk);
  const row = { reference: 'enormous', status: 'SUCCESS', amount: 999_999_999_999_999, currency: 'KWD' };
  // Each amount is below ten to the eighteenth of the minor unit. Their sum is above a bigint.
  const rows = Array.from({ length: 12 }, (_, id) => JSON.stringify({ ...row, id: `E-${id}` }));
  expect(await listed(...rows)).toMatchObject({ exit: 1, report: { complete: true, verdict: 'findings' } });
  expect(await openCases(reference)).toEqual([]);
});

test.each([
  ['a lag of half a minute', 'lagMin'],
  ['a lag below zero', 'lagMin'],
  ['a reach of half a day', 'reachesBackDays'],
  ['no reach', 'reachesBackDays'],
  ['days that are no number', 'payableDays'],
  ['no days', 'payableDays'],
])('with %s no process starts, and the error names %s', async (NUMBERS, member) => {
  const env = { DATABASE_URL: desk.database.url, GATEWAY_URL: String(desk.sandbox?.url), PORT: '0' };
  const own = { GATEWAY_SECRET_KEY: TEST_KEY, GATEWAY_ADAPTER: adapterAt('numbers'), NUMBERS };
  const started = startProcess('src/server.ts', { ...env, ...own });
  const how = await eventually(() => started.ended() ?? (started.lines().some(({ msg }) => msg === 'ready') && 'up'));
  await started.kill('SIGKILL');
  expect([how, started.stderr()]).toEqual([78, expect.stringContaining(member)]);
});
