import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen, type RunningServer } from '../../src/platform/http-server.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { attack, inventory, onTheWire, problemOf, refuses, type Refusal } from '../support/hostile.ts';
import { checkInvariants } from '../support/invariants.ts';
import { aBasket, startProgram, type TestProgram } from '../support/program.ts';

// What hostile clients do below HTTP, and with HTTP that no library would write.

const IDLE = IS_WHOLE ? 1_500 : 100;
/** The limits of ten and twenty seconds, one look a second, and a machine that is busy with something else. */
const HEADERS_GONE_MS = 90_000;
const REQUEST_GONE_MS = 120_000;

let shop: TestProgram;
let slowServer = '';
beforeAll(async () => {
  shop = await startProgram({ env: { ADMIN_TOKEN: 'token-of-the-operator' } });
});
afterAll(() => shop.close());

type Said = { status: number; problem: string | null };

/** Status and problem of the first answer in what came over a socket. */
function firstAnswer(text: string): Said {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const isProblem = /^content-type: application\/problem\+json/im.test(head);
  const type = isProblem
    ? (JSON.parse(/^[^{]*(\{.*\})/s.exec(body)?.[1] ?? '{"type":""}') as { type: string }).type
    : null;
  return { status: Number(head.split(' ')[1] ?? 0), problem: type?.replace('/problems/', '') ?? null };
}

const answersIn = (text: string): number => text.split('HTTP/1.1 ').length - 1;
const UNREADABLE = { status: 400, problem: 'malformed-request' };

describe('H24 requests that two readers would read differently', () => {
  const basket = JSON.stringify(aBasket);
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n';
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    [
      'Transfer-Encoding and Content-Length',
      `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['two lengths', `Content-Length: ${basket.length}\r\nContent-Length: 1\r\n\r\n${basket}`],
    ['a length with a sign', `Content-Length: +${basket.length}\r\n\r\n${basket}`],
    ['a length of two numbers', `Content-Length: 1, 2\r\n\r\n${basket}`],
    ['a length beyond numbers', `Content-Length: 99999999999999999999\r\n\r\n${basket}`],
    ['an encoding behind chunked', `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`],
    ['a blank before the colon', `Content-Length : ${basket.length}\r\n\r\n${basket}`],
    ['a folded header', `X-Folded: a\r\n Content-Length: 0\r\nContent-Length: zz\r\n\r\n${basket}`],
    ['a folded length', `Content-Length:\r\n ${basket.length}x\r\n\r\n${basket}`],
    ['a bare line feed', `X-A: b\nContent-Length: 1\n\n${basket}`],
    ['a NUL in a header', `X-A: b\0c\r\nContent-Length: 0\r\n\r\n`],
    ['a chunk without a size', `Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${hidden}`],
  ])('%s: 400, hung up, and what was hidden behind is not served', async (_name, rest) => {
    const before = await inventory(shop);
    const head = `POST /checkout HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
    const { text, hungUp } = await onTheWire(shop.origin, head + rest);
    expect({ ...firstAnswer(text), hungUp, answers: answersIn(text) }).toEqual({
      ...UNREADABLE,
      hungUp: true,
      answers: 1,
    });
    expect(await inventory(shop)).toEqual(before);
  });
});

describe('H23 what is no request', () => {
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', UNREADABLE],
    ['a TLS greeting', Buffer.from('16030100c8010000c403035d', 'hex'), UNREADABLE],
    ['a version that is none', 'GET / HTTP/9.9\r\n\r\n', UNREADABLE],
    ['a method that is none', 'STEAL /orders HTTP/1.1\r\nHost: a\r\n\r\n', UNREADABLE],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', { status: 400, problem: null }],
    [
      'an address of a megabyte',
      `GET /${'x'.repeat(1024 ** 2)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      { status: 431, problem: 'headers-too-large' },
    ],
    [
      'headers of a megabyte',
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(1024 ** 2)}\r\n\r\n`,
      { status: 431, problem: 'headers-too-large' },
    ],
    [
      'ten thousand headers',
      `GET / HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n`,
      { status: 431, problem: 'headers-too-large' },
    ],
  ])('%s', async (_name, bytes, end) => {
    const { text, hungUp } = await onTheWire(shop.origin, bytes);
    expect(hungUp).toBe(true);
    expect(firstAnswer(text)).toEqual(end);
    expect(text).not.toMatch(/node|express|Error|\.ts/i);
  });

  refuses(
    () => shop,
    [
      ['JSON that breaks off', { body: '{"email":' }, 400, 'malformed-request'],
      ['a bare word', { body: 'hello' }, 400, 'malformed-request'],
      ['a byte order mark before it', { body: '\ufeff{}' }, 422, 'invalid-input'],
      ['no body and no type', {}, 415, 'unsupported-media-type'],
      ['an escape that is none', { method: 'GET', path: '/%zz' }, 404, 'not-found'],
      ['a long address', { method: 'GET', path: `/${'x'.repeat(8_000)}` }, 404, 'not-found'],
      ['a long query', { method: 'GET', path: `/products?${'a=b&'.repeat(3_000)}` }, 200, null],
    ],
  );
});

describe('undeclared methods', () => {
  const METHODS = someOf(['TRACE', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'], 2);
  const PATHS = [
    '/checkout',
    '/products',
    '/orders/x',
    '/shop',
    '/admin',
    '/metrics',
    '/healthz',
    '/checkout/return/x',
  ];
  refuses(
    () => shop,
    METHODS.flatMap((method) => [
      ...PATHS.map((path): Refusal => [`${method} ${path}`, { method, path }, 404, 'not-found']),
      [
        `${method} /webhooks/payments`,
        { method, path: '/webhooks/payments' },
        405,
        'method-not-allowed',
      ] as Refusal,
    ]),
  );

  test('TRACE gives nothing of the request back', async () => {
    const headers = { 'x-secret': 'c4n4ry', cookie: 'a=c4n4ry' };
    expect((await attack(shop.origin, { method: 'TRACE', path: '/', headers })).text).not.toContain('c4n4ry');
  });

  test('CONNECT and an upgrade are not served', async () => {
    const tunnel = await onTheWire(
      shop.origin,
      'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: a\r\n\r\n',
      5_000,
    );
    expect(tunnel.text).not.toMatch(/^HTTP\/1\.1 2/);
    const upgrade =
      'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n';
    expect((await onTheWire(shop.origin, upgrade, 5_000)).text).not.toMatch(/^HTTP\/1\.1 101/);
  });
});

describe('H15 slow and idle clients', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await listen((req, res) => req.resume().once('end', () => res.end('served')), '127.0.0.1', 0);
  });
  beforeAll(() => {
    slowServer = `127.0.0.1:${server.port}`;
  });
  afterAll(() => server.close(0));
  const origin = (): string => `http://127.0.0.1:${server.port}`;

  test('headers get 10 s, a request 20 s, and somebody looks', () => {
    const { headersTimeout, requestTimeout } = server.server;
    expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 10_000, requestTimeout: 20_000 });
  });

  // All at once: each takes as long as its limit.
  let slow: Record<'headers' | 'body' | 'drip', Promise<{ text: string; hungUp: boolean }>>;
  let endless: Promise<number>;
  beforeAll(() => {
    slow = {
      headers: onTheWire(origin(), 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', HEADERS_GONE_MS),
      body: onTheWire(
        origin(),
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx',
        REQUEST_GONE_MS,
      ),
      drip: onTheWire(origin(), 'GET / HTTP/1.1\r\nHost: a\r\n', HEADERS_GONE_MS, 'X'),
    };
    endless = endlessBody(shop.origin);
  });

  test(`${IDLE} sockets that say nothing keep nobody out, and are let go`, async () => {
    const port = Number(new URL(shop.origin).port);
    const idle: Socket[] = [];
    let gone = 0;
    for (let at = 0; at < IDLE; at += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.resume().once('close', () => (gone += 1));
      idle.push(socket);
      if (at % 100 === 99) await new Promise((resolve) => socket.once('connect', resolve));
    }
    expect((await attack(shop.origin, { body: aBasket })).status).toBe(201);
    const until = performance.now() + REQUEST_GONE_MS;
    while (gone < IDLE && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
    for (const socket of idle) socket.destroy();
    expect(gone).toBe(IDLE);
  });

  test.each(['headers', 'body', 'drip'] as const)('%s without an end: 408, and hung up', async (kind) => {
    const { text, hungUp } = await slow[kind];
    expect({ ...firstAnswer(text), hungUp }).toEqual({
      status: 408,
      problem: 'request-timeout',
      hungUp: true,
    });
  });

  test('H14 a body in chunks without an end is thrown away as it comes, and its time ends it, too', async () => {
    expect(await endless).toBe(408);
  });
});

describe('H30 doors of the workshop', () => {
  test('no inspector listens, and what the program listens on is one port', async () => {
    const inspector = await import('node:inspector');
    expect(inspector.url()).toBeUndefined();
    expect(problemOf(await attack(shop.origin, { method: 'GET', path: '/metrics' }))).toBe('unauthorized');
    expect((await attack(shop.origin, { method: 'GET', path: '/json/version' })).status).toBe(404);
  });

  test('in production, and from another machine, there is no metrics page without a token', async () => {
    const { createAdminGuard } = await import('../../src/admin/login/guard.ts');
    const refusedTo = (production: boolean, remoteAddress: string): boolean => {
      const get = (name: string): string | undefined => (name === 'host' ? 'localhost:3000' : undefined);
      const req = { get, hostname: 'localhost', headers: {}, socket: { remoteAddress } };
      try {
        createAdminGuard(null, production).requireToken(req as never, {} as never, () => undefined);
        return false;
      } catch {
        return true;
      }
    };
    expect([
      refusedTo(false, '127.0.0.1'),
      refusedTo(false, '10.0.0.7'),
      refusedTo(true, '127.0.0.1'),
    ]).toEqual([false, true, true]);
  });
});

/** Sends blanks for ever. @returns the status of what ended it */
function endlessBody(origin: string): Promise<number> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const req = request(
      { hostname, port, method: 'POST', path: '/checkout', headers, agent: false },
      (res) => {
        clearInterval(pump);
        res.resume();
        resolve(res.statusCode ?? 0);
        req.destroy();
      },
    );
    req.on('error', reject);
    const pump = setInterval(() => req.write(' '.repeat(16_384)), 20);
  });
}

test('after all that, every invariant holds', async () => {
  const { database } = shop.program;
  const { mayConnectTo, ...traffic } = shop.traffic();
  // The server of H15 is this test's own.
  const observed = { ...traffic, mayConnectTo: [...mayConnectTo, slowServer] };
  expect(await checkInvariants({ database, sandboxUrl: shop.sandbox.url, traffic: observed })).toEqual([]);
});
