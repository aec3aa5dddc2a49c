import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { someOf } from '../support/extent.ts';
import { attack, inventory, problemOf, refuses, type Answer, type Refusal } from '../support/hostile.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { OutgoingSocket } from '../support/traffic/sockets.ts';
import { startProgram, type CheckoutAnswer, type TestProgram } from '../support/program.ts';

// What hostile clients put into addresses, and which addresses they hope for.

const TOKEN = 'token-of-the-operator';
let shop: TestProgram;
let order: CheckoutAnswer;
/** Connections of this program, before others ran in this process beside it. */
let sockets: readonly OutgoingSocket[] = [];
beforeAll(async () => {
  shop = await startProgram({ slowTime: true, env: { ADMIN_TOKEN: TOKEN } });
  order = await shop.checkout();
});
afterAll(() => shop.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  attack(shop.origin, { method: 'GET', path, headers });

describe('H7 a redirect to somewhere else', () => {
  const EVIL = 'evil.example';
  test.each([
    ['in the query', '?return=//evil.example&redirectUrl=https://evil.example&status=paid', {}],
    ['in Host', '', { host: EVIL }],
    ['in X-Forwarded-Host', '', { 'x-forwarded-host': EVIL, 'x-forwarded-proto': 'gopher' }],
    [
      'in Forwarded and Origin',
      '',
      { forwarded: `host=${EVIL}`, origin: `https://${EVIL}`, referer: `https://${EVIL}` },
    ],
  ])('%s moves nothing: the return leads to our own order page', async (_where, query, headers) => {
    const answer = await get(`/checkout/return/${order.reference}${query}`, headers);
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe(`/shop/orders/${order.orderId}`);
    expect(JSON.stringify(answer)).not.toContain(EVIL);
  });

  test('the service is told an address from the configuration', async () => {
    const headers = { host: EVIL, 'x-forwarded-host': EVIL };
    const body = { email: 'a@b.co', items: [{ sku: 'bissap', quantity: 1 }] };
    const { reference } = JSON.parse((await attack(shop.origin, { headers, body })).text) as CheckoutAnswer;
    const entry = (await (
      await fetch(`${shop.sandbox.url}/sandbox/transactions/${reference}`)
    ).json()) as object;
    expect(entry).toMatchObject({ redirectUrl: `${shop.origin}/checkout/return/${reference}` });
  });
});

describe('H8 an address that we are to fetch', () => {
  let asked = 0;
  const trap = createServer((_req, res) => {
    asked += 1;
    res.end();
  });
  beforeAll(() => new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => trap.close(resolve)));
  const address = (): string => `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;

  test('in a checkout is refused, in a webhook is kept and opened by nobody', async () => {
    const url = address();
    const body = { email: 'a@b.co', items: [{ sku: 'bissap', quantity: 1 }], redirectUrl: url };
    expect(problemOf(await attack(shop.origin, { body }))).toBe('invalid-input');
    const text = JSON.stringify({
      data: { reference: order.reference, url, callback: url },
      links: { next: url },
    });
    const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(text).digest('hex');
    const sent = await attack(shop.origin, {
      path: '/webhooks/payments',
      headers: { 'x-signature': signature },
      body: text,
    });
    expect(sent.status).toBe(202);
    await shop.program.duePayments.runOnce();
    expect(asked).toBe(0);
    const { host } = new URL(url);
    expect(shop.traffic().sockets.filter(({ to }) => to === host)).toEqual([]);
  });
});

const TRAVERSALS = [
  '..', '.', '...', '%2e%2e', '..%2f..%2fetc%2fpasswd', 'a%2f..%2fb', '..%5c..%5cwindows', 'a%3fx=1', 'a%23b', '%00', 'a%00',
  '%E2%80%AE', '%F0%9F%92%A9', '*', '$&', "'--", '%3Cscript%3E', '%0a', 'file:%2f%2f%2fetc', 'x'.repeat(23), 'x'.repeat(25), 'x'.repeat(4_000),
]; // prettier-ignore
/** Escapes of bytes that are no UTF-8, or no escapes at all. */
const BAD_ESCAPES = ['%', '%zz', '%ff', '%c0%ae%c0%ae', '%ed%a0%80'];
const ROUTES = ['/orders/', '/shop/orders/', '/checkout/return/', '/shop/assets/', '/admin/orders/'];

describe('H10 path traversal in every route parameter', () => {
  const admin = { authorization: `Bearer ${TOKEN}` };
  const ask = (path: string): Refusal[1] => ({ method: 'GET', path, headers: admin });
  refuses(
    () => shop,
    someOf(
      ROUTES.flatMap((route) =>
        TRAVERSALS.map((text): Refusal => [
          `${route}${text.slice(0, 40)}`,
          ask(route + text),
          404,
          'not-found',
        ]),
      ),
      37,
    ),
  );
  refuses(
    () => shop,
    someOf(TRAVERSALS, 5).map((text): Refusal => [
      `/orders/${text.slice(0, 40)}/events`,
      ask(`/orders/${text}/events`),
      404,
      'not-found',
    ]),
  );
  // An order page says of every address that it does not know the same.
  refuses(
    () => shop,
    ROUTES.flatMap((route) =>
      someOf(BAD_ESCAPES, 2).map((text): Refusal =>
        route === '/shop/orders/'
          ? [`${route}${text}`, ask(route + text), 404, 'not-found']
          : [`${route}${text}`, ask(route + text), 400, 'malformed-request'],
      ),
    ),
  );
});

describe('H11 looking for orders of others', () => {
  test('an unknown, a malformed, a mistyped and a live order are answered in the same bytes', async () => {
    const live = 'L1ve'.repeat(6);
    await shop.program.database.query(
      `INSERT INTO orders (id, mode, email, amount, currency) VALUES ($1, 'live', 'x@y.z', 1, 'NGN') ON CONFLICT DO NOTHING`,
      [live],
    );
    const strangers = ['x'.repeat(24), 'nobody', order.orderId.toLowerCase(), live, order.reference];
    for (const route of ['/orders/', '/shop/orders/']) {
      const said = await Promise.all(strangers.map((id) => get(route + id)));
      const bytes = said.map(({ status, headers, text }, at) => {
        const lasting = Object.entries(headers).filter(
          ([name]) => !['date', 'etag', 'content-length'].includes(name),
        );
        return JSON.stringify([status, lasting, text.replace(strangers[at] ?? '', '')]);
      });
      expect(said.map(({ status }) => status)).toEqual(strangers.map(() => 404));
      expect(new Set(bytes).size).toBe(1);
    }
  });
});

describe('H12 the return page of somebody else', () => {
  test('shows nothing private, and however often it is opened the service is asked a few times', async () => {
    const { reference, orderId } = await shop.checkout({
      email: 'private@example.com',
      items: [{ sku: 'bissap', quantity: 1 }],
    });
    const before = await inventory(shop);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => get(`/checkout/return/${reference}?status=success`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    await shop.program.duePayments.runOnce();
    // Three at once from the bucket of hints, and one when the clock looks.
    expect(Number((await inventory(shop)).calls) - Number(before.calls)).toBeLessThanOrEqual(4);
    for (const path of [`/shop/orders/${orderId}`, `/orders/${orderId}`]) {
      const { text } = await get(path);
      expect(text).not.toMatch(/private|example\.com|verif|hint/i);
    }
  });
});

describe('H25 X-Forwarded-For', () => {
  beforeAll(() => {
    sockets = [...shop.traffic().sockets];
  });
  test('what a client writes there is not its address: the limit holds by what the proxy added, and by network where one client has many', async () => {
    const limited = await startProgram({ env: { CHECKOUTS_PER_MINUTE: '3' } });
    const ask = (spoof: string, at: number): Promise<Answer> =>
      attack(limited.origin, {
        headers: { 'x-forwarded-for': spoof },
        body: { email: `a${at}@b.co`, items: [{ sku: 'bissap', quantity: 1 }] },
      });
    const spoofed: number[] = [];
    for (let at = 0; at < 6; at += 1) spoofed.push((await ask(`10.0.0.${at}, 203.0.113.9`, at)).status);
    expect(spoofed).toEqual([201, 201, 201, 429, 429, 429]);
    expect((await ask('203.0.113.10', 9)).status).toBe(201);
    const neighbours: number[] = [];
    for (let at = 20; at < 24; at += 1) neighbours.push((await ask(`2001:db8:0:7:${at}::1`, at)).status);
    expect(neighbours).toEqual([201, 201, 201, 429]);
    expect((await ask('2001:db8:0:8::1', 30)).status).toBe(201);
    await limited.close();
  });
});

describe('H26 the admin area without the right', () => {
  const pages = (headers: Record<string, string>): Refusal[] => [
    ['/admin', { method: 'GET', path: '/admin', headers }, 303, null],
    ['/admin/orders/…', { method: 'GET', path: `/admin/orders/${'x'.repeat(24)}`, headers }, 303, null],
    ['/metrics', { method: 'GET', path: '/metrics', headers }, 401, 'unauthorized'],
  ];
  const forged = (cookie: string): Refusal[] => pages({ cookie: `__Host-admin=${cookie}` });
  describe('nobody', () => {
    refuses(() => shop, pages({}));
  });
  describe('a wrong token', () => {
    refuses(() => shop, pages({ authorization: `Bearer ${TOKEN}x` }));
  });
  describe('the token in the cookie', () => {
    refuses(() => shop, forged(TOKEN));
  });
  describe('an empty cookie', () => {
    refuses(() => shop, forged(''));
  });

  test('a session that was opened with another token opens nothing here', async () => {
    const another = `${TOKEN}-of-before`;
    const other = await startProgram({ env: { ADMIN_TOKEN: another } });
    const body = `token=${another}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const login = await attack(other.origin, { path: '/admin/login', headers, body });
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
    expect((await attack(other.origin, { method: 'GET', path: '/admin', headers: { cookie } })).status).toBe(
      200,
    );
    expect((await get('/admin', { cookie })).status).toBe(303);
    expect(String(login.headers['set-cookie'])).toMatch(
      /^__Host-admin=.*; HttpOnly; Secure; SameSite=Strict$/,
    );
    await other.close();
  });

  test('a wrong token at the login page sets no cookie', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const body of ['token=x', 'token[]=x', '', `token=${TOKEN}%00`]) {
      const answer = await attack(shop.origin, { path: '/admin/login', headers, body });
      expect(answer.status).toBe(401);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });
});

describe('H29 files that are not for browsers', () => {
  const FILES = [
    '/.env', '/.git/config', '/.git/HEAD', '/package.json', '/package-lock.json', '/prisma/schema.prisma', '/src/server.ts', '/node_modules/express/package.json',
    '/.data/', '/shop/assets/../../.env', '/shop/assets/..%2f..%2f.env', '/shop/assets/jsconfig.json', '/shop/assets/basket.js.map', '/shop/assets/shop.css.map',
    '/shop/assets/', '/admin/admin.css.map', '/admin/../.env', '//etc/passwd', '/server-status', '/debug', '/debug/pprof', '/json/list', '/actuator', '/wp-login.php',
  ]; // prettier-ignore
  refuses(
    () => shop,
    someOf(FILES, 12).map((path): Refusal => [path, { method: 'GET', path }, 404, 'not-found']),
  );

  test('what pages load names no source map, no key and no path of this machine', async () => {
    const { text } = await get('/shop');
    const assets = [...text.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css)[^"]*)"/g)].map(
      ([, path = '']) => path,
    );
    expect(assets.length).toBeGreaterThan(1);
    for (const path of [...assets, '/admin/admin.css']) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.sourcemap).toBeUndefined();
      expect(answer.text).not.toMatch(
        /sourceMappingURL|sk_(?:test|live)_|process\.env|\/(?:home|root|work)\//,
      );
    }
  });
});

test('after all that, every invariant holds', async () => {
  const { database } = shop.program;
  await database.query(`DELETE FROM orders WHERE mode = 'live'`);
  const traffic = { ...shop.traffic(), sockets };
  expect(await checkInvariants({ database, sandboxUrl: shop.sandbox.url, traffic, passes: 2 })).toEqual([]);
});
