import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { asReference } from '../support/ids.ts';
import { hangUp, json, raw, startOddService, type OddService } from '../support/service.ts';

let service: OddService;
beforeEach(async () => {
  service = await startOddService();
});
afterEach(() => service.close());

const request = {
  email: 'ada@example.com',
  money: { amount: 1_000_000_000_001n, currency: 'NGN' },
  reference: asReference('R'.repeat(24)),
  redirectUrl: 'http://localhost:3000/checkout/return/R',
};
const ask = (answer: RequestListener) => {
  service.answer = answer;
  return service.gateway.initialize(request);
};
const URL_ = 'https://pay.example.com/c/1';
const PAGE = { 'content-type': 'text/html; charset=utf-8' };
const OPENED = { outcome: 'opened', checkoutUrl: URL_ };
const JSON_TEXT = JSON.stringify({ data: URL_ });

test('the request is the reference to the letter, with the amount as an exact number', async () => {
  await ask(json({ data: URL_ }));
  const sent = service.requests.at(-1);
  expect(sent).toMatchObject({ method: 'POST', url: '/v1/transactions/initialize' });
  expect(sent?.headers).toMatchObject({
    'x-api-key': 'sk_test_c4n4ry',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  });
  expect(sent?.body).toContain('"amount":10000000000.01}');
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    email: 'ada@example.com',
    amount: 10_000_000_000.01,
    localCurrency: 'NGN',
    amountCurrency: 'local',
    reference: request.reference,
    redirectUrl: request.redirectUrl,
  });
});

describe('opened', () => {
  test.each([
    ['the address itself', { data: URL_ }, 200],
    ['201', { data: URL_ }, 201],
    ['an object around it', { data: { authorizationUrl: URL_ } }, 200],
    ['an object with a null beside it', { data: { link: null, checkout_url: URL_ } }, 200],
  ])('%s', async (_name, body, status) => {
    expect(await ask(json(body, status))).toEqual(OPENED);
  });
  test.each<unknown>([true, 'true', 'success', 'SUCCESS', 200, '00', '0', 0, null])(
    'a call that the answer flags with %j went well',
    async (flag) => {
      for (const key of ['status', 'success', 'code']) {
        expect(await ask(json({ [key]: flag, error: null, data: URL_ }))).toEqual(OPENED);
      }
    },
  );
  test.each([
    ['application/json; charset=UTF-8'],
    ['application/problem+json'],
    ['Application/JSON;charset=utf-8'],
  ])('as %s', async (type) => {
    expect(await ask(raw(JSON_TEXT, 200, { 'content-type': type }))).toEqual(OPENED);
  });
  test('as nothing in particular: then the bytes decide', async () => {
    expect(await ask((_req, res) => res.end(JSON_TEXT))).toEqual(OPENED);
  });
});

describe('refused: the service says that it did not act', () => {
  test.each([400, 404, 405, 413, 415, 422])('%i with a readable body', async (status) => {
    expect(await ask(json({ message: 'no' }, status))).toEqual({
      outcome: 'refused',
      reason: `http-${status}`,
      retryAfterSec: null,
    });
  });
  test.each<[string, RequestListener]>([
    ['401 with nothing else', raw('', 401)],
    ['401 with a page', raw('<html>', 401, PAGE)],
    ['403 with a readable body', json({ message: 'no' }, 403)],
  ])('our key: %s', async (_name, answer) => {
    expect(await ask(answer)).toEqual({ outcome: 'refused', reason: 'key-refused', retryAfterSec: null });
  });
});

describe('ambiguous: it may have acted', () => {
  test.each<[string, RequestListener]>([
    ['500', json({}, 500)],
    ['403 with a page: a firewall may have held back the answer', raw('<html>', 403, PAGE)],
    [
      '422 in words, though they read as JSON',
      raw('{"message":"no"}', 422, { 'content-type': 'text/plain' }),
    ],
    ['200 and the address in a page', raw(JSON_TEXT, 200, PAGE)],
    ['200 and the address as text', raw(JSON_TEXT, 200, { 'content-type': 'text/plain' })],
    [
      '200 and a type that only begins like JSON',
      raw(JSON_TEXT, 200, { 'content-type': 'application/jsonp' }),
    ],
    ['200 that says false about itself', json({ status: false, message: 'Duplicate', data: URL_ })],
    ['200 that says "error" about itself', json({ status: 'error', data: URL_ })],
    ['200 without success', json({ success: false, data: { url: URL_ } })],
    ['200 with another code inside', json({ code: 409, data: URL_ })],
    ['200 and an error beside the address', json({ error: { message: 'no' }, data: URL_ })],
    ['a byte-order mark', raw(`\ufeff${JSON_TEXT}`)],
    [
      'UTF-16',
      raw(Buffer.from(JSON_TEXT, 'utf16le'), 200, { 'content-type': 'application/json; charset=utf-16' }),
    ],
    [
      'invalid UTF-8',
      raw(
        Buffer.concat([
          Buffer.from('{"data":"https://pay.example.com/'),
          Buffer.from([0xff]),
          Buffer.from('"}'),
        ]),
      ),
    ],
    ['204', raw('', 204)],
    [
      'a length that is too long',
      (_req, res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 }).write(JSON_TEXT);
        setTimeout(() => res.destroy(), 20);
      },
    ],
    ['502 with a page', raw('<html>', 502, { 'content-type': 'text/html' })],
    ['503 and 504', json({}, 504)],
    ['429: where the limiter stands is not known', json({}, 429)],
    ['409: a reference it has seen', json({}, 409)],
    ['422 with a body that nobody can read', raw('<html>', 422)],
    ['a redirect, which is not followed', raw('', 307, { location: 'http://127.0.0.1:1/' })],
    ['200 and nothing', raw('')],
    ['200 and half a body', raw('{"data":"https://pay')],
    ['200 without an address', json({ data: { id: 1 } })],
    ['200 with an address that no shopper may be sent to', json({ data: 'javascript:alert(1)' })],
    ['an answer that is compressed', raw('x', 200, { 'content-encoding': 'gzip' })],
    ['an answer larger than 64 KiB', json({ data: URL_, more: 'x'.repeat(70_000) })],
    ['a connection cut after the request', hangUp],
  ])('%s', async (_name, answer) => {
    const before = service.requests.length;
    expect((await ask(answer)).outcome).toBe('ambiguous');
    expect(service.requests.length).toBe(before + 1);
  });

  test('503 with a time tells when to try again', async () => {
    expect(await ask(raw('', 503, { 'retry-after': '7' }))).toMatchObject({ retryAfterSec: 7 });
  });
});

test.each<[string, unknown]>([
  ['absent', undefined],
  ['null', null],
  ['empty', ''],
  ['a number', 42],
  ['an object', {}],
  ['a list', [URL_]],
  ['a script', 'javascript:alert(1)'],
  ['a document', 'data:text/html,<h1>pay</h1>'],
  ['without a scheme', '//evil.example.com/c'],
  ['a path', '/c/1'],
  ['with the good host as a user name', 'https://pay.example.com@evil.example.com/'],
  ['with a user name', 'https://ada@pay.example.com/'],
  ['on another port', 'https://pay.example.com:8443/c/1'],
  ['without TLS', 'http://pay.example.com/c/1'],
  ['with a line break', 'https://pay.example.com/\r\nset-cookie: a=b'],
  ['of a hundred thousand characters', `https://pay.example.com/${'a'.repeat(100_000)}`],
  ['of fifty thousand characters', `https://pay.example.com/${'a'.repeat(50_000)}`],
])('a checkout address that is %s is shown to nobody', async (_name, data) => {
  expect((await ask(json({ status: true, data }))).outcome).toBe('ambiguous');
});

test('a service that nobody can connect to was not asked', async () => {
  const gone = await startOddService();
  await gone.close();
  const { createGateway } = await import('../../src/gateway/gateway.ts');
  const { SecretKey } = await import('../../src/gateway/secret-key.ts');
  const { createLogger } = await import('../../src/platform/logger.ts');
  const gateway = createGateway({
    url: gone.url,
    key: new SecretKey('sk_test_x'),
    dialect: service.gateway.dialect,
    checkoutHosts: [],
    concurrency: 1,
    logger: createLogger('silent'),
  });
  expect((await gateway.initialize(request)).outcome).toBe('not-sent');
  await gateway.close();
});
