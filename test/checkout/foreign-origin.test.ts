import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aBasket, startProgram, type TestProgram } from '../support/program.ts';

const STOREFRONT = 'https://shop.example.com';
const EVIL = 'https://evil.example.com';

let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: { STOREFRONT_ORIGINS: STOREFRONT } });
});
afterAll(() => shop.close());

const JSON_BODY = ['application/json', JSON.stringify(aBasket)] as const;
const FORM_BODY = [
  'application/x-www-form-urlencoded',
  'email=ada%40example.com&sku=ankara-tote&quantity=1',
] as const;

async function send([type, body]: readonly [string, string], headers: Record<string, string>) {
  // "OURS" is known only once the server listens.
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('OURS', shop.origin)]),
  );
  const answer = await fetch(`${shop.origin}/checkout`, {
    method: 'POST',
    headers: { 'content-type': type, ...own },
    body,
    redirect: 'manual',
  });
  const [{ count } = { count: 0n }] = await shop.program.database.query<{ count: bigint }>(
    'SELECT count(*) FROM orders',
  );
  return { answer, orders: Number(count) };
}

describe.each([
  ['a form', FORM_BODY, 303],
  ['JSON', JSON_BODY, 201],
])('%s', (_name, body, welcome) => {
  test.each<[string, Record<string, string>]>([
    ['a server, or a browser that says nothing', {}],
    ['our own page', { origin: 'OURS', 'sec-fetch-site': 'same-origin' }],
    ['our own page in an old browser', { origin: 'OURS' }],
    ['our own page, which keeps its origin to itself', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    [
      'our own page under another name of ours',
      { origin: 'http://localhost:1', 'sec-fetch-site': 'same-origin' },
    ],
    ['a listed storefront', { origin: STOREFRONT, 'sec-fetch-site': 'cross-site' }],
    ['a person', { 'sec-fetch-site': 'none' }],
  ])('from %s is taken', async (_from, headers) => {
    expect((await send(body, headers)).answer.status).toBe(welcome);
  });

  test.each<[string, Record<string, string>]>([
    ['another site', { origin: EVIL, 'sec-fetch-site': 'cross-site' }],
    ['another site in an old browser', { origin: EVIL }],
    [
      'another host of our domain',
      { origin: 'https://blog.shop.example.com', 'sec-fetch-site': 'same-site' },
    ],
    ['a storefront by another scheme', { origin: 'http://shop.example.com' }],
    ['a frame that hides its origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a frame that hides its origin, in an old browser', { origin: 'null' }],
    ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }],
    ['a made-up word', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ])('from %s is refused, and writes nothing', async (_from, headers) => {
    const before = (await send(JSON_BODY, {})).orders;
    const { answer, orders } = await send(body, headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      type: '/problems/foreign-origin',
      detail: expect.stringContaining('STOREFRONT_ORIGINS'),
    });
    expect(orders).toBe(before);
  });
});
