import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { someOf } from '../support/extent.ts';
import type { Fault } from '../support/line.ts';
import {
  answers,
  applied,
  bomb,
  bytes,
  compressed,
  cutChunk,
  cutShort,
  flood,
  hangUp,
  lineFeedsOnly,
  noHttp,
  reset,
  rewritten,
  tooManyBytes,
  twoLengths,
} from '../support/line-faults.ts';
import type { CheckoutAnswer } from '../support/program.ts';
import { startStage, type Order, type Stage } from '../support/stage.ts';
import { someOfEach } from './some-of-each.ts';

// The answer to initialize is lost, broken or forged. Whatever came, the shopper is asked to try again, the reference is
// never sent a second time, and money that comes by either checkout pays the order once.

let stage: Stage;
/** Another host, where the key must never arrive. */
let trap: Server & { visits: number };
beforeAll(async () => {
  stage = await startStage({ env: { CHECKOUT_HOSTS: 'pay.example.com,127.0.0.1' } });
  trap = Object.assign(createServer(), { visits: 0 });
  trap.on('request', (_req, res) => {
    trap.visits += 1;
    res.end('{"data":"https://pay.example.com/1"}');
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stage.close();
  await new Promise((resolve) => trap.close(resolve));
});

/** Stands in answers of the service, and nowhere else. */
const MARK = 'UPSTREAM-SECRET-TEXT';
const away = (path: string): string => `http://127.0.0.1:${(trap.address() as AddressInfo).port}${path}`;
const redirect =
  (status: number, to: () => string): Fault =>
  (call) => {
    call.answer({ status, headers: { location: to() } });
  };
const data = (value: unknown): Fault =>
  rewritten((text) => JSON.stringify({ ...(JSON.parse(text) as object), data: value }));
const utf16 = rewritten((text) => Buffer.from(text, 'utf16le'));
const html = `<html><body>${MARK}</body></html>`;

type Row = {
  id: string;
  name: string;
  fault: Fault;
  /** Whether the service opened a checkout all the same: then money may come by it. */
  isApplied?: true;
};

/** S33 is told by two stories that are not alike. */
const kindOf = ({ id, name, isApplied }: Row): string => (id === 'S33' ? name : id + String(isApplied));

const twice = (id: string, name: string, fault: Fault): Row[] => [
  { id, name: `${name}, not carried out`, fault },
  { id, name: `${name}, carried out`, fault: applied(fault), isApplied: true },
];

const AMBIGUOUS: readonly Row[] = [
  ...[500, 502, 503, 504].flatMap((status) =>
    twice('S4', `HTTP ${status}`, answers(status, { message: MARK })),
  ),
  { id: 'S13', name: '200 whose body says error', fault: answers(200, { status: false, message: MARK }) },
  ...twice('S23', 'a body that breaks off', cutShort),
  ...twice('S23', 'a chunk that breaks off', cutChunk),
  {
    id: 'S23',
    name: 'truncated JSON in the right frame',
    fault: rewritten((text) => text.slice(0, -9)),
    isApplied: true,
  },
  { id: 'S23', name: 'more bytes than announced', fault: applied(tooManyBytes), isApplied: true },
  { id: 'S23', name: '200 and nothing', fault: answers(200) },
  { id: 'S23', name: '204', fault: applied(answers(204)), isApplied: true },
  { id: 'S24', name: 'an endless body', fault: applied(flood()), isApplied: true },
  { id: 'S25', name: 'a compressed answer', fault: compressed, isApplied: true },
  { id: 'S25', name: 'a compression bomb', fault: bomb },
  { id: 'S26', name: 'a page, 200', fault: answers(200, html, { 'content-type': 'text/html' }) },
  ...twice('S26', 'a page, 502', answers(502, html, { 'content-type': 'text/html' })),
  { id: 'S26', name: 'a byte-order mark', fault: rewritten((text) => `\ufeff${text}`), isApplied: true },
  { id: 'S26', name: 'UTF-16', fault: utf16, isApplied: true },
  { id: 'S26', name: 'invalid UTF-8', fault: answers(200, Buffer.from('{"data":"\xff"}', 'latin1')) },
  ...twice('S27', 'two lengths', twoLengths),
  { id: 'S27', name: 'line feeds alone', fault: lineFeedsOnly },
  ...twice('S27', 'no HTTP at all', noHttp),
  ...[301, 302, 303, 307, 308].map((status) => ({
    id: 'S28',
    name: `a ${status} to another host`,
    fault: redirect(status, () => away('/steal')),
  })),
  { id: 'S28', name: 'a 302 to itself', fault: redirect(302, () => '/v1/transactions/initialize') },
  {
    id: 'S28',
    name: 'a 307 to the metadata of a cloud',
    fault: redirect(307, () => 'http://169.254.169.254/'),
  },
  ...twice('S31', 'the connection ends after the request', hangUp),
  ...twice('S31', 'the connection is reset after the request', reset),
  {
    id: 'S33',
    name: '409: the reference is known already',
    fault: applied(answers(409, { message: MARK })),
    isApplied: true,
  },
  {
    id: 'S33',
    name: 'the line sends the call twice, and hands on the second answer',
    fault: async (call) => {
      await call.pass();
      call.answer(await call.pass());
    },
    isApplied: true,
  },
  ...Object.entries({
    'no address': undefined,
    'a null': null,
    'an empty text': '',
    'a number': 42,
    'an object without an address': { id: 1 },
    'a script': 'javascript:alert(1)',
    'a page in itself': 'data:text/html,<script>alert(1)</script>',
    'an address without a scheme': '//pay.example.com/1',
    'a user name that looks like the host': 'https://pay.example.com@evil.example/1',
    'a user name at the right host': 'https://ada:secret@pay.example.com/1',
    'a host that begins like ours': 'https://pay.example.com.evil.example/1',
    'another port': 'https://pay.example.com:8443/1',
    'no TLS': 'http://pay.example.com/1',
    'a line break': 'https://pay.example.com/1\r\nset-cookie: a=b',
    'a hundred kilobytes': `https://pay.example.com/${'a'.repeat(100_000)}`,
    'a look-alike letter': 'https://p\u0430y.example.com/1',
  }).map(([name, value]): Row => ({
    id: 'S34',
    name: `the address is ${name}`,
    fault: data(value),
    isApplied: true,
  })),
];

async function keptOrder(answer: Response): Promise<{ orderId: string }> {
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get('location')).toBeNull();
  const text = await answer.text();
  expect(text).not.toContain(MARK);
  // A host that is not listed is named to the operator, and nothing else of what the service said.
  expect(text.replace(/the host \S+, which is not in CHECKOUT_HOSTS/, '')).not.toContain('example.com');
  const { orderId } = JSON.parse(text) as { orderId: string };
  return { orderId };
}

const referencesOf = async ({ orderId }: { orderId: string }): Promise<string[]> => {
  const rows = await stage.program.database.query<{ reference: string }>(
    'SELECT reference FROM payments WHERE order_id = $1 ORDER BY created_at',
    [orderId],
  );
  return rows.map(({ reference }) => reference);
};

describe('ambiguous: 503 and a kept order, one call per reference, a new reference at the next try, and one release', () => {
  test.each(someOfEach(AMBIGUOUS, 1, kindOf))('$id: $name', async ({ fault, isApplied = false }) => {
    stage.line.disturb('initialize', fault);
    const { orderId } = await keptOrder(await stage.buy());
    const during = await stage.endOf({ orderId });
    expect(during).toMatchObject({ order: 'pending', proofs: [], releases: 0, suspense: [] });
    expect(new Set(during.payments)).toEqual(new Set(['ambiguous']));
    expect(during.wire).toEqual({ initialize: during.payments.length, verify: 0 });
    expect(stage.lines.join('\n')).not.toContain(MARK);
    expect(trap.visits).toBe(0);

    stage.line.clear();
    const old = await referencesOf({ orderId });
    const again = await stage.checkout({ orderId });
    expect(old).not.toContain(again.reference);
    // Whichever checkout brings the money, it is seen and pays the order.
    const paying: Order = isApplied ? { orderId, reference: old[0] ?? '' } : again;
    await stage.decide(paying, 'pay');
    await stage.heal({ orderId });
    const end = await stage.endOf({ orderId });
    expect(end).toMatchObject({ order: 'paid', releases: 1, suspense: [] });
    expect(end.payments[isApplied ? 0 : end.payments.length - 1]).toBe('paid');
    expect(end.wire.initialize).toBe(end.payments.length);
    await stage.check();
  });
});

describe('refused: 502, the service did not act', () => {
  const REFUSALS = someOf([400, 404, 405, 413, 415, 422], 2);
  test.each(REFUSALS)('S4: HTTP %i with a body that can be read', async (status) => {
    stage.line.disturb('initialize', [answers(status, { message: MARK })]);
    const answer = await stage.buy();
    expect(answer.status).toBe(502);
    const text = await answer.text();
    expect(text).not.toContain(MARK);
    const { orderId } = JSON.parse(text) as { orderId: string };
    const order = { orderId };
    expect(await stage.endOf(order)).toMatchObject({ order: 'failed', payments: ['refused'] });
    await stage.decide(await stage.checkout(order), 'pay');
    await stage.heal(order);
    expect(await stage.endOf(order)).toMatchObject({
      order: 'paid',
      payments: ['refused', 'paid'],
      releases: 1,
    });
    await stage.check();
  });
});

describe('not sent: 503, and the same payment goes out later', () => {
  test('S31: nobody listens', async () => {
    await stage.line.leave();
    const order = await keptOrder(await stage.buy());
    expect(await stage.endOf(order)).toMatchObject({ payments: ['created'], wire: { initialize: 0 } });
    expect((await stage.buy(order)).status).toBe(503);
    await stage.line.comeBack();
    const [reference] = await referencesOf(order);
    const opened = await stage.checkout(order);
    expect(opened.reference).toBe(reference);
    await stage.decide(opened, 'pay');
    await stage.heal(order);
    expect(await stage.endOf(order)).toMatchObject({
      order: 'paid',
      payments: ['paid'],
      wire: { initialize: 1 },
    });
    await stage.check();
  });
});

test('S32: a kept connection that dies under the next call is not asked again', async () => {
  await stage.checkout();
  let wasReused = false;
  stage.line.disturb('initialize', (call) => {
    wasReused ||= call.isReused;
    return hangUp(call);
  });
  const order = await keptOrder(await stage.buy());
  expect(wasReused).toBe(true);
  const { payments, wire } = await stage.endOf(order);
  expect(wire.initialize).toBe(payments.length);
  await stage.heal(order);
  await stage.check();
});

test('S34: a plain HTML form is not sent to an address that no browser should open', async () => {
  stage.line.disturb('initialize', data('javascript:alert(1)'));
  const answer = await fetch(`${stage.origin}/checkout`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    body: 'email=ada%40example.com&sku=ankara-tote&quantity=1',
    redirect: 'manual',
  });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('location')).toBeNull();
  expect(await answer.text()).not.toContain('javascript:');
  stage.line.clear();
  await stage.check();
});

test('S24: an endless answer is cut off, and its connection is closed', async () => {
  let sent: ((bytes: number) => void) | undefined;
  const bytesSent = new Promise<number>((resolve) => (sent = resolve));
  stage.line.disturb('initialize', [flood(sent)]);
  const answer = await stage.buy();
  await answer.text();
  // What the sockets of both sides hold comes on top of the 64 KiB that are read.
  expect(await bytesSent).toBeLessThan(16 << 20);
  stage.line.clear();
  await stage.check();
});

test('S35: the same address for two references: each order goes by its own reference', async () => {
  const shared = data('https://pay.example.com/shared');
  stage.line.disturb('initialize', shared);
  const [one, other] = [await stage.checkout(), await stage.checkout()];
  expect(one.checkoutUrl).toBe(other.checkoutUrl);
  await stage.decide(one, 'pay');
  for (const order of [one, other]) expect(await stage.comeBack(order)).toBe(303);
  expect(await stage.endOf(one)).toMatchObject({ order: 'paid', releases: 1 });
  expect(await stage.endOf(other)).toMatchObject({ order: 'pending', releases: 0, proofs: ['pending'] });
  stage.line.clear();
  await stage.check();
});

test('S33: money that comes by both of two checkouts pays once, the other is in suspense', async () => {
  stage.line.disturb('initialize', [applied(bytes(''))]);
  const kept = (await (await stage.buy()).json()) as CheckoutAnswer;
  stage.line.clear();
  const again = await stage.checkout({ orderId: kept.orderId });
  const [first = ''] = await referencesOf(kept);
  for (const reference of [first, again.reference]) await stage.decide({ reference }, 'pay');
  await stage.heal(kept);
  await stage.heal(kept);
  expect(await stage.endOf(kept)).toMatchObject({
    order: 'paid',
    releases: 1,
    suspense: ['duplicate_payment 850000'],
  });
  await stage.check();
});
