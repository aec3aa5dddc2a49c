import { createHmac } from 'node:crypto';

import { afterEach, describe, expect, test } from '@jest/globals';

import {
  cleanUp,
  control,
  newFolder,
  openCheckout,
  receiver,
  SECRET,
  start,
  until,
  verified,
} from './support.ts';

afterEach(cleanUp);

type Body = { event: string; data: { reference: string; status: string } };
const bodyOf = (hook: { body: string } | undefined): Body => JSON.parse(hook?.body ?? '{}') as Body;

describe('webhooks', () => {
  test('tell a payment with exact digits, signed over the raw body', async () => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', { amount: '12.50' });
    await until(() => shop.hooks.length === 1);
    const [hook] = shop.hooks;
    expect(hook?.body).toContain('"amount":12.50,"currency":"NGN"');
    expect(bodyOf(hook)).toMatchObject({
      event: 'transaction.success',
      data: { reference: 'a', status: 'SUCCESS' },
    });
    expect(hook?.headers['content-type']).toBe('application/json');
    expect(hook?.headers['x-signature']).toBe(
      createHmac('sha256', SECRET)
        .update(hook?.body ?? '')
        .digest('hex'),
    );
  });

  test('tell every change once, as it was then, and nothing of initialize', async () => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    for (const deed of ['fail', 'pay', 'reverse']) {
      const told = shop.hooks.length;
      await control(sandbox, `transactions/a/${deed}`, {});
      await until(() => shop.hooks.length > told);
    }
    expect(shop.hooks.map((hook) => bodyOf(hook).event)).toEqual([
      'transaction.failed',
      'transaction.success',
      'transaction.reversed',
    ]);
  });

  test('tell payments alone where the service tells no more, each attempt under an id of its own', async () => {
    const shop = await receiver((_, count) => (count < 2 ? 500 : 200));
    const sandbox = await start({ profile: 'good-news-only', webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/fail', {});
    await control(sandbox, 'transactions/a/pay', {});
    await until(() => shop.hooks.length === 2);
    const ids = shop.hooks.map(({ body }) => /"id":"(evt_\d+)".*"status":"SUCCESS"/.exec(body)?.[1]);
    expect(ids).toEqual([expect.stringMatching(/^evt_/), expect.not.stringMatching(String(ids[0]))]);
  });

  test.each([500, 404, 302])('come again after %d, byte for byte, until they are taken', async (status) => {
    const shop = await receiver((_, count) => (count < 3 ? status : 202));
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await until(async () => (await control(sandbox, 'webhooks')).text.includes('"pending":0'));
    expect(shop.hooks).toHaveLength(3);
    expect(new Set(shop.hooks.map(({ body }) => body)).size).toBe(1);
  });

  test('are lost when a test says so, while the payment stands', async () => {
    const shop = await receiver();
    const sandbox = await start({ webhookUrl: shop.url });
    await openCheckout(sandbox, 'lost');
    await openCheckout(sandbox, 'told');
    await control(sandbox, 'transactions/lost/pay', { notify: false });
    await control(sandbox, 'transactions/told/pay', {});
    await until(async () => (await control(sandbox, 'webhooks')).text.includes('"pending":0'));
    expect(shop.hooks.map((hook) => bodyOf(hook).data.reference)).toEqual(['told']);
    expect(await verified(sandbox, 'lost')).toMatchObject({ status: 'SUCCESS' });
  });

  test('go to an address that is set later, from the next change on', async () => {
    const shop = await receiver();
    const sandbox = await start();
    await openCheckout(sandbox, 'before');
    await openCheckout(sandbox, 'after');
    await control(sandbox, 'transactions/before/pay', {});
    sandbox.setWebhookUrl(shop.url);
    await control(sandbox, 'transactions/after/pay', {});
    await until(() => shop.hooks.length === 1);
    expect(bodyOf(shop.hooks[0]).data.reference).toBe('after');
  });

  test('of one payment that is answered late hold up neither other webhooks nor any call', async () => {
    let release = (): void => undefined;
    const slow = new Promise<number>((resolve) => {
      release = () => {
        resolve(200);
      };
    });
    const shop = await receiver((hook) => (hook.body.includes('"slow"') ? slow : 200));
    const sandbox = await start({ webhookUrl: shop.url });
    for (const reference of ['slow', 'quick']) {
      await openCheckout(sandbox, reference);
      await control(sandbox, `transactions/${reference}/pay`, {});
    }
    await until(() => shop.hooks.some((hook) => bodyOf(hook).data.reference === 'quick'));
    expect(await verified(sandbox, 'slow')).toMatchObject({ status: 'SUCCESS' });
    expect((await control(sandbox, 'webhooks')).text).toContain('"pending":1');
    release();
  });

  test('that nobody took before a restart are delivered after it, and those that arrived are not', async () => {
    const dataDir = await newFolder();
    const deaf = await receiver((hook) => (hook.body.includes('"taken"') ? 200 : 500));
    const before = await start({ dataDir, webhookUrl: deaf.url });
    for (const reference of ['taken', 'owed']) {
      await openCheckout(before, reference);
      await control(before, `transactions/${reference}/pay`, {});
    }
    await until(async () => (await control(before, 'webhooks')).text.includes('"pending":1'));
    await before.close();

    const after = await start({ dataDir });
    const shop = await receiver();
    after.setWebhookUrl(shop.url);
    await until(async () => (await control(after, 'webhooks')).text.includes('"pending":0'));
    expect(shop.hooks.map((hook) => bodyOf(hook).data.reference)).toEqual(['owed']);
  });

  test('are dropped by a reset', async () => {
    const deaf = await receiver(() => 500);
    const sandbox = await start({ webhookUrl: deaf.url });
    await openCheckout(sandbox, 'a');
    await control(sandbox, 'transactions/a/pay', {});
    await control(sandbox, 'reset', {});
    expect((await control(sandbox, 'webhooks')).text).toContain('"pending":0');
  });
});
