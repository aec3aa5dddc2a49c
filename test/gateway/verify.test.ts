import type { VerifyDeadline } from '../../src/gateway/verify.ts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { GatewayKeyRefused, GatewayUnavailable } from '../../src/gateway/errors.ts';
import { asReference } from '../support/ids.ts';
import { hangUp, json, raw, startOddService, type OddService } from '../support/service.ts';

let service: OddService;
beforeEach(async () => {
  service = await startOddService();
});
afterEach(() => service.close());

const ask = (answer: RequestListener, deadline?: VerifyDeadline) => {
  service.answer = answer;
  return service.gateway.verify(asReference('R'.repeat(24)), 'NGN', 'background', deadline);
};

const PAGE = { 'content-type': 'text/html' };
const PAID = JSON.stringify({
  data: { reference: 'R'.repeat(24), status: 'SUCCESS', amount: 25, currency: 'NGN' },
});

test('the path holds the reference, and a record comes back as evidence', async () => {
  const record = { reference: 'R'.repeat(24), status: 'SUCCESS', amount: 25, currency: 'NGN' };
  expect(await ask(json({ status: true, data: record }))).toMatchObject({
    kind: 'record',
    evidence: { status: 'paid', amount: { is: 'read', value: 2500n } },
  });
  expect(service.requests.at(-1)?.url).toBe(`/v1/transactions/verify/${'R'.repeat(24)}`);
});

describe('answers that say nothing about money', () => {
  test.each<[string, RequestListener, object]>([
    ['404', json({}, 404), { kind: 'not-found' }],
    ['400, as some services say it', json({}, 400), { kind: 'not-found' }],
    ['200 and nothing', raw(''), { kind: 'unreadable', why: 'not-json' }],
    ['204', raw('', 204), { kind: 'unreadable', why: 'http-204' }],
    [
      'a page',
      raw('<html>ok</html>', 200, { 'content-type': 'text/html' }),
      { kind: 'unreadable', why: 'not-json' },
    ],
    ['half a body', raw('{"data":{"status":"SUCC'), { kind: 'unreadable', why: 'not-json' }],
    ['a list', json([{ status: 'SUCCESS' }]), { kind: 'unreadable', why: 'no-record' }],
    [
      'a redirect, which is not followed',
      raw('', 302, { location: 'http://127.0.0.1:1/' }),
      { kind: 'unreadable', why: 'http-302' },
    ],
    ['a record in a page', raw(PAID, 200, PAGE), { kind: 'unreadable', why: 'not-json' }],
    ['a record as text', raw(PAID, 200, { 'content-type': 'text/plain' }), { kind: 'unreadable' }],
    ['404 as a page: somebody else may say so', raw('<html>', 404, PAGE), { kind: 'unreadable' }],
    ['UTF-16', raw(Buffer.from(PAID, 'utf16le')), { kind: 'unreadable', why: 'not-json' }],
    [
      'a byte-order mark',
      raw('\ufeff{"data":{"status":"SUCCESS"}}'),
      { kind: 'unreadable', why: 'not-json' },
    ],
    [
      'invalid UTF-8',
      raw(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
      { kind: 'unreadable', why: 'not-json' },
    ],
    ['a hundred thousand brackets', raw('['.repeat(100_000)), { kind: 'unreadable', why: 'not-json' }],
    [
      'the same key twice',
      raw('{"data":{"status":"SUCCESS","amount":1,"amount":25}}'),
      { kind: 'unreadable', why: 'not-json' },
    ],
  ])('%s', async (_name, answer, expected) => {
    expect(await ask(answer)).toMatchObject(expected);
  });
});

describe('no usable answer: ask again later', () => {
  test.each<[string, RequestListener, number | null]>([
    ['500 whose body says paid', json({ data: { status: 'SUCCESS' } }, 500), null],
    ['503 with a time', raw('', 503, { 'retry-after': '7' }), 7],
    ['429 with a time', raw('', 429, { 'retry-after': '3' }), 3],
    ['429 with an absurd time', raw('', 429, { 'retry-after': '1000000000' }), 3600],
    ['429 with nonsense', raw('', 429, { 'retry-after': 'soon' }), null],
    ['429 with the past', raw('', 429, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }), null],
    ['a connection cut', hangUp, null],
    ['compressed', raw('x', 200, { 'content-encoding': 'gzip' }), null],
    ['more than 256 KiB', raw('x'.repeat(300_000)), null],
  ])('%s', async (_name, answer, retryAfterSec) => {
    const failure: unknown = await ask(answer).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(GatewayUnavailable);
    expect((failure as GatewayUnavailable).retryAfterSec).toBe(retryAfterSec);
  });

  test('a body that drips is cut at the deadline', async () => {
    const drip: RequestListener = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => res.write(' '), 20);
      res.on('close', () => {
        clearInterval(timer);
      });
    };
    await expect(ask(drip, { headersMs: 200, totalMs: 400 })).rejects.toBeInstanceOf(GatewayUnavailable);
  });

  test('a date is a time to wait, too', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const failure: unknown = await ask(raw('', 429, { 'retry-after': inAMinute })).catch(
      (error: unknown) => error,
    );
    expect((failure as GatewayUnavailable).retryAfterSec).toBeGreaterThan(50);
    expect((failure as GatewayUnavailable).retryAfterSec).toBeLessThanOrEqual(60);
  });
});

test('a refused key is an error of its own, remembered until the key works again', async () => {
  await expect(ask(raw('', 401))).rejects.toBeInstanceOf(GatewayKeyRefused);
  expect(service.gateway.health().isKeyRefused).toBe(true);
  await ask(json({}, 404));
  expect(service.gateway.health().isKeyRefused).toBe(false);
});

test('no error of the gateway holds the key', async () => {
  for (const answer of [raw('', 401), raw('', 500), hangUp]) {
    const failure: unknown = await ask(answer).catch((error: unknown) => error);
    expect(
      JSON.stringify(failure, Object.getOwnPropertyNames(failure)) + String((failure as Error).stack),
    ).not.toContain('c4n4ry');
  }
});
