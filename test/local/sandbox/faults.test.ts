import { afterEach, describe, expect, test } from '@jest/globals';

import { DECK } from '../../../local/sandbox/faults/deck.ts';
import type { Sandbox } from '../../../local/sandbox/sandbox.ts';
import {
  ask,
  cleanUp,
  control,
  initialize,
  openCheckout,
  receiver,
  start,
  until,
  verified,
} from './support.ts';

afterEach(cleanUp);

async function lay(sandbox: Sandbox, fault: string, where: object = {}): Promise<void> {
  const { status, text } = await control(sandbox, 'faults', { fault, ...where });
  if (status !== 201) throw new Error(text);
}

type Entry = { state: string; timesPaid: number; received: { amount: string; currency: string } | null };
async function truth(sandbox: Sandbox, reference: string): Promise<Entry> {
  return JSON.parse((await control(sandbox, `transactions/${reference}`)).text) as Entry;
}

describe('a fault befalls', () => {
  test('every call until it is taken back', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await lay(sandbox, 'key-refused');
    for (const path of ['verify/a', 'verify/a', 'history'])
      expect(await ask(sandbox, path)).toMatchObject({ status: 401 });
    await control(sandbox, 'faults/clear', {});
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 200 });
  });

  test('one endpoint and no other', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await lay(sandbox, 'error-before-acting', { endpoint: 'history' });
    expect(await ask(sandbox, 'history')).toMatchObject({ status: 503 });
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 200 });
  });

  test('one reference and no other', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await openCheckout(sandbox, 'b');
    await lay(sandbox, 'not-found-for-a-while', { reference: 'a' });
    expect(await ask(sandbox, 'verify/a')).toMatchObject({ status: 404 });
    expect(await ask(sandbox, 'verify/b')).toMatchObject({ status: 200 });
  });

  test('so many calls and no more, and calls that it does not concern do not count', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await lay(sandbox, 'answer-empty', { endpoint: 'verify', calls: 2 });
    await ask(sandbox, 'history');
    const texts = [];
    for (let count = 0; count < 3; count += 1) texts.push((await ask(sandbox, 'verify/a')).text.length > 0);
    expect(texts).toEqual([false, false, true]);
    expect(JSON.parse((await control(sandbox, 'faults')).text)).toMatchObject({ set: [] });
  });

  test.each([
    [422, { fault: 'pay-less' }],
    [422, { fault: 'answer-cutt' }],
    [422, { fault: 'webhook-lost', endpoint: 'verify' }],
    [422, { fault: 'history-moved', reference: 'a' }],
    [422, { fault: 'answer-cut', calls: 0 }],
    [422, { fault: 'answer-cut', endpont: 'verify' }],
  ])('nothing when it is laid wrongly: %d for %j', async (status, body) => {
    const sandbox = await start();
    const refusal = await control(sandbox, 'faults', body);
    expect(refusal).toMatchObject({ status });
    expect(refusal.text).toContain('error');
    expect(JSON.parse((await control(sandbox, 'faults')).text)).toMatchObject({ set: [] });
  });

  test('nobody any more after a reset, or after its own removal', async () => {
    const sandbox = await start();
    await lay(sandbox, 'key-refused');
    await control(sandbox, 'reset', {});
    await openCheckout(sandbox, 'a');
    await lay(sandbox, 'answer-html', { endpoint: 'verify' });
    const { set } = JSON.parse((await control(sandbox, 'faults')).text) as { set: { id: string }[] };
    const url = `${sandbox.url}/sandbox/faults/${set[0]?.id ?? ''}`;
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(404);
    expect((await ask(sandbox, 'verify/a')).text).toContain('"PENDING"');
  });
});

describe('the ledger stays the truth', () => {
  test.each([
    ['pay-exact', '25.00', 'NGN', 1],
    ['pay-less', '12.50', 'NGN', 1],
    ['pay-more', '26.00', 'NGN', 1],
    ['pay-other-currency', '25', 'XOF', 1],
    ['pay-hundredfold', '2500.00', 'NGN', 1],
    ['pay-twice', '50.00', 'NGN', 2],
  ])('%s takes %s %s', async (fault, amount, currency, timesPaid) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/play', { fault });
    expect(await truth(sandbox, 'a')).toMatchObject({
      state: 'paid',
      received: { amount, currency },
      timesPaid,
    });
  });

  test('what is paid later or reversed afterwards changes it then', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'later');
    await openCheckout(sandbox, 'back');
    await control(sandbox, 'transactions/later/play', { fault: 'pay-later' });
    await control(sandbox, 'transactions/back/play', { fault: 'pay-then-reversed' });
    expect(await truth(sandbox, 'later')).toMatchObject({ state: 'pending' });
    expect(await truth(sandbox, 'back')).toMatchObject({ state: 'paid' });
    await until(async () => (await truth(sandbox, 'later')).state === 'paid');
    await until(async () => (await truth(sandbox, 'back')).state === 'reversed');
  });

  test.each([
    ['error-before-acting', 503, false],
    ['error-after-acting', 502, true],
  ])('%s on initialize: %d, and opened a checkout: %s', async (fault, status, isOpened) => {
    const sandbox = await start();
    await lay(sandbox, fault, { endpoint: 'initialize', calls: 1 });
    expect(await initialize(sandbox)).toMatchObject({ status });
    expect((await control(sandbox, 'transactions/order-1')).status).toBe(isOpened ? 200 : 404);
  });

  test.each([
    ['other-record', '"reference":"somebody-else"'],
    ['unknown-word', '"status":"COLLECTED"'],
  ])('although verify answers with %s', async (fault, text) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await lay(sandbox, fault);
    expect((await ask(sandbox, 'verify/a')).text).toContain(text);
    expect(await truth(sandbox, 'a')).toMatchObject({ state: 'paid' });
  });

  test('a neighbour is answered as paid where there is one', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await openCheckout(sandbox, 'b');
    await lay(sandbox, 'other-record', { calls: 1 });
    const { text } = await ask(sandbox, 'verify/a');
    expect(text).toContain('"reference":"b"');
    expect(text).toContain('"SUCCESS"');
    expect(await verified(sandbox, 'b')).toMatchObject({ status: 'PENDING' });
  });

  test.each(['plain', 'value-objects', 'wallets', 'sessions'] as const)(
    'each fact can be missing from the answers of %s, and no other is then',
    async (profile) => {
      const sandbox = await start({ profile });
      await initialize(sandbox, { amount: '2500' });
      const whole = (await ask(sandbox, 'verify/order-1')).text;
      for (const fact of ['reference', 'status', 'amount', 'currency']) {
        await lay(sandbox, `missing-${fact}`, { calls: 1 });
        const { text } = await ask(sandbox, 'verify/order-1');
        expect(text.length).toBeLessThan(whole.length);
        expect(text.split(':').length).toBe(whole.split(':').length - 1);
      }
    },
  );
});

describe('answers', () => {
  test('are cut off in the middle', async () => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await lay(sandbox, 'answer-cut', { calls: 1 });
    await expect(ask(sandbox, 'verify/a')).rejects.toThrow('terminated');
  });

  test.each(['answer-slow', 'answer-dripping'])('that are %s end when the caller has gone', async (fault) => {
    const sandbox = await start();
    await openCheckout(sandbox, 'a');
    await lay(sandbox, fault, { calls: 1 });
    const signal = AbortSignal.timeout(300);
    const call = fetch(`${sandbox.url}/v1/transactions/verify/a`, {
      headers: { 'x-api-key': sandbox.testKey },
      signal,
    });
    await expect(call.then((answer) => answer.text())).rejects.toThrow();
    await sandbox.close();
  });

  test('are refused above a limit, and for as long as a lock-out lasts', async () => {
    const sandbox = await start();
    await control(sandbox, 'limit', { callsPerSecond: 0, lockOutSec: 1800, form: 'lock-out-message' });
    expect((await ask(sandbox, 'history')).json().message).toContain('30 minutes');
    await control(sandbox, 'limit', { callsPerSecond: 1000, lockOutSec: 1800, form: 'retry-after-seconds' });
    const locked = await fetch(`${sandbox.url}/v1/transactions/history`, {
      headers: { 'x-api-key': sandbox.testKey },
    });
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(1700);
    await control(sandbox, 'reset', {});
    expect(await ask(sandbox, 'history')).toMatchObject({ status: 200 });
  });
});

describe('webhooks', () => {
  const referencesOf = (hooks: { body: string }[]): string[] =>
    hooks.map(({ body }) => (JSON.parse(body) as { event: string }).event);
  const isQuiet = async (sandbox: Sandbox): Promise<boolean> =>
    (await control(sandbox, 'webhooks')).text.includes('"pending":0');

  test.each([
    ['webhook-lost', []],
    ['webhook-doubled', ['transaction.success', 'transaction.success']],
    ['webhook-reordered', ['transaction.reversed', 'transaction.success']],
  ])('%s: %j arrive', async (fault, events) => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    await lay(sandbox, fault, { calls: 1 });
    await control(sandbox, 'transactions/a/pay', {});
    if (fault === 'webhook-reordered') await control(sandbox, 'transactions/a/reverse', {});
    await until(() => isQuiet(sandbox));
    expect(referencesOf(shop.hooks)).toEqual(events);
  });

  test.each([
    ['webhook-badly-signed', { fault: 'pay-exact' }, true],
    ['webhook-forged', { fault: 'webhook-forged' }, false],
  ])('%s carries another signature than the body deserves', async (fault, play, isPaid) => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    if (fault === 'webhook-badly-signed') await lay(sandbox, fault, { calls: 1 });
    await control(sandbox, 'transactions/a/play', play);
    await until(() => shop.hooks.length > 0);
    const [hook] = shop.hooks;
    const { createHmac } = await import('node:crypto');
    const right = createHmac('sha256', 'whsec_of_this_test')
      .update(hook?.body ?? '')
      .digest('hex');
    expect(hook?.headers['x-signature']).toMatch(/^[0-9a-f]{64}$/);
    expect(hook?.headers['x-signature']).not.toBe(right);
    expect(hook?.body).toContain('"SUCCESS"');
    expect((await truth(sandbox, 'a')).state).toBe(isPaid ? 'paid' : 'pending');
  });

  test.each([
    ['virtual-accounts', 202, 10, true],
    ['virtual-accounts', 200, 1, true],
    ['attempts', 404, 1, true],
    ['invoices', 500, 1, true],
    ['payment-links', 401, 1, false],
  ] as const)('to %s, answered %d, come %d times; told on: %s', async (profile, status, times, isOn) => {
    const shop = await receiver(() => status);
    const sandbox = await start({ profile, webhookUrl: shop.url });
    await initialize(sandbox, { amount: '2500' });
    await control(sandbox, 'transactions/order-1/pay', {});
    await until(() => isQuiet(sandbox));
    expect(shop.hooks).toHaveLength(times);
    expect((await control(sandbox, 'webhooks')).text.includes(shop.url)).toBe(isOn);
  });
});

describe('history', () => {
  test.each([
    ['history-truncated', ['d'], [], 4],
    ['history-moved', ['d', 'c'], ['a'], 4],
    ['history-repeated', ['d', 'c'], ['c', 'b'], 5],
  ])('%s', async (fault, first, second, total) => {
    const sandbox = await start();
    for (const name of ['a', 'b', 'c', 'd']) await openCheckout(sandbox, name);
    await lay(sandbox, fault);
    type Page = { data: { reference: string }[]; total: number };
    const page = async (number: number): Promise<Page> =>
      (await ask(sandbox, `history?limit=2&page=${number}`)).json().data as Page;
    expect((await page(1)).data.map(({ reference }) => reference)).toEqual(first);
    const next = await page(2);
    expect(next.data.map(({ reference }) => reference)).toEqual(second);
    expect(next.total).toBe(total);
  });
});

test('the deck is told to whoever asks, each card with what happens and where it must end', async () => {
  const sandbox = await start();
  const { deck } = JSON.parse((await control(sandbox, 'faults')).text) as { deck: typeof DECK };
  expect(deck).toEqual(DECK);
  expect(new Set(deck.map(({ name }) => name)).size).toBe(deck.length);
  for (const { title, happens, ends } of deck)
    expect(Math.min(title.length, happens.length, ends.length)).toBeGreaterThan(8);
});
