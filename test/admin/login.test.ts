import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';
import { logIn, signed, TOKEN, visitor } from './visitor.ts';

let shop: TestProgram;
let near: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  near = await startProgram();
});
afterAll(async () => {
  await shop.close();
  await near.close();
});

const PAGES = [
  '/admin',
  '/admin/orders',
  '/admin/orders/xxxxxxxxxxxxxxxxxxxxxxxx',
  '/admin/cases',
  '/admin/cases/money-1',
  '/admin/releases',
  '/admin/webhooks',
  '/admin/webhooks/1',
  '/admin/runs',
  '/admin/runs/x',
  '/admin/charts',
];
const FORMS = [
  '/admin/checks',
  '/admin/cases',
  '/admin/cases/money-1',
  '/admin/releases',
  '/admin/webhooks/1',
  '/admin/logout',
];

describe('without a login', () => {
  test.each(PAGES)('%s shows nothing', async (path) => {
    const answer = await visitor(shop, '').get(path);
    const login = path === '/admin' ? '/admin/login' : `/admin/login?to=${encodeURIComponent(path)}`;
    expect([answer.status, answer.headers.get('location')]).toEqual([303, login]);
  });

  test.each(FORMS)('%s does nothing', async (path) => {
    const answer = await fetch(shop.origin + path, { method: 'POST', redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/admin/login']);
  });

  test.each(['', 'x', '%', `abc.9999999999.abc`])('a made-up cookie "%s" opens nothing', async (value) => {
    expect((await visitor(shop, `__Host-admin=${value}`).get('/admin')).status).toBe(303);
  });
});

describe('a login', () => {
  const landsOn = async (to: string): Promise<string | null> => {
    const body = new URLSearchParams({ token: TOKEN, to });
    const answer = await fetch(`${shop.origin}/admin/login`, { method: 'POST', body, redirect: 'manual' });
    return answer.headers.get('location');
  };

  test('leads to the page that was asked for, which the login page remembers after a wrong token', async () => {
    const asked = '/admin/orders?q=ada%40example.com&status=paid';
    const login = (await visitor(shop, '').get(asked)).headers.get('location') ?? '';
    const page = await visitor(shop, '').text(login);
    expect(page).toContain('Three Markets');
    expect(page).toContain('test mode');
    expect(page).toContain(`name="to" value="${asked.replace('&', '&amp;')}"`);
    expect(await landsOn(asked)).toBe(asked);
    const wrong = new URLSearchParams({ token: 'wrong', to: asked });
    const again = await fetch(`${shop.origin}/admin/login`, { method: 'POST', body: wrong });
    expect(await again.text()).toContain(`name="to" value="${asked.replace('&', '&amp;')}"`);
  });

  test.each([
    'https://evil.example/admin/orders',
    '//evil.example/admin',
    '/\\evil.example/admin',
    '/admin/../\\evil.example',
    '/admin\t/..//evil.example/admin',
    'javascript:alert(1)//admin',
    '/administration',
    '/shop',
    '/admin/logout',
    '/admin/login?to=/admin/login',
    '',
  ])('leads to nothing else: %j', async (to) => {
    expect(await landsOn(to)).toBe('/admin');
  });

  test('is of one browser: two have different cookies and different form tokens', async () => {
    const [one, other] = [await logIn(shop), await logIn(shop)];
    expect(one.cookie).not.toBe(other.cookie);
    const formOf = async (who: typeof one) =>
      /name="form" value="([^"]+)"/.exec(await who.text('/admin'))?.[1];
    expect(await formOf(one)).toMatch(/^[\w-]{40,}$/);
    expect(await formOf(one)).not.toBe(await formOf(other));
  });

  test('ends by logging out, and only that one', async () => {
    const [one, other] = [await logIn(shop), await logIn(shop)];
    const answer = await one.send('/admin/logout', []);
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await one.get('/admin')).status).toBe(303);
    expect((await other.get('/admin')).status).toBe(200);
  });

  test('cannot be made to last longer by changing its cookie', async () => {
    const { cookie } = await logIn(shop);
    const longer = cookie.replace(/\.(\d+)\./, (_all, until: string) => `.${Number(until) + 1}.`);
    expect(longer).not.toBe(cookie);
    expect((await visitor(shop, longer).get('/admin')).status).toBe(303);
  });
});

describe('a form is taken from a page of this login only', () => {
  const deed: [string, string][] = [['id', '1'], ...signed()];
  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }],
  ])('not from %s', async (_name, headers) => {
    expect((await (await logIn(shop)).send('/admin/cases', deed, headers)).status).toBe(403);
  });

  test('not from another origin, by a browser that names origins only', async () => {
    const { cookie, text } = await logIn(shop);
    const form = /name="form" value="([^"]+)"/.exec(await text('/admin'))?.[1] ?? '';
    const post = (origin: string): Promise<Response> =>
      fetch(`${shop.origin}/admin/cases`, {
        method: 'POST',
        body: new URLSearchParams([['form', form], ...deed]),
        headers: { cookie, origin },
        redirect: 'manual',
      });
    expect((await post('https://evil.example')).status).toBe(403);
    expect((await post('null')).status).toBe(403);
    expect((await post(shop.origin)).status).toBe(303);
  });

  test("not without the page's own token, and not with that of another login", async () => {
    const [one, other] = [await logIn(shop), await logIn(shop)];
    const theirs = /name="form" value="([^"]+)"/.exec(await other.text('/admin'))?.[1] ?? '';
    for (const form of ['', 'x', theirs]) {
      const answer = await fetch(`${shop.origin}/admin/cases`, {
        method: 'POST',
        body: new URLSearchParams([['form', form], ...deed]),
        headers: { cookie: one.cookie, 'sec-fetch-site': 'same-origin' },
        redirect: 'manual',
      });
      expect(answer.status).toBe(403);
    }
  });
});

test('nobody guesses the token: after ten tries even the right one has to wait', async () => {
  const guessed = await startProgram({ env: { ADMIN_TOKEN: TOKEN } });
  const tryWith = (token: string): Promise<Response> =>
    fetch(`${guessed.origin}/admin/login`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    });
  for (let tries = 0; tries < 9; tries += 1) expect((await tryWith('guess')).status).toBe(401);
  expect((await tryWith(TOKEN)).status).toBe(303);
  for (let tries = 0; tries < 10; tries += 1) expect((await tryWith('guess')).status).toBe(401);
  const refused = await tryWith(TOKEN);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await guessed.close();
});

test('an address without a page keeps the navigation for who is logged in, and shows none to a stranger', async () => {
  const { cookie } = await logIn(shop);
  const pageFor = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(shop.origin + path, { headers: { ...headers, accept: 'text/html' } });
    return [answer.status, await answer.text()];
  };
  const titles = {
    '/admin/nothing': 'There is nothing here',
    '/admin/orders/xxxxxxxxxxxxxxxxxxxxxxxx': 'No order has this number',
  };
  for (const [path, title] of Object.entries(titles))
    expect(await pageFor(path, { cookie })).toEqual([
      404,
      expect.stringMatching(new RegExp(`<nav aria-label="Pages">.*${title}</h1>.*>Search orders</a>`, 's')),
    ]);
  expect(await pageFor('/admin/nothing', {})).toEqual([404, expect.not.stringContaining('<nav')]);
});

describe('without an admin token', () => {
  test('the pages and their forms work at this machine', async () => {
    const { orderId } = await near.checkout();
    const here = visitor(near, '', `/admin/orders/${orderId}`);
    for (const path of ['/admin', '/admin/orders', '/admin/charts'])
      expect((await here.get(path)).status).toBe(200);
    expect((await here.send('/admin/cases', [['id', '1'], ...signed()])).status).toBe(303);
    expect((await here.send('/admin/cases', [['id', '1']], { 'sec-fetch-site': 'cross-site' })).status).toBe(
      403,
    );
  });

  test('they are nothing for whoever comes under another name, through a tunnel or by a trick with names', async () => {
    const { port } = new URL(near.origin);
    const status = await new Promise((resolve, reject) => {
      httpRequest({ port, path: '/admin', headers: { host: 'shop.example' } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(404);
  });
});
