import { afterAll, beforeAll, describe, expect, test as testOfBoth } from '@jest/globals';
import { IS_WHOLE } from '../support/extent.ts';
import { testOfFew as test } from '../support/test-of-all.ts';
import { aBasket, post, startProgram, type TestProgram } from '../support/program.ts';

// Limits that honest people do not meet, by client address; and whose word about that address counts.

let shop: TestProgram;
let orderId: string;
beforeAll(async () => {
  shop = await startProgram({
    env: { CHECKOUTS_PER_MINUTE: '10', STOREFRONT_ORIGINS: 'https://shop.example' },
  });
  ({ orderId } = await shop.checkout());
});
afterAll(() => shop.close());

const ask = (path: string, from: string, of = shop, init: RequestInit = {}): Promise<Response> =>
  fetch(of.origin + path, { ...init, headers: { 'x-forwarded-for': from, origin: 'https://shop.example' } });

/** Statuses of so many requests in a row, as `{ status: times }`. */
async function statuses(
  times: number,
  path: string,
  from: string,
  of = shop,
): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let asked = 0; asked < times; asked += 1) {
    const answer = await ask(path, from, of);
    await answer.body?.cancel();
    seen[answer.status] = (seen[answer.status] ?? 0) + 1;
  }
  return seen;
}

describe('F8: one address reads five times as often as it may start checkouts', () => {
  let last = 0;
  test.each(['order', 'unknown order', 'products', 'shop', 'order page'])('%s', async (what) => {
    const paths: Record<string, string> = {
      order: `/orders/${orderId}`,
      'unknown order': `/orders/${'x'.repeat(24)}`,
      products: '/products',
      shop: '/shop',
      'order page': `/shop/orders/${orderId}`,
    };
    const path = paths[what] ?? '';
    const from = `198.51.100.${(last += 1)}`;
    const good = what === 'unknown order' ? 404 : 200;
    expect(await statuses(52, path, from)).toEqual({ [good]: 50, 429: 2 });
    const refused = await ask(path, from);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect((await ask(path, '198.51.100.200')).status).toBe(good);
  });

  test('a storefront on another origin can read the refusal', async () => {
    const from = '198.51.100.50';
    await statuses(51, '/products', from);
    const refused = await ask('/products', from);
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      429,
      'https://shop.example',
    ]);
    expect(refused.headers.get('access-control-expose-headers')).toContain('retry-after');
  });

  test('the files of a page are not counted, checkouts are counted for themselves', async () => {
    const from = '198.51.100.60';
    expect(await statuses(60, '/shop/assets/shop.css', from)).toEqual({ 200: 60 });
    await statuses(51, '/products', from);
    const body = JSON.stringify({ ...aBasket, email: 'from60@example.com' });
    const headers = { 'x-forwarded-for': from, 'content-type': 'application/json' };
    expect((await fetch(`${shop.origin}/checkout`, { method: 'POST', headers, body })).status).toBe(201);
  });

  testOfBoth('0 is no limit, as load tests need it', async () => {
    const open = await startProgram();
    const times = IS_WHOLE ? 700 : 70;
    expect(await statuses(times, '/products', '198.51.100.70', open)).toEqual({ 200: times });
    await open.close();
  });
});

describe('B8: event streams', () => {
  test('one address has a hundred of them at once, whatever orders it knows, and others go on', async () => {
    const limited = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '1000' } });
    const orders: string[] = [];
    for (let at = 0; at < 6; at += 1)
      orders.push((await limited.checkout({ ...aBasket, email: `reader${at}@example.com` })).orderId);
    const leave = new AbortController();
    const read = (from: string, id = ''): Promise<Response> =>
      fetch(`${limited.origin}/orders/${id}/events`, {
        headers: { 'x-forwarded-for': from },
        signal: leave.signal,
      });
    const answers = await Promise.all(
      orders.flatMap((id) => Array.from({ length: 18 }, (_one, at) => read(`2001:db8:1:1::${at}`, id))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8);
    expect((await read('203.0.113.1', orders[0])).status).toBe(200);
    leave.abort();
    await limited.close();
  });
});

describe('B8: one e-mail address', () => {
  test('has a limit for the day, too, which what the minute refuses does not use up', async () => {
    const limited = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '20' } });
    const { database } = limited.program;
    let clients = 0;
    const buy = (email: string): Promise<Response> =>
      post(
        `${limited.origin}/checkout`,
        { ...aBasket, email },
        { 'x-forwarded-for': `2001:db8:${(clients += 1)}::1` },
      );
    const seen: number[] = [];
    for (let minute = 0; minute < 10; minute += 1) {
      for (const email of ['ada@example.com', 'Ada@Example.com']) seen.push((await buy(email)).status);
      // A minute later.
      await database.query(`DELETE FROM rate_limits WHERE key LIKE 'checkout-email:%'`);
    }
    expect(new Set(seen)).toEqual(new Set([201]));
    const refused = await buy('ada@example.com');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_600);

    await database.query('DELETE FROM rate_limits');
    const many: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) many.push((await buy('eve@example.com')).status);
    expect(many).toEqual([201, 201, 429, 429]);
    const days = await database.query(`SELECT points FROM rate_limits WHERE key LIKE 'checkout-email-day:%'`);
    expect(days).toEqual([{ points: 2 }]);
    await limited.close();
  });
});

describe('B6: whose word about the address counts', () => {
  const buyAs = (of: TestProgram, from: string, email: string): Promise<number> =>
    post(`${of.origin}/checkout`, { ...aBasket, email }, { 'x-forwarded-for': from }).then(
      ({ status }) => status,
    );

  test('a load balancer that is named: each shopper behind it is one client', async () => {
    const behind = await startProgram({
      env: { CHECKOUTS_PER_MINUTE: '10', TRUSTED_PROXIES: 'loopback, 10.20.0.0/16' },
    });
    // The proxy on this machine saw the balancer, which saw the shopper, who wrote the first address.
    const seen: number[] = [];
    for (let shopper = 0; shopper < 14; shopper += 1)
      seen.push(await buyAs(behind, `203.0.113.${shopper}, 10.20.3.4`, `a${shopper}@example.com`));
    expect(new Set(seen)).toEqual(new Set([201]));
    const spoofing: number[] = [];
    for (let at = 0; at < 12; at += 1)
      spoofing.push(await buyAs(behind, `192.0.2.${at}, 203.0.113.99, 10.20.3.4`, `b${at}@example.com`));
    expect(spoofing).toEqual([...Array.from({ length: 10 }, () => 201), 429, 429]);
    await behind.close();
  });

  test('one that is not named: its own address is the client', async () => {
    const behind = await startProgram({
      env: { CHECKOUTS_PER_MINUTE: '10', TRUSTED_PROXIES: '10.20.0.0/16' },
    });
    const seen: number[] = [];
    for (let at = 0; at < 12; at += 1)
      seen.push(await buyAs(behind, `203.0.113.${at}`, `c${at}@example.com`));
    expect(seen.slice(10)).toEqual([429, 429]);
    await behind.close();
  });
});
