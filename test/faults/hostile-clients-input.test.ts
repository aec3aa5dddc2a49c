import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readIdempotencyKey } from '../../src/checkout/idempotency-key.ts';
import { readCheckoutForm, readCheckoutInput } from '../../src/checkout/checkout-bodies.ts';
import { acceptCheckoutUrl } from '../../src/gateway/initialize.ts';
import { readRetryAfter } from '../../src/gateway/traffic/backoff.ts';
import { readOrderInput } from '../../src/orders/order-input.ts';
import { bearerToken } from '../../src/platform/request.ts';
import { csvLine, textOfSheet } from '../../src/platform/csv.ts';
import { parseMajor } from '../../src/platform/money.ts';
import { openExport } from '../../src/reporting/exports.ts';
import { EVERYTHING } from '../../src/reporting/books.sql.ts';
import { IS_WHOLE, someOf } from '../support/extent.ts';
import { attack, inventory, problemOf, prototypes, refuses, type Refusal } from '../support/hostile.ts';
import { asOrderId } from '../support/ids.ts';
import { checkInvariants } from '../support/invariants.ts';
import { keepLines } from '../support/lines.ts';
import { aBasket, startProgram, type TestProgram } from '../support/program.ts';

// What hostile clients put into bodies and headers.

const TOKEN = 'token-of-the-shop';
const { logger, lines } = keepLines();
const inherited = prototypes();
let shop: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ logger, env: { SHOP_API_TOKEN: TOKEN, ADMIN_TOKEN: TOKEN } });
});
afterAll(() => shop.close());

const withItem = (item: object): object => ({ ...aBasket, items: [{ sku: 'bissap', quantity: 1, ...item }] });
const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
const asShop = { authorization: `Bearer ${TOKEN}` };
const anOrder = {
  email: 'ada@example.com',
  currency: 'NGN',
  lines: [{ description: 'a tote', unitAmount: '10.00', quantity: 1 }],
};
const orders = (change: object): Refusal[1] => ({
  path: '/orders',
  headers: asShop,
  body: { ...anOrder, ...change },
});
const invalid = [422, 'invalid-input'] as const;

const FIELDS = ['amount', 'price', 'total', 'discount', 'unitAmount', 'status', 'paid', 'reference', 'mode'];

describe('H1 prices and quantities of the browser are refused', () => {
  refuses(
    () => shop,
    [
      ...someOf(FIELDS, 3).map((field): Refusal => [
        `${field} in the body`,
        { body: { ...aBasket, [field]: 1 } },
        ...invalid,
      ]),
      ...someOf(['price', 'unitAmount', 'unit_amount', 'description'], 2).map((field): Refusal => [
        `${field} in an item`,
        { body: withItem({ [field]: '0.01' }) },
        ...invalid,
      ]),
      ...someOf([-1, 0, 0.5, 1e9, 1_001, '1', null, [1], { $gt: 0 }, true], 5).map((quantity): Refusal => [
        `a quantity of ${JSON.stringify(quantity)}`,
        { body: withItem({ quantity }) },
        ...invalid,
      ]),
      [
        'a quantity beyond every number',
        { body: '{"email":"a@b.co","items":[{"sku":"bissap","quantity":1e400}]}' },
        ...invalid,
      ],
      [
        'a negative zero',
        { body: '{"email":"a@b.co","items":[{"sku":"bissap","quantity":-0}]}' },
        ...invalid,
      ],
      ['a currency that is not the catalogue’s', { body: { ...aBasket, currency: 'XOF' } }, ...invalid],
      ...someOf(['-1', '0.5', 'NaN', '1e9', 'Infinity', '1;2'], 2).map((quantity): Refusal => [
        `a form with a quantity of ${quantity}`,
        { headers: asForm, body: `email=a%40b.co&sku=bissap&quantity=${encodeURIComponent(quantity)}` },
        ...invalid,
      ]),
      ['a price beside an existing order', { body: { orderId: 'x'.repeat(24), amount: '1' } }, ...invalid],
      ...someOf(['-1', '0', '1e3', '0x10', '1.00001', ' 1', '9'.repeat(16)], 3).map((unitAmount): Refusal => [
        `a shop's own unit amount of ${unitAmount}`,
        orders({ lines: [{ description: 'x', unitAmount, quantity: 1 }] }),
        ...invalid,
      ]),
    ],
  );
});

describe('H2 Idempotency-Key', () => {
  const keyed = (key: string, body: object = aBasket) => ({ headers: { 'idempotency-key': key }, body });
  const refused = [400, 'malformed-request'] as const;
  refuses(
    () => shop,
    [
      ['an empty key', keyed(''), ...refused],
      ['a key of blanks', keyed('   '), ...refused],
      ['a key of 256 characters', keyed('k'.repeat(256)), ...refused],
      ['a key of 10 kB', keyed('k'.repeat(10_240)), ...refused],
      ['a key outside of ASCII', keyed('caf\u00e9'), ...refused],
      ['a key with a tab inside', keyed('a\tb'), ...refused],
    ],
  );

  test('another body, or another customer who guesses the key, gets 422 and learns nothing of the order', async () => {
    const first = await attack(shop.origin, keyed('guessed'));
    expect(first.status).toBe(201);
    const { orderId, reference } = JSON.parse(first.text) as { orderId: string; reference: string };
    const before = await inventory(shop);
    for (const body of [withItem({ quantity: 2 }), { ...aBasket, email: 'eve@example.com' }, { orderId }]) {
      const answer = await attack(shop.origin, keyed('guessed', body));
      expect({ status: answer.status, problem: problemOf(answer) }).toEqual({
        status: 422,
        problem: 'idempotency-key-reused',
      });
      expect(answer.text).not.toContain(orderId);
      expect(answer.text).not.toContain(reference);
    }
    expect(await inventory(shop)).toEqual(before);
  });
});

describe('H3 many at once', () => {
  const COUNT = IS_WHOLE ? 100 : 30;

  test('with one key are one order and one call, and whoever comes too early is told so', async () => {
    const before = await inventory(shop);
    const ask = { headers: { 'idempotency-key': 'a-hundred' }, body: aBasket };
    const answers = await Promise.all(Array.from({ length: COUNT }, () => attack(shop.origin, ask)));
    const given = answers.filter(({ status }) => status === 201).map(({ text }) => text);
    expect(new Set(given).size).toBe(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(new Set(others.map(problemOf))).toEqual(new Set(others.length === 0 ? [] : ['request-in-flight']));
    const after = await inventory(shop);
    expect(Number(after.orders)).toBe(Number(before.orders) + 1);
    expect(Number(after.calls)).toBe(Number(before.calls) + 1);
  });

  test('without a key are as many requests: each has its own order, none has two', async () => {
    const before = await inventory(shop);
    const answers = await Promise.all(
      Array.from({ length: COUNT }, () => attack(shop.origin, { body: aBasket })),
    );
    const opened = answers.filter(({ status }) => status === 201);
    const busy = answers.filter(({ status }) => status === 503);
    expect(opened.length + busy.length).toBe(COUNT);
    const after = await inventory(shop);
    expect(Number(after.payments) - Number(before.payments)).toBe(
      Number(after.orders) - Number(before.orders),
    );
    expect(new Set(opened.map(({ text }) => (JSON.parse(text) as { orderId: string }).orderId)).size).toBe(
      opened.length,
    );
  });
});

const SQL = [
  `'; DROP TABLE orders; --`,
  `" OR 1=1 --`,
  `$1`,
  `\\'; SELECT pg_sleep(9); --`,
  '{"$ne":null}',
  '%00',
  '\u0000',
];

describe('H4 SQL, operators and NUL in every field', () => {
  refuses(
    () => shop,
    [
      ...someOf(SQL, 3).flatMap((text): Refusal[] => [
        [`e-mail ${JSON.stringify(text)}`, { body: { ...aBasket, email: text } }, ...invalid],
        [`sku ${JSON.stringify(text)}`, { body: withItem({ sku: text }) }, ...invalid],
        [`currency ${JSON.stringify(text)}`, { body: { ...aBasket, currency: text } }, ...invalid],
        [`order id ${JSON.stringify(text)}`, { body: { orderId: text } }, ...invalid],
        [
          `amount ${JSON.stringify(text)}`,
          orders({ lines: [{ description: 'x', unitAmount: text, quantity: 1 }] }),
          ...invalid,
        ],
      ]),
      ['an operator for an e-mail', { body: { ...aBasket, email: { $gt: '' } } }, ...invalid],
      ['a list for a sku', { body: withItem({ sku: ['bissap'] }) }, ...invalid],
      [
        'NUL in a description',
        orders({ lines: [{ description: 'a\u0000b', unitAmount: '1.00', quantity: 1 }] }),
        ...invalid,
      ],
      ['NUL in an external id', orders({ externalId: 'a\u0000b' }), ...invalid],
    ],
  );

  test('a key, a name and an external id of SQL are texts like any other', async () => {
    const [text = ''] = SQL;
    const key = { headers: { 'idempotency-key': text.replace('\u0000', '') }, body: aBasket };
    expect((await attack(shop.origin, key)).status).toBe(201);
    expect((await attack(shop.origin, key)).status).toBe(201);
    const made = await attack(
      shop.origin,
      orders({ externalId: text, lines: [{ description: text, unitAmount: '10.00', quantity: 1 }] }),
    );
    expect(made.status).toBe(201);
    expect(JSON.parse(made.text)).toMatchObject({ lines: [{ description: text }] });
    expect(
      await shop.program.database.query('SELECT external_id FROM orders WHERE external_id = $1', [text]),
    ).toHaveLength(1);
  });
});

describe('H5 prototype pollution', () => {
  const asText = (field: string): Refusal[1] => ({
    body: `{"email":"a@b.co","items":[{"sku":"bissap","quantity":1}],${field}}`,
  });
  refuses(
    () => shop,
    [
      ['__proto__ in a basket', asText('"__proto__":{"admin":true}'), ...invalid],
      ['constructor.prototype in a basket', asText('"constructor":{"prototype":{"admin":true}}'), ...invalid],
      [
        '__proto__ in an item',
        { body: '{"email":"a@b.co","items":[{"sku":"bissap","quantity":1,"__proto__":{"price":1}}]}' },
        ...invalid,
      ],
      [
        '__proto__ for the whole',
        { body: '{"__proto__":{"email":"a@b.co","items":[{"sku":"bissap","quantity":1}]}}' },
        ...invalid,
      ],
      [
        '__proto__ in a query',
        { method: 'GET', path: '/products?__proto__[admin]=1&constructor[prototype][admin]=1' },
        200,
        null,
      ],
      [
        '__proto__ as a header',
        { method: 'GET', path: '/products', headers: { __proto__x: '1', constructor: '1' } },
        200,
        null,
      ],
      [
        '__proto__ in a form',
        { headers: asForm, body: '__proto__[admin]=1&sku=bissap&quantity=1' },
        ...invalid,
      ],
    ],
  );

  test('__proto__ in a webhook is kept as the bytes it came in, and nothing else', async () => {
    const body = '{"__proto__":{"admin":true},"data":{"__proto__":{"reference":"x"}}}';
    const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
    const answer = await attack(shop.origin, {
      path: '/webhooks/payments',
      headers: { 'x-signature': signature },
      body,
    });
    expect(answer.status).toBe(202);
    expect(prototypes()).toEqual(inherited);
  });
});

describe('H6 a parameter that comes twice', () => {
  refuses(
    () => shop,
    [
      [
        'in the query of the return',
        { method: 'GET', path: `/checkout/return/${'x'.repeat(24)}?reference=a&reference=b` },
        404,
        'not-found',
      ],
      ['in the query of an asset', { method: 'GET', path: '/shop/assets/shop.css?v=a&v=b' }, 200, null],
      [
        'twice in JSON: the last one is judged like the only one',
        { body: '{"email":"a@b.co","email":1,"items":[]}' },
        ...invalid,
      ],
    ],
  );
});

describe('H9 line breaks for headers', () => {
  const ALL = ['\r\nbcc: eve@example.com', '\nset-cookie: a=b', '\r\n\r\n<script>', '\u2028x', '\u0085x'];
  const BREAKS = someOf(ALL, 2);
  refuses(
    () => shop,
    [
      ...BREAKS.map((text): Refusal => [
        `in an e-mail: ${JSON.stringify(text)}`,
        { body: { ...aBasket, email: `a@b.co${text}` } },
        ...invalid,
      ]),
      ...BREAKS.filter((text) => /[\r\n]/.test(text)).flatMap((text): Refusal[] => [
        [`in an external id: ${JSON.stringify(text)}`, orders({ externalId: `x${text}` }), ...invalid],
        [
          `in a description: ${JSON.stringify(text)}`,
          orders({ lines: [{ description: `x${text}`, unitAmount: '1', quantity: 1 }] }),
          ...invalid,
        ],
      ]),
      [
        'in a reference',
        { method: 'GET', path: '/checkout/return/x%0d%0aset-cookie:%20a=b' },
        404,
        'not-found',
      ],
    ],
  );

  test('none became a header', () => {
    for (const { headers } of shop.traffic().exchanges) expect(headers).not.toHaveProperty('set-cookie');
  });
});

describe('H14 too much', () => {
  const many = (count: number): object[] =>
    Array.from({ length: count }, () => ({ sku: 'bissap', quantity: 1 }));
  refuses(
    () => shop,
    [
      ['a hundred thousand lines', { body: { ...aBasket, items: many(100_000) } }, 413, 'too-large'],
      ['a line too many', { body: { ...aBasket, items: many(51) } }, ...invalid],
      ['10 MiB', { body: { ...aBasket, email: 'x'.repeat(10 * 1024 ** 2) } }, 413, 'too-large'],
      [
        '10 MiB of a form',
        { headers: asForm, body: `email=${'x'.repeat(10 * 1024 ** 2)}` },
        413,
        'too-large',
      ],
      ['ten thousand brackets', { body: '['.repeat(10_000) + ']'.repeat(10_000) }, ...invalid],
      [
        'ten thousand levels in a field',
        { body: `{"email":"a@b.co","items":${'['.repeat(10_000)}${']'.repeat(10_000)}}` },
        ...invalid,
      ],
      ['ten thousand fields in a form', { headers: asForm, body: 'a=1&'.repeat(10_000) }, ...invalid],
      [
        'a compressed body',
        { headers: { 'content-encoding': 'gzip' }, body: 'x' },
        415,
        'unsupported-media-type',
      ],
      [
        'another character set',
        { headers: { 'content-type': 'application/json; charset=koi8-r' }, body: '{}' },
        415,
        'unsupported-media-type',
      ],
    ],
  );
});

/** Every reader of text from outside, as one that never throws. */
const VALIDATORS: Record<string, (text: string) => unknown> = {
  'e-mail': (text) => readCheckoutInput({ ...aBasket, email: text }),
  sku: (text) => readCheckoutInput(withItem({ sku: text })),
  currency: (text) => readCheckoutInput({ ...aBasket, currency: text }),
  'order id': (text) => readCheckoutInput({ orderId: text }),
  form: (text) => readCheckoutForm(`email=${text}`),
  description: (text) =>
    readOrderInput({ ...anOrder, lines: [{ description: text, unitAmount: '1', quantity: 1 }] }),
  'unit amount': (text) =>
    readOrderInput({ ...anOrder, lines: [{ description: 'x', unitAmount: text, quantity: 1 }] }),
  'order currency': (text) => readOrderInput({ ...anOrder, currency: text }),
  'Idempotency-Key': (text) => readIdempotencyKey(text, { orderId: asOrderId('x') }),
  'quoted Idempotency-Key': (text) => readIdempotencyKey(`"${text}`, { orderId: asOrderId('x') }),
  'bearer token': (text) => bearerToken(`Bearer ${text}`),
  'Retry-After': (text) => readRetryAfter(text, undefined),
  'checkout address': (text) => acceptCheckoutUrl(`https://${text}`, { mode: 'test', hosts: [] }),
  money: (text) => parseMajor(text, 'NGN'),
};
const SEEDS = ['a', 'a@', 'a.', '-', ' ', '"', '\\', '%', '0', '1.', '\t', 'é', 'a@a.', '+'];

/** The best of some tries in milliseconds of this process's own work, of the worst text of that length. */
function costMs(read: (text: string) => unknown, length: number): number {
  return Math.max(
    ...SEEDS.map((seed) => {
      const text = `${seed.repeat(length / seed.length)}!`;
      const tries = Array.from({ length: 5 }, () => {
        const from = process.cpuUsage();
        try {
          read(text);
        } catch {
          // It was refused.
        }
        const { user, system } = process.cpuUsage(from);
        return (user + system) / 1_000;
      });
      return Math.min(...tries);
    }),
  );
}

test.each(Object.keys(VALIDATORS))(
  'H16 the reader of %s takes eight times longer for eight times the text, not sixty',
  (name) => {
    const read = VALIDATORS[name] ?? String;
    costMs(read, 4_000);
    // Below a millisecond it is the clock that is measured.
    const growth = costMs(read, 64_000) / Math.max(costMs(read, 8_000), 1);
    expect(growth).toBeLessThan(30);
  },
);

test('H21 each log line is one line of JSON, capped, and holds no control character of theirs', async () => {
  const forged = '\n{"level":60,"msg":"paid"}\u001b[31m\u0007';
  for (const path of [
    `/orders/${encodeURIComponent(forged)}`,
    `/checkout/return/${encodeURIComponent(forged)}`,
  ])
    await attack(shop.origin, { method: 'GET', path });
  await attack(shop.origin, { body: { ...aBasket, email: forged } });
  await attack(shop.origin, {
    headers: { 'user-agent': 'x\u001b[31m', 'idempotency-key': 'x' },
    body: { [forged]: 'x'.repeat(60_000) },
  }).catch(() => null);
  const body = JSON.stringify({ data: { reference: forged, status: 'x'.repeat(100_000) } });
  const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
  for (const sign of [signature, forged.replace(/[^ -~]/g, '')])
    await attack(shop.origin, { path: '/webhooks/payments', headers: { 'x-signature': sign }, body });
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line.trimEnd().split('\n')).toHaveLength(1);
    expect(() => void JSON.parse(line)).not.toThrow();
    expect(line.length).toBeLessThan(16_384);
    expect(Array.from(line.trimEnd()).filter((each) => each < ' ' || each === '\u007f')).toEqual([]);
    expect(line).not.toContain('{\\"level\\":60');
  }
});

test('after all that, every invariant holds', async () => {
  const { database } = shop.program;
  const observed = { sandboxUrl: shop.sandbox.url, traffic: shop.traffic(), key: shop.sandbox.testKey };
  expect(await checkInvariants({ database, ...observed, logs: lines })).toEqual([]);
});

describe('H22 formulas in what an operator exports', () => {
  const formulas = [
    '=HYPERLINK("https://evil.example","click")',
    "+1+cmd|' /C calc'!A0",
    '-2+3',
    '@SUM(1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '\uff1d1+1',
    '\uff0b1',
    '\uff0d1',
    '\uff20SUM(1)',
  ];
  test.each(formulas)('%j is a text', (formula) => {
    expect(csvLine([formula, 'x'])).toBe(`"'${formula.replaceAll('"', '""')}","x"\r\n`);
  });

  test('a cell can neither end its line nor begin another cell', () => {
    expect(csvLine(['a","=1', 'b\r\n=1', null, ''])).toBe('"a"",""=1","b\r\n=1","",""\r\n');
  });

  test('what the history lists comes out of the export as text', async () => {
    const database = shop.program.database;
    await database.query(`INSERT INTO reconciliation_runs (id, mode) VALUES ('run_h22', 'test')`);
    for (const reference of formulas)
      await database.query(
        `INSERT INTO findings (mode, class, reference, first_run_id, last_run_id)
         VALUES ('test', 'unknown_reference', $1, 'run_h22', 'run_h22')`,
        [reference],
      );
    let text = '';
    const findings = openExport(database, 'findings', { mode: 'test', period: EVERYTHING, status: 'open' });
    for await (const part of textOfSheet(findings, 'csv')) text += part;
    for (const formula of formulas) expect(text).toContain(`,"'${formula.replaceAll('"', '""')}",`);
    expect(text).not.toMatch(/,"[=+\-@]/);
  });
});
