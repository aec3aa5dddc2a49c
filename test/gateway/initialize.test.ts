import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { hangUp, json, raw, startOddService, type OddService } from '../support/service.ts';

let service: OddService;
beforeAll(async () => {
  service = await startOddService();
});
afterAll(() => service.close());

const request = {
  email: 'ada@example.com',
  money: { amount: 1_000_000_000_001n, currency: 'NGN' },
  reference: 'R'.repeat(24),
  redirectUrl: 'http://localhost:3000/checkout/return/R',
};
const ask = (answer: RequestListener) => {
  service.answer = answer;
  return service.gateway.initialize(request);
};
const URL_ = 'https://pay.example.com/c/1';

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
    expect(await ask(json(body, status))).toEqual({ outcome: 'opened', checkoutUrl: URL_ });
  });
});

describe('refused: the service says that it did not act', () => {
  test.each([400, 404, 405, 413, 415, 422])('%i with a readable body', async (status) => {
    expect(await ask(json({ message: 'no' }, status))).toEqual({
      outcome: 'refused',
      reason: `http-${status}`,
    });
  });
  test.each([401, 403])('%i: our key', async (status) => {
    expect(await ask(raw('', status))).toEqual({
      outcome: 'refused',
      reason: 'key-refused',
    });
  });
});

describe('ambiguous: it may have acted', () => {
  test.each<[string, RequestListener]>([
    ['500', json({}, 500)],
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
