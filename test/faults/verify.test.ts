import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fault } from '../support/line.ts';
import {
  answers,
  bomb,
  compressed,
  cutChunk,
  cutShort,
  flood,
  hangUp,
  lineFeedsOnly,
  noHttp,
  reset,
  rewritten,
  twoLengths,
  withAmount,
  withRecord,
} from '../support/line-faults.ts';
import { newId } from '../../src/platform/ids.ts';
import { someOf, someOfEach } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { startStage, type Order, type Stage } from '../support/stage.ts';

// The money has come, and the answer to verify is lost, broken or odd. Nothing is paid by such an answer and nothing is
// failed by it; when the line is whole again, the order is paid once. And while nobody has paid, no oddity pays.

let stage: Stage;
let trap: Server & { visits: number };
beforeAll(async () => {
  stage = await startStage();
  trap = Object.assign(createServer(), { visits: 0 });
  trap.on('request', (_req, res) => {
    trap.visits += 1;
    res.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stage.close();
  await new Promise((resolve) => trap.close(resolve));
});

const MARK = 'UPSTREAM-SECRET-TEXT';
const away = (path: string): string => `http://127.0.0.1:${(trap.address() as AddressInfo).port}${path}`;
const html = `<html><body>${MARK} SUCCESS</body></html>`;
const saysPaid = { status: true, data: { status: 'SUCCESS', amount: 8500, currency: 'NGN', note: MARK } };
type Row = { id: string; name: string; fault: Fault };
const byId = ({ id }: Row): string => id;
const byProof = ({ id, proof }: Row & { proof: string }): string => `${id} ${proof}`;

async function paidOrder(): Promise<Order> {
  const order = await stage.checkout();
  await stage.decide(order, 'pay');
  return order;
}

/** The shopper comes back while the fault lasts. */
async function comeBack(order: Order, fault: Fault): Promise<void> {
  stage.line.disturb('verify', fault, order.reference);
  expect(await stage.comeBack(order)).toBe(303);
}

async function healsToPaid(order: Order): Promise<void> {
  expect(stage.lines.join('\n')).not.toContain(MARK);
  await stage.heal(order);
  const end = await stage.endOf(order);
  expect(end).toMatchObject({ order: 'paid', payments: ['paid'], releases: 1, suspense: [] });
  expect(end.proofs.at(-1)).toBe('paid');
  await stage.check();
}

const NO_ANSWER: readonly Row[] = [
  ...[500, 502, 503, 504].map((status) => ({
    id: 'S5',
    name: `HTTP ${status} whose body says paid`,
    fault: answers(status, saysPaid),
  })),
  { id: 'S23', name: 'a body that breaks off', fault: cutShort },
  { id: 'S23', name: 'a chunk that breaks off', fault: cutChunk },
  { id: 'S24', name: 'more than 256 KiB of true JSON', fault: withRecord({ note: 'x'.repeat(300_000) }) },
  { id: 'S24', name: 'an endless body', fault: flood() },
  { id: 'S25', name: 'the true answer, compressed', fault: compressed },
  { id: 'S25', name: 'a compression bomb', fault: bomb },
  { id: 'S26', name: 'a page, 502', fault: answers(502, html, { 'content-type': 'text/html' }) },
  { id: 'S27', name: 'two lengths', fault: twoLengths },
  { id: 'S27', name: 'line feeds alone', fault: lineFeedsOnly },
  { id: 'S27', name: 'no HTTP at all', fault: noHttp },
  { id: 'S31', name: 'the connection ends', fault: hangUp },
  { id: 'S31', name: 'the connection is reset', fault: reset },
];

describe('no answer: the order stays pending, nothing is written down, and the clock asks again', () => {
  testOfBoth.each(someOfEach(NO_ANSWER, 1, byId))('$id: $name', async ({ fault }) => {
    const order = await paidOrder();
    await comeBack(order, fault);
    expect(await stage.endOf(order)).toEqual({
      order: 'pending',
      payments: ['open'],
      proofs: [],
      suspense: [],
      releases: 0,
      wire: { initialize: 1, verify: 1 },
    });
    await healsToPaid(order);
  });
});

const NOTHING_SAID: readonly (Row & { proof?: string })[] = [
  { id: 'S9', name: '404: the record is not there yet', fault: answers(404, {}), proof: 'not_found' },
  { id: 'S9', name: '400 in place of 404', fault: answers(400, {}), proof: 'not_found' },
  {
    id: 'S13',
    name: '200 and success false',
    fault: answers(200, { status: false, message: MARK, data: {} }),
  },
  { id: 'S13', name: '200 and no data', fault: answers(200, { status: 'success', data: null }) },
  { id: 'S14', name: 'a list of one', fault: withRecord((record) => [record]) },
  { id: 'S19', name: 'the amount twice', fault: withAmount('1,"amount":8500') },
  { id: 'S19', name: 'the amount twice, the same', fault: withAmount('8500,"amount":8500.00') },
  { id: 'S19', name: 'NaN for an amount', fault: withAmount('NaN') },
  { id: 'S19', name: 'a hexadecimal amount', fault: withAmount('0x2134') },
  { id: 'S19', name: 'a plus before the amount', fault: withAmount('+8500') },
  { id: 'S23', name: '200 and nothing', fault: answers(200) },
  { id: 'S23', name: '204', fault: answers(204) },
  { id: 'S23', name: 'truncated JSON in the right frame', fault: rewritten((text) => text.slice(0, -1)) },
  { id: 'S26', name: 'a page, 200', fault: answers(200, html, { 'content-type': 'text/html' }) },
  { id: 'S26', name: 'a byte-order mark', fault: rewritten((text) => `\ufeff${text}`) },
  { id: 'S26', name: 'UTF-16', fault: rewritten((text) => Buffer.from(text, 'utf16le')) },
  {
    id: 'S26',
    name: 'invalid UTF-8',
    fault: rewritten((text) => Buffer.from(text.replace('"SUCCESS"', '"SUCCESS","x":"\xff"'), 'latin1')),
  },
  ...[301, 302, 303, 307, 308].map((status) => ({
    id: 'S28',
    name: `a ${status} to another host`,
    fault: ((call) => {
      call.answer({ status, headers: { location: away('/v1/transactions/verify/x') }, body: '{}' });
    }) satisfies Fault,
  })),
];

describe('an answer that says nothing: the order stays pending, the answer is kept, and the clock asks again', () => {
  testOfBoth.each(someOfEach(NOTHING_SAID, 1, byId))(
    '$id: $name',
    async ({ fault, proof = 'unreadable' }) => {
      const order = await paidOrder();
      await comeBack(order, fault);
      expect(await stage.endOf(order)).toEqual({
        order: 'pending',
        payments: ['open'],
        proofs: [proof],
        suspense: [],
        releases: 0,
        wire: { initialize: 1, verify: 1 },
      });
      expect(trap.visits).toBe(0);
      await healsToPaid(order);
    },
  );
});

const without = (field: string): Fault => withRecord({ [field]: undefined });
const neighbour = newId();

const ODD: readonly (Row & { proof: string; suspense?: string })[] = [
  ...[
    'COLLECTED',
    'SUCCESSFULL',
    'NOT SUCCESS',
    'success/failed',
    'SUCCESS!',
    'S U C C E S S',
    'succ\u00e8s',
    'PA\u0000ID',
    '<b>paid</b>',
    '',
    null,
    1,
    true,
    ['SUCCESS'],
    { word: 'SUCCESS' },
  ].map((status) => ({
    id: 'S12',
    name: `the status ${JSON.stringify(status)}`,
    fault: withRecord({ status }),
    proof: 'unknown_status',
  })),
  {
    id: 'S14',
    name: 'the record one level deeper than it should be',
    fault: withRecord((record) => ({ payment: record })),
    proof: 'unknown_status',
  },
  { id: 'S15', name: 'a hundred-thousandth too little', fault: withAmount('8499.99995'), proof: 'unproven' },
  { id: 'S15', name: 'a hundred-thousandth too much', fault: withAmount('8500.00001'), proof: 'unproven' },
  {
    id: 'S15',
    name: 'a kobo too little, by mistake',
    fault: withAmount('8499.99'),
    proof: 'underpaid',
    suspense: 'underpaid 849999',
  },
  {
    id: 'S15',
    name: 'a kobo too much, by mistake',
    fault: withAmount('8500.01'),
    proof: 'overpaid',
    suspense: 'overpaid 850001',
  },
  {
    id: 'S16',
    name: 'another currency, by mistake',
    fault: withRecord({ currency: 'USD' }),
    proof: 'currency_mismatch',
    suspense: 'currency_mismatch 850000',
  },
  ...['NAIRA', 'N', '', '\u20a6', null, 566, ['NGN']].map((currency) => ({
    id: 'S16',
    name: `the currency ${JSON.stringify(currency)}`,
    fault: withRecord({ currency }),
    proof: 'unproven',
  })),
  {
    id: 'S18',
    name: "a neighbour's reference",
    fault: withRecord({ reference: neighbour }),
    proof: 'reference_mismatch',
  },
  {
    id: 'S18',
    name: 'our reference in other letters',
    fault: withRecord((record) => ({ ...record, reference: String(record.reference).toLowerCase() })),
    proof: 'reference_mismatch',
  },
  {
    id: 'S18',
    name: 'a part of our reference',
    fault: withRecord((record) => ({ ...record, reference: String(record.reference).slice(0, 23) })),
    proof: 'reference_mismatch',
  },
  ...['1e400', '-0', '-8500', '"NaN"', '"8,500.00"', '"NGN 8500"', '""', '[8500]', 'true'].map((amount) => ({
    id: 'S19',
    name: `the amount ${amount}`,
    fault: withAmount(amount),
    proof: 'unproven',
  })),
  {
    id: 'S19',
    name: 'an amount that a float rounds',
    fault: withAmount('90071992547409.93'),
    proof: 'overpaid',
    suspense: 'overpaid 9007199254740993',
  },
  { id: 'S20', name: 'no status', fault: without('status'), proof: 'unknown_status' },
  ...['reference', 'amount', 'currency'].flatMap((field) => [
    { id: 'S20', name: `no ${field}`, fault: without(field), proof: 'unproven' },
    { id: 'S20', name: `${field} is null`, fault: withRecord({ [field]: null }), proof: 'unproven' },
    { id: 'S20', name: `${field} is an object`, fault: withRecord({ [field]: {} }), proof: 'unproven' },
  ]),
  {
    id: 'S20',
    name: 'a record with nothing but an id',
    fault: withRecord({ status: undefined, reference: undefined, amount: undefined, currency: undefined }),
    proof: 'unknown_status',
  },
];

const held = ({ proof, suspense }: { proof: string; suspense?: string }) => ({
  order: 'review',
  payments: ['held'],
  proofs: [proof],
  suspense: suspense === undefined ? [] : [suspense],
  releases: 0,
  wire: { initialize: 1, verify: 1 },
});

describe('odd evidence: the order is held for a person, and paid when the evidence is whole', () => {
  testOfBoth.each(someOfEach(ODD, 1, byProof))('$id: $name', async ({ fault, ...row }) => {
    const order = await paidOrder();
    await comeBack(order, fault);
    expect(await stage.endOf(order)).toEqual(held(row));
    expect((await stage.buy({ orderId: order.orderId })).status).toBe(409);
    await healsToPaid(order);
  });
});

describe('odd evidence while nobody has paid: not paid, and pending again when the answer is whole', () => {
  const pretended =
    (fault: Fault): Fault =>
    (call) =>
      fault({
        ...call,
        pass: async () => {
          const answer = await call.pass();
          return { ...answer, body: String(answer.body).replace('"PENDING"', '"SUCCESS"') };
        },
      });
  // Money that is said to have come keeps a payment held, whatever is said later: that is for a person to end.
  const withoutMoney = ODD.filter(({ suspense }) => suspense === undefined);

  testOfBoth.each(someOfEach(withoutMoney, 1, byProof))('$id: $name', async ({ fault, proof }) => {
    const order = await stage.checkout();
    await comeBack(order, pretended(fault));
    expect(await stage.endOf(order)).toEqual(held({ proof }));
    await stage.heal(order);
    expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'], releases: 0 });
    await stage.check();
  });
});

describe('other spellings of the same evidence: paid at once', () => {
  const PAYS: readonly Row[] = [
    ...['success', 'sUcCeSs', ' Successful ', 'SUCCEEDED', 'Paid'].map((status) => ({
      id: 'S12',
      name: `the status ${JSON.stringify(status)}`,
      fault: withRecord({ status }),
    })),
    {
      id: 'S14',
      name: 'a record without an envelope',
      fault: rewritten((text) => JSON.stringify((JSON.parse(text) as { data: unknown }).data)),
    },
    { id: 'S14', name: 'two envelopes', fault: withRecord((record) => ({ data: record })) },
    { id: 'S16', name: 'the currency in small letters', fault: withRecord({ currency: 'ngn' }) },
    ...['8500', '8500.0', '8500.000000', '8.5e3', '85e2', '"8500.00"'].map((amount) => ({
      id: 'S19',
      name: `the amount ${amount}`,
      fault: withAmount(amount),
    })),
    {
      id: 'S19',
      name: 'the amount with its currency',
      fault: withRecord({ amount: { value: 8500, currency: 'NGN' }, currency: undefined }),
    },
    {
      id: 'S20',
      name: 'fields that nobody knows',
      fault: withRecord({
        fee: 12,
        status2: 'FAILED',
        ['__proto__']: { status: 'FAILED' },
        nested: { status: 'FAILED' },
      }),
    },
    { id: 'S20', name: 'no id', fault: withRecord({ id: null }) },
    ...['31/12/1999', 0, 4_102_444_800_000, null, 'tomorrow'].map((time) => ({
      id: 'S43',
      name: `the times ${JSON.stringify(time)}`,
      fault: withRecord({ createdAt: time, updatedAt: time, paidAt: time }),
    })),
  ];

  testOfBoth.each(someOfEach(PAYS, 1, byId))('$id: $name', async ({ fault }) => {
    const order = await paidOrder();
    await comeBack(order, fault);
    expect(await stage.endOf(order)).toMatchObject({
      order: 'paid',
      proofs: ['paid'],
      releases: 1,
      wire: { initialize: 1, verify: 1 },
    });
    await stage.check();
  });
});

test("S18: a neighbour's paid record pays neither this order nor the neighbour's twice", async () => {
  const [mine, other] = [await stage.checkout(), await paidOrder()];
  stage.line.disturb(
    'verify',
    async (call) => {
      const path = `${stage.sandbox.url}/v1/transactions/verify/${other.reference}`;
      const answer = await fetch(path, { headers: { 'x-api-key': stage.sandbox.testKey } });
      call.answer({ body: await answer.text() });
    },
    mine.reference,
  );
  expect(await stage.comeBack(mine)).toBe(303);
  expect(await stage.endOf(mine)).toMatchObject(held({ proof: 'reference_mismatch' }));
  expect(await stage.comeBack(other)).toBe(303);
  await stage.heal(mine);
  expect(await stage.endOf(mine)).toMatchObject({ order: 'pending', releases: 0 });
  expect(await stage.endOf(other)).toMatchObject({ order: 'paid', releases: 1 });
  await stage.check();
});

test('S24: an endless answer is cut off, and its connection is closed', async () => {
  const order = await paidOrder();
  const bytesSent = new Promise<number>((resolve) => {
    stage.line.disturb('verify', [flood(resolve)], order.reference);
  });
  expect(await stage.comeBack(order)).toBe(303);
  // What the sockets of both sides hold comes on top of the 256 KiB that are read.
  expect(await bytesSent).toBeLessThan(16 << 20);
  await healsToPaid(order);
});

test('S5: a service that fails every other time is asked with growing pauses, once per check', async () => {
  const order = await paidOrder();
  stage.line.disturb(
    'verify',
    [503, 500, 503].map((status) => answers(status)),
    order.reference,
  );
  for (const [at, pause] of [5, 10, 20, 40].entries()) {
    // Too early by a second: nobody asks.
    await stage.later(order, pause - 1);
    expect((await stage.endOf(order)).wire.verify).toBe(at);
    // And a tenth, by which pauses are spread.
    await stage.later(order, 1 + pause / 10);
    expect((await stage.endOf(order)).wire.verify).toBe(at + 1);
  }
  expect(await stage.endOf(order)).toMatchObject({ order: 'paid', proofs: ['paid'], releases: 1 });
  await stage.check();
});

testOfBoth.each(someOf([401, 403], 1))(
  'S8: HTTP %i on every call: nothing failed, readiness red, and all is well with a new key',
  async (status) => {
    const [paid, open] = [await paidOrder(), await stage.checkout()];
    for (const endpoint of ['initialize', 'verify', 'history'] as const)
      stage.line.disturb(endpoint, answers(status, { message: MARK }));
    expect(await stage.comeBack(paid)).toBe(303);
    for (const order of [paid, open]) await stage.later(order, 600);
    const answer = await stage.buy();
    expect(answer.status).toBe(502);
    const kept = (await answer.json()) as { orderId: string };
    for (const order of [paid, open])
      expect(await stage.endOf(order)).toMatchObject({ order: 'pending', payments: ['open'], proofs: [] });
    expect(await stage.endOf(kept)).toMatchObject({ order: 'pending', payments: ['refused'] });
    expect((await fetch(`${stage.origin}/readyz`)).status).toBe(503);
    stage.line.clear();
    await stage.decide(await stage.checkout({ orderId: kept.orderId }), 'pay');
    expect((await fetch(`${stage.origin}/readyz`)).status).toBe(200);
    for (const order of [paid, open, kept]) await stage.heal(order);
    for (const order of [paid, kept])
      expect(await stage.endOf(order)).toMatchObject({ order: 'paid', releases: 1 });
    expect(await stage.endOf(open)).toMatchObject({ order: 'pending', payments: ['open'] });
    await stage.check();
  },
);
