import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/logger.ts';
import { unlistedHostIn } from '../../src/gateway/initialize.ts';
import { aBasket, post, startProgram, type TestProgram } from '../support/program.ts';

let shop: TestProgram;
const lines: string[] = [];
beforeAll(async () => {
  const logger = createLogger('warn', { write: (line: string) => lines.push(line) });
  shop = await startProgram({ env: { CHECKOUT_HOSTS: 'pay.example.com' }, logger });
});
afterAll(() => shop.close());

test('G10: a checkout that is refused for its host says so in the answer, the log, readiness and on the first page', async () => {
  const SENTENCE = "the service's checkout address has the host 127.0.0.1, which is not in CHECKOUT_HOSTS";
  const ready = async (): Promise<unknown> => (await fetch(`${shop.origin}/readyz`)).json();
  expect(await ready()).toEqual({ status: 'ready', mode: 'test' });

  const answer = await post(`${shop.origin}/checkout`, aBasket);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ detail: `The order is kept, but ${SENTENCE}.`, orderId: expect.any(String) }),
  ]);
  expect(lines.join('')).toContain(JSON.stringify(SENTENCE));
  expect(await ready()).toEqual({ status: 'ready', mode: 'test', warning: SENTENCE });
  const page = await (await fetch(`${shop.origin}/admin`)).text();
  expect(page).toContain('which is not in CHECKOUT_HOSTS');
});

test.each([
  ['https://pay.example.com/1', null],
  ['http://pay.example.com/1', null],
  ['not an address', null],
  ['javascript:alert(1)', null],
  ['https://pay.example.org/1?secret=x', /host pay\.example\.org, which/],
  ['https://user:secret@pay.example.org/', /host pay\.example\.org, which/],
  [`https://${'a.'.repeat(400)}example/`, /^.{0,330}$/],
])('G10: of %s only the host is told', (url, expected) => {
  const told = unlistedHostIn(url, { mode: 'live', hosts: ['pay.example.com'] });
  if (expected === null) expect(told).toBeNull();
  else expect(told).toMatch(expected);
  expect(told ?? '').not.toContain('secret');
});
