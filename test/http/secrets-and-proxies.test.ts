import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { expectProblem, retryAfter } from '../support/outside.ts';
import { startShop, type Reply, type Shop } from '../support/shop.ts';

// Behind a proxy that TRUSTED_PROXIES does not name, all clients have one address. Somebody who
// guesses secrets must not lock the owner out.

const TOKEN = 'the_shop_of_no_real_money';
const ADMIN_TOKEN = 'the_admin_of_no_real_money';
const TRUSTED_PROXIES = '10.0.0.0/8';

let shop: Shop;
/** Trusts proxies on this machine. */
let trusting: Shop;
beforeAll(async () => {
  const env = { SHOP_API_TOKEN: TOKEN, ADMIN_TOKEN };
  [shop, trusting] = await Promise.all([
    startShop({ env: { ...env, TRUSTED_PROXIES }, worker: false }),
    startShop({ env, worker: false, sandbox: false }),
  ]);
});
afterAll(async () => {
  await Promise.all([shop.stop(), trusting.stop()]);
});

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
/** The statuses of this many tries, one after the other. */
async function tries(count: number, act: () => Promise<Reply>): Promise<number[]> {
  const seen: number[] = [];
  while (seen.length < count) seen.push((await act()).status);
  return seen;
}

/** The first tries get 401, later ones 429. */
function expectGuessesLimited(statuses: readonly number[]): void {
  expect(statuses[0]).toBe(401);
  expect(statuses.at(-1)).toBe(429);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
}

test('thirty wrong tokens from one address delay wrong tokens only, and the shop’s own system still works', async () => {
  expectGuessesLimited(await tries(30, () => shop.request('GET', '/orders', bearer('guess'))));
  expect((await shop.request('GET', '/orders', bearer(TOKEN))).status).toBe(200);
  const lines = [{ description: 'A drum', unitAmount: '25.00', quantity: 1 }];
  const json = { email: 'ada@example.com', currency: 'NGN', lines };
  expect((await shop.request('POST', '/orders', { json, ...bearer(TOKEN) })).status).toBe(201);
  const wrong = await shop.request('GET', '/orders', bearer(`${TOKEN}x`));
  expectProblem(wrong, 429, 'too-many-requests');
  expect(retryAfter(wrong)).toBeGreaterThan(0);
  expect((await shop.request('GET', '/orders', bearer(TOKEN))).status).toBe(200);
});

test('thirty wrong tokens from one address delay wrong tokens only, and the metrics stay readable', async () => {
  expectGuessesLimited(await tries(30, () => shop.request('GET', '/metrics', bearer('guess'))));
  expect((await shop.request('GET', '/metrics', bearer(ADMIN_TOKEN))).status).toBe(200);
  expectProblem(await shop.request('GET', '/metrics', bearer(`${ADMIN_TOKEN}x`)), 429, 'too-many-requests');
});

test('fifteen wrong logins from one address delay wrong logins only, and the owner can log in', async () => {
  const logIn = (key: string) => shop.request('POST', '/admin/login', { form: { key, name: 'Ada' } });
  expectGuessesLimited(await tries(15, () => logIn('guess')));
  const { status, headers } = await logIn(ADMIN_TOKEN);
  expect([status, headers.get('location')]).toEqual([303, '/admin']);
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await shop.request('GET', '/admin', { headers: { cookie } })).status).toBe(200);
  expect((await logIn(`${ADMIN_TOKEN}x`)).status).toBe(429);
  expect((await logIn(ADMIN_TOKEN)).status).toBe(303);
});

const warnings = (of: Shop) => of.logs().filter((line) => JSON.stringify(line).includes('TRUSTED_PROXIES'));
/** Waits until a request has been logged, and so everything before it. */
async function askAs(of: Shop, address: string, name: string): Promise<void> {
  await of.request('GET', `/orders/${name}`, { headers: { 'x-forwarded-for': address } });
  await eventually(() => of.logs().some((line) => JSON.stringify(line).includes(`/orders/${name}`)));
}

test('a proxy that TRUSTED_PROXIES does not name is logged once, with its address', async () => {
  expect(warnings(shop)).toEqual([]);
  for (let last = 1; last <= 20; last += 1) await askAs(shop, `203.0.113.${last}`, `proxied-${last}`);
  const told = warnings(shop);
  expect(told).toEqual([expect.objectContaining({ level: 40 })]);
  expect(JSON.stringify(told)).toContain('127.0.0.1');
  // The address that a client claims is not logged here.
  expect(JSON.stringify(told)).not.toContain('203.0.113.');
});

test('a proxy that TRUSTED_PROXIES names is not logged', async () => {
  await askAs(trusting, '203.0.113.1', 'trusted');
  expect(warnings(trusting)).toEqual([]);
});

test('doctor --live has a line about TRUSTED_PROXIES', async () => {
  const { out } = await shop.command(['doctor', '--live'], { TRUSTED_PROXIES });
  expect(out).toMatch(/^(ok|look|wrong) .*TRUSTED_PROXIES/m);
});
