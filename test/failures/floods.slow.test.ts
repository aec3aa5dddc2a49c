import { expect, test } from '@jest/globals';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { befall, callsOf, expectPaidOnce, sendNotification, tryCheckout, useShop } from '../support/failures.ts';
import type { Checkout } from '../support/shop.ts';

// Clients send many requests, but the program makes few calls to the service.

const { shop } = useShop();

/** This many checkouts of honest shoppers, one after another. @returns their statuses */
async function honest(times: number): Promise<(number | undefined)[]> {
  const statuses: (number | undefined)[] = [];
  while (statuses.length < times) {
    statuses.push((await tryCheckout(shop, `honest-${statuses.length}@example.com`))?.status);
    await sleep(200);
  }
  return statuses;
}

test('sixty valid notifications a second, and returns from twelve addresses, do not keep honest shoppers from paying', async () => {
  const open: Checkout[] = [];
  while (open.length < 12) open.push(await shop.checkout({ email: 'stranger@example.com' }));
  await shop.sandboxPost('/settings', { latencyMs: 300 });
  const over = new AbortController();
  const seen = new Set<number>();
  const flood = open.map(async ({ reference }, at) => {
    const headers = { 'x-forwarded-for': `203.0.113.${at}` };
    while (!over.signal.aborted) {
      const notification = sendNotification(shop, reference, shop.url, 'pending');
      const back = shop.request('GET', `/checkout/return/${reference}`, { headers });
      for (const { status } of await Promise.all([notification, back])) seen.add(status);
      await sleep(200);
    }
  });
  const statuses = await honest(10);
  over.abort();
  await Promise.all(flood);
  await shop.sandboxPost('/settings', { latencyMs: 0 });
  expect(statuses).toEqual(Array(10).fill(201));
  expect(seen).toEqual(new Set([202, 303]));
  // The first verification, three by notifications that bring nothing new, their follow-ups, one
  // after a pause, and those of the schedule.
  for (const { reference } of open) expect((await callsOf(shop, 'verify', reference)).length).toBeLessThanOrEqual(12);
});

test('twelve checkouts with a hanging initialize stop neither verify nor honest checkouts', async () => {
  const { orderId, reference } = await shop.checkout({ email: 'earlier@example.com' });
  await befall(shop, 'initialize', 'hang', { times: 12 });
  const before = (await callsOf(shop, 'initialize')).length;
  const hanging = Array.from({ length: 12 }, () => tryCheckout(shop, 'stranger@example.com'));
  await eventually(async () => (await callsOf(shop, 'initialize')).length === before + 12);
  expect(await honest(5)).toEqual(Array(5).fill(201));
  await shop.sandboxPost(`/transactions/${reference}/pay`);
  await expectPaidOnce(shop, orderId);
  // They fail together, and count as one failure.
  for (const one of await Promise.all(hanging)) expect(one?.status).toBe(503);
  const together = Array.from({ length: 5 }, () => tryCheckout(shop, 'honest@example.com'));
  for (const one of await Promise.all(together)) expect(one?.status).toBe(201);
});

test('one address may have twenty streams, an IPv6 /64 network counts as one address, and a /48 network may have a hundred', async () => {
  const { orderId } = await shop.checkout();
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  const open = async (address: string) => {
    const headers = { 'x-forwarded-for': address };
    return (await fetch(`${shop.url}/orders/${orderId}/events`, { headers, signal: end.signal })).status;
  };
  const network = Array.from({ length: 20 }, (_, index) => open(`2001:db8:0:1::${index + 1}`));
  expect(await Promise.all(network)).toEqual(Array(20).fill(200));
  expect(await open('2001:db8:0:1:ffff::1')).toBe(429);
  expect(await open('2001:db8:0:2::1')).toBe(200);
  const ofSite = Array.from({ length: 79 }, (_, index) => open(`2001:db8:0:${(index % 7) + 3}::1`));
  expect(await Promise.all(ofSite)).toEqual(Array(79).fill(200));
  expect(await open('2001:db8:0:ff::1')).toBe(429);
  expect(await open('2001:db8:1::1')).toBe(200);
  end.abort();
});

test('background verifications leave a share of the calls to shoppers, even if all of them hang', async () => {
  const open = await Promise.all(Array.from({ length: 20 }, () => shop.checkout()));
  await befall(shop, 'verify', 'hang', { times: 0 });
  await Promise.all(open.map(({ reference }) => sendNotification(shop, reference)));
  await eventually(async () => (await callsOf(shop, 'verify')).filter(({ status }) => status === null).length >= 12);
  expect(await honest(3)).toEqual(Array(3).fill(201));
});
