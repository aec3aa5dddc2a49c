import { afterEach, describe, expect, test } from '@jest/globals';

import type { Sandbox } from '../../../local/sandbox/sandbox.ts';
import { ask, cleanUp, control, initialize, newFolder, openCheckout, start, verified } from './support.ts';

afterEach(cleanUp);

describe('a hand on the money', () => {
  test('pays what was asked for unless told otherwise', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: '25.00' });
  });

  test.each([
    ['less', '12.50', '12.50'],
    ['more', '25.01', '25.01'],
    ['a hundredfold', '2500', '2500.00'],
  ])('pays %s when told so, and verify says how much', async (_, amount, wire) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', { amount });
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: wire });
  });

  test('pays in another currency when told so', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', { amount: '25.000', currency: 'KWD' });
    expect((await ask(sandbox, 'verify/a')).text).toContain('"amount":25.000,"currency":"KWD"');
  });

  test('pays twice into one record, whose amount is the sum', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'transactions/a/pay', { amount: '0.01' });
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: '25.01' });
    expect(JSON.parse((await control(sandbox, 'transactions/a')).text)).toMatchObject({
      state: 'paid',
      timesPaid: 2,
      asked: { amount: '25.00', currency: 'NGN' },
      received: { amount: '25.01', currency: 'NGN' },
      payments: [{ amount: '25.00' }, { amount: '0.01' }],
    });
    expect(await control(sandbox, 'transactions/a/pay', { amount: '1', currency: 'XOF' })).toMatchObject({
      status: 409,
    });
  });

  test('pays late after a failure, but fails nothing that is paid', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/fail', {});
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'FAILED' });
    await control(sandbox, 'transactions/a/pay', {});
    expect(await control(sandbox, 'transactions/a/fail', {})).toMatchObject({ status: 409 });
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'SUCCESS' });
  });

  test('takes the money back only where there is some', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    expect(await control(sandbox, 'transactions/a/reverse', {})).toMatchObject({ status: 409 });
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'transactions/a/reverse', {});
    expect(await verified(sandbox, 'a')).toEqual({ status: 'REVERSED', amount: '25.00' });
    expect(await control(sandbox, 'transactions/a/pay', {})).toMatchObject({ status: 409 });
  });

  test.each([
    [404, 'transactions/nobody/pay', {}],
    [409, 'transactions/a/pay', { amount: '12.345' }],
    [409, 'transactions/a/pay', { amount: 'much' }],
    [409, 'transactions/a/pay', { currency: 'KWD' }],
    [422, 'transactions/a/pay', { amonut: '12.50' }],
    [422, 'transactions/a/pay', { amount: 12.5 }],
  ])('answers %d to %s with %j and takes nothing', async (status, path, body) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    expect(await control(sandbox, path, body)).toMatchObject({ status });
    expect(await verified(sandbox, 'a')).toEqual({ status: 'PENDING', amount: '25.00' });
  });

  test('is refused to web pages, which send an origin', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    const response = await fetch(`${sandbox.url}/sandbox/transactions/a/pay`, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    expect(response.status).toBe(403);
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'PENDING' });
  });
});

describe('the ground truth', () => {
  test('holds every transaction of both modes, however many', async () => {
    const sandbox = await start();
    for (let count = 0; count < 12; count += 1) await openCheckout(sandbox, `r${count}`);
    await initialize(sandbox, {}, sandbox.liveKey);
    type Rows = { transactions: { reference: string; mode: string }[] };
    const all = JSON.parse((await control(sandbox, 'transactions')).text) as Rows;
    expect(all.transactions).toHaveLength(13);
    expect(all.transactions[0]).toMatchObject({ reference: 'r11', mode: 'test' });
    const live = JSON.parse((await control(sandbox, 'transactions?mode=live')).text) as Rows;
    expect(live.transactions).toMatchObject([{ reference: 'order-1', mode: 'live' }]);
  });

  test('counts every call by endpoint and reference, refused ones too, in order of arrival', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await ask(sandbox, 'verify/a');
    await ask(sandbox, 'verify/b');
    await ask(sandbox, 'verify/a', 'no key');
    await ask(sandbox, 'history');
    const book = JSON.parse((await control(sandbox, 'calls')).text) as unknown;
    expect(book).toMatchObject({
      endpoints: {
        initialize: { total: 1, byStatus: { 200: 1 } },
        verify: { total: 3, byStatus: { 200: 1, 404: 1, 401: 1 } },
        history: { total: 1 },
      },
      references: { a: { initialize: 1, verify: 2 }, b: { initialize: 0, verify: 1 } },
      log: [
        { endpoint: 'initialize', reference: 'a', mode: 'test', status: 200 },
        { endpoint: 'verify', reference: 'a' },
        { endpoint: 'verify', reference: 'b', status: 404 },
        { endpoint: 'verify', reference: 'a', mode: null, status: 401 },
        { endpoint: 'history', reference: null },
      ],
    });
    const ofB = JSON.parse((await control(sandbox, 'calls?reference=b')).text) as { log: unknown[] };
    expect(ofB.log).toHaveLength(1);
  });
});

describe('bad days', () => {
  test('a refused key is refused everywhere until it is allowed again', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'keys/refuse', { refuse: true });
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 401 });
    expect(await initialize(sandbox)).toMatchObject({ status: 401 });
    await control(sandbox, 'keys/refuse', { refuse: false });
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 200 });
    expect(await ask(sandbox, 'verify/order-1')).toMatchObject({ status: 404 });
  });

  test('during an outage nothing is carried out, and the call still counts for its reference', async () => {
    const sandbox = await start();
    await control(sandbox, 'outage', { status: 503 });
    expect((await initialize(sandbox)).json()).toMatchObject({ status: false, code: 503, data: {} });
    await control(sandbox, 'outage', { status: null });
    expect(await ask(sandbox, 'verify/order-1')).toMatchObject({ status: 404 });
    expect(JSON.parse((await control(sandbox, 'calls')).text)).toMatchObject({
      references: { 'order-1': { initialize: 1, verify: 1 } },
    });
  });

  test('a reset forgets transactions, counts and bad days, but not the keys', async () => {
    const sandbox = await start();
    const page = await openCheckout(sandbox, 'a');
    await control(sandbox, 'outage', { status: 500 });
    await control(sandbox, 'reset', {});
    expect((await fetch(page)).status).toBe(404);
    expect(JSON.parse((await control(sandbox, 'calls')).text)).toMatchObject({ references: {}, log: [] });
    expect(await openCheckout(sandbox, 'a')).toContain('/checkout/');
  });

  test('answers wait for as long as they are told to, and are right all the same', async () => {
    const sandbox = await start({ latencyMs: 1 });
    await openCheckout(sandbox, 'a');
    expect(await verified(sandbox, 'a')).toMatchObject({ status: 'PENDING' });
  });
});

describe('a part that goes back', () => {
  type Row = { id: string; reference: string; status: string; amount: number };
  const history = async (sandbox: Sandbox): Promise<{ total: number; data: Row[] }> =>
    (await ask(sandbox, 'history')).json().data as { total: number; data: Row[] };

  test.each([
    ['row', 'REVERSED', 5],
    ['negative row', 'SUCCESS', -5],
  ])('leaves it paid, and stands in the history as a %s of its own', async (shown, status, amount) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await openCheckout(sandbox, 'b');
    const given = await control(sandbox, 'transactions/a/refund', { amount: '5', shown });
    expect(JSON.parse(given.text)).toMatchObject({ state: 'paid', refunded: { amount: '5.00' } });
    expect(await verified(sandbox, 'a')).toEqual({ status: 'SUCCESS', amount: '25.00' });
    const { total, data } = await history(sandbox);
    expect(total).toBe(3);
    expect(data).toMatchObject([
      { reference: 'a', status, amount },
      { reference: 'b', status: 'PENDING' },
      { reference: 'a', status: 'SUCCESS', amount: 25 },
    ]);
    expect(data[0]?.id).not.toBe(data[2]?.id);
  });

  test('stands beside the status where the service has a field for it', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'transactions/a/refund', { amount: '5', shown: 'field' });
    expect((await ask(sandbox, 'verify/a')).text).toContain('"refundedAmount":5.00');
    expect((await history(sandbox)).data).toMatchObject([{ reference: 'a', refundedAmount: 5 }]);
  });

  test('is never more than what is left, leaves the balance, and outlives a restart', async () => {
    const dataDir = await newFolder();
    const before = await start({ dataDir });
    await openCheckout(before, 'a');
    expect(await control(before, 'transactions/a/refund', { amount: '5' })).toMatchObject({ status: 409 });
    await control(before, 'transactions/a/pay', {});
    await control(before, 'transactions/a/refund', { amount: '20' });
    for (const amount of ['5.01', '0', '1.234'])
      expect(await control(before, 'transactions/a/refund', { amount })).toMatchObject({ status: 409 });
    expect(await control(before, 'transactions/a/reverse', {})).toMatchObject({ status: 409 });
    await before.close();
    const sandbox = await start({ dataDir });
    await control(sandbox, 'available', {});
    await control(sandbox, 'transactions/a/refund', { amount: '1.50' });
    expect((await history(sandbox)).total).toBe(3);
    expect(JSON.parse((await control(sandbox, 'money')).text)).toMatchObject({
      balances: [{ available: '3.50', pending: '0.00' }],
    });
  });
});

describe('the clock', () => {
  const clock = async (sandbox: Sandbox) =>
    JSON.parse((await control(sandbox, 'clock')).text) as { now: string; aheadSec: number };

  test('moves what is written and what ends with time, in answers, too, until a reset', async () => {
    const sandbox = await start({ profile: 'date-window' });
    await openCheckout(sandbox, 'a');
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 404 }); // hidden while it is young
    await control(sandbox, 'clock', { forwardSec: 86_400 });
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 200 });
    await control(sandbox, 'transactions/a/pay', {});
    const { createdAt, updatedAt } = JSON.parse((await control(sandbox, 'transactions/a')).text) as {
      createdAt: string;
      updatedAt: string;
    };
    expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(86_400_000);
    const answer = await fetch(`${sandbox.url}/v1/transactions/verify/a`, {
      headers: { 'x-api-key': sandbox.testKey },
    });
    expect(Date.parse(answer.headers.get('date') ?? '') - Date.parse(createdAt)).toBeGreaterThan(86_000_000);
    expect((await clock(sandbox)).aheadSec).toBe(86_400);
    expect(await control(sandbox, 'clock', { forwardSec: -1 })).toMatchObject({ status: 422 });
    await control(sandbox, 'reset', {});
    expect((await clock(sandbox)).aheadSec).toBe(0);
  });

  test('of one answer may be behind', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'faults', { fault: 'clock-behind', calls: 1 });
    const dates: number[] = [];
    while (dates.length < 2) {
      const { headers } = await fetch(`${sandbox.url}/v1/transactions/verify/a`, {
        headers: { 'x-api-key': sandbox.testKey },
      });
      dates.push(Date.parse(headers.get('date') ?? ''));
    }
    expect(Number(dates[1]) - Number(dates[0])).toBeGreaterThanOrEqual(299_000);
  });
});
