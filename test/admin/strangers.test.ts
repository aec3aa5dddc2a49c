import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram, type TestProgram } from '../support/program.ts';
import { TOKEN } from './visitor.ts';

const SHOP_TOKEN = 'a-long-token-of-the-shop';
let near: TestProgram;
let shop: TestProgram;
beforeAll(async () => {
  near = await startProgram();
  shop = await startProgram({
    env: { ADMIN_TOKEN: TOKEN, SHOP_API_TOKEN: SHOP_TOKEN, TRUSTED_PROXIES: '127.0.0.1' },
  });
});
afterAll(async () => {
  await near.close();
  await shop.close();
});

/** As a person at this machine asks, with what something in between adds. */
function statusOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const { port } = new URL(near.origin);
  return new Promise((resolve, reject) => {
    httpRequest({ port, path, headers: { host: `127.0.0.1:${port}`, ...headers } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('B4: without a token, what was passed on to us does not come from this machine', () => {
  const PAGES = ['/admin', '/admin/orders', '/admin/cases', '/metrics'];
  test.each(PAGES)('%s is shown to a person at this machine', async (path) => {
    expect(await statusOf(path)).toBe(200);
    expect(await statusOf(path, { 'user-agent': 'x', 'x-requested-with': 'x', 'x-request-id': 'x' })).toBe(
      200,
    );
  });
  test.each([
    'X-Forwarded-For', 'x-forwarded-host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Server', 'X-Forwarded', 'Forwarded',
    'X-Real-IP', 'Via', 'X-Client-IP', 'X-Cluster-Client-IP', 'True-Client-IP', 'Fastly-Client-IP', 'CF-Connecting-IP', 'X-Original-For',
    'X-Original-Host', 'X-Envoy-External-Address', 'X-ProxyUser-Ip', 'CDN-Loop', 'X-Amzn-Trace-Id', 'X-Azure-ClientIP',
  ])('%s: nothing is there', async (name) => {
    for (const path of PAGES) expect([path, await statusOf(path, { [name]: '127.0.0.1' })]).toEqual([path, 404]);
    expect(await statusOf('/admin', { [name]: '' })).toBe(404);
  }); // prettier-ignore

  test('nor for what nginx passes on without a header of its own', async () => {
    const { connect } = await import('node:net');
    const { port } = new URL(near.origin);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`GET /admin HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
      });
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      socket.on('end', () => {
        resolve(text);
      });
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe('B5: nobody guesses a bearer token', () => {
  let address = 0;
  /** A client that nobody has seen before. */
  const newClient = (): string => `203.0.113.${(address += 1)}`;
  const ask = (from: string, token: string | null, path = '/metrics', method = 'GET'): Promise<Response> =>
    fetch(shop.origin + path, {
      method,
      redirect: 'manual',
      headers: { 'x-forwarded-for': from, ...(token !== null && { authorization: `Bearer ${token}` }) },
    });

  test.each([
    ['GET', '/metrics', TOKEN, 401],
    ['GET', '/admin', TOKEN, 303],
    ['GET', '/admin/orders', TOKEN, 303],
    ['POST', '/admin/cases', TOKEN, 303],
    ['POST', '/orders', SHOP_TOKEN, 401],
  ])('%s %s: after ten tries that address waits, and no other', async (method, path, right, refused) => {
    const [guesser, honest] = [newClient(), newClient()];
    const statuses: number[] = [];
    for (let tries = 0; tries < 13; tries += 1)
      statuses.push((await ask(guesser, `guess-${tries}`, path, method)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => refused), 429, 429, 429]);
    const waiting = await ask(guesser, right, path, method);
    expect([waiting.status, Number(waiting.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect((await ask(honest, right, path, method)).status).not.toBe(429);
    // A browser without a token guesses nothing.
    expect((await ask(guesser, null, path, method)).status).toBe(refused);
  });

  test('all doors count together: a guess at one is a guess', async () => {
    const guesser = newClient();
    const doors = [['/metrics'], ['/admin'], ['/orders', 'POST']];
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries += 1) {
      const [path, method] = doors[tries % doors.length] ?? [];
      statuses.push((await ask(guesser, `guess-${tries}`, path, method)).status);
    }
    expect(statuses.slice(10)).toEqual([429, 429]);
  });

  test('the right token is never counted', async () => {
    const scraper = newClient();
    for (let times = 0; times < 30; times += 1) expect((await ask(scraper, TOKEN)).status).toBe(200);
    expect(
      await shop.program.database.query('SELECT FROM rate_limits WHERE key LIKE $1', [`%${scraper}`]),
    ).toEqual([]);
  });

  test('guesses are counted for all nodes together', async () => {
    const guesser = newClient();
    for (let tries = 0; tries < 4; tries += 1) await ask(guesser, `guess-${tries}`);
    expect(
      await shop.program.database.query('SELECT points FROM rate_limits WHERE key LIKE $1', [`%${guesser}`]),
    ).toEqual([{ points: 4 }]);
  });
});
