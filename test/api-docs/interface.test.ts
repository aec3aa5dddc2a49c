import { createHmac } from 'node:crypto';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Express } from 'express';
import request from 'supertest';
import { buildApp } from '../../src/app.ts';
import { SCHEMAS, exampleOf, WEBHOOKS } from '../../src/api-docs/openapi-schemas.ts';
import type { Operation } from '../../src/api-docs/operation.ts';
import { OPERATIONS } from '../../src/api-docs/operations.ts';
import { EVENT_TYPES } from '../../src/fulfilment/event.ts';
import { createCatalogue, type Pricing } from '../../src/orders/catalogue.ts';
import { newId } from '../../src/platform/ids.ts';
import { DEFAULTS } from '../../src/extensions.ts';
import { problemDocument } from '../../src/platform/problem.ts';
import { PROBLEMS, type ProblemType } from '../../src/platform/problem-types.ts';
import { aBasket, post, startProgram, type TestProgram } from '../support/program.ts';

// The description of the interface is held against the program that runs: no route is missing in it, no answer that it
// promises fails to come, and what comes has the shape that it says.

const ENV = { SHOP_API_TOKEN: 'shop-token-for-tests', ADMIN_TOKEN: 'a-long-admin-token' };
let shop: TestProgram;
let limited: TestProgram;
beforeAll(async () => {
  shop = await startProgram({ env: ENV });
  limited = await startProgram({ env: { ...ENV, CHECKOUTS_PER_MINUTE: '10' } });
});
afterAll(async () => {
  await shop.close();
  await limited.close();
});

test('an outside validator accepts the document', async () => {
  const { text } = await request(shop.origin).get('/openapi.json');
  const verdict = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect(verdict.errors).toBeUndefined();
  expect(verdict.valid).toBe(true);
});

test('every message that is sent stands in it as a webhook, and on the page', async () => {
  const { text } = await request(shop.origin).get('/openapi.json');
  const { webhooks } = JSON.parse(text) as { webhooks: Record<string, { post: object }> };
  expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES]);
  expect(webhooks['order.cancelled']?.post).toMatchObject({
    requestBody: {
      content: {
        'application/json': {
          schema: {
            properties: { type: { const: 'order.cancelled' }, data: { properties: { reason: {} } } },
          },
        },
      },
    },
  });
  const page = (await request(shop.origin).get('/docs')).text;
  for (const type of EVENT_TYPES) expect(page).toContain(`id="schema-${type}"`);
});

test('each call has an example to copy that the schema takes, each message one that it gives, and the menu names all', async () => {
  const page = (await request(shop.origin).get('/docs')).text;
  for (const { id, body } of OPERATIONS) {
    expect(page).toContain(`<a href="#${id}">`);
    if (body?.schema)
      expect(SCHEMAS[body.schema].safeParse(exampleOf(SCHEMAS[body.schema])).error).toBeUndefined();
  }
  for (const { type, schema } of WEBHOOKS) {
    expect(page).toContain(`<a href="#schema-${type}">`);
    expect(schema.safeParse(exampleOf(schema)).error).toBeUndefined();
  }
  // What has no value in the examples.
  expect(page).not.toContain('&quot;…&quot;');
  const calls = [...page.matchAll(/<pre[^>]*>(curl [^<]*)<\/pre>/g)].map(([, call = '']) => call);
  expect(calls).toHaveLength(OPERATIONS.length);
  expect(page).not.toMatch(/`/);
  // Typed as it stands: an order is placed.
  const line = calls.find((call) => /-X POST \S+\/orders /.test(call))?.replaceAll('&quot;', '"') ?? '';
  const [, type = '', data = ''] = /'Content-Type: (\S+)' \\\s+-d '(.*)'$/.exec(line) ?? [];
  const placed = await raw('/orders', data, { 'content-type': type, ...bearer(ENV.SHOP_API_TOKEN) });
  expect(placed.status).toBe(201);
});

test('the list of errors names each at its top, with what to do', async () => {
  const { text } = await request(shop.origin).get('/problems');
  for (const type of Object.keys(PROBLEMS)) expect(text).toContain(`<a href="#${type}">`);
  expect(text.match(/<dt>What to do<\/dt>/g)).toHaveLength(Object.keys(PROBLEMS).length);
});

/** Answers for people, or with files: not part of the interface for programs. */
const PAGES = /^\/(admin|shop|docs|problems|storefront|openapi\.json|$)/;
const shownPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

type Layer = {
  route?: { path: string | RegExp; methods: Record<string, boolean> };
  handle: { stack?: Layer[] };
};

function routesOf(stack: Layer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (route === undefined) return routesOf(handle.stack ?? []);
    return Object.keys(route.methods)
      .filter((method) => method !== '_all')
      .map((method) => `${method} ${shownPath(String(route.path))}`);
  });
}

test('every route of the running program stands in it, and the other way round', () => {
  const { stack } = (buildApp(shop.program) as Express & { router: { stack: Layer[] } }).router;
  // The shop's own pages are mounted beneath /shop, and their routers do not know it.
  const ofTheShop = new Set(['get /', 'get /assets/{name}', 'get /own/{name}']);
  const running = routesOf(stack).filter((route) => {
    const path = route.split(' ')[1] ?? '';
    return /^\/[a-z]/.test(path) && !PAGES.test(path) && !ofTheShop.has(route);
  });
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(running.sort()).toEqual(described.sort());
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const JSON_TYPE = { 'content-type': 'application/json' };
const raw = (path: string, body: string, headers: Record<string, string> = JSON_TYPE): Promise<Response> =>
  fetch(shop.origin + path, { method: 'POST', headers, body });
const buy = (body: object = aBasket, headers: Record<string, string> = {}): Promise<Response> =>
  post(`${shop.origin}/checkout`, body, headers);
const place = (body: object, token = ENV.SHOP_API_TOKEN): Promise<Response> =>
  post(`${shop.origin}/orders`, body, bearer(token));
const refund = (orderId: string, body: object, token = ENV.SHOP_API_TOKEN): Promise<Response> =>
  post(`${shop.origin}/orders/${orderId}/refunds`, body, bearer(token));
const cancel = (orderId: string, token = ENV.SHOP_API_TOKEN, body: object = { reason: 'sold out' }) =>
  post(`${shop.origin}/orders/${orderId}/cancel`, body, bearer(token));
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(shop.origin + path, { headers, redirect: 'manual' });
const comeBack = (reference: string): Promise<Response> => get(`/checkout/return/${reference}`);
const sql = (text: string, ...values: unknown[]): Promise<object[]> =>
  shop.program.database.query(text, values);
const anOrder = {
  email: 'ada@example.com',
  currency: 'NGN',
  lines: [{ description: 'Saffron', unitAmount: '7.25', quantity: 2 }],
};
const aRefund = { amount: '5.00', reason: 'Scratched' };
const rawRefund = (body: string, type = 'application/json'): Promise<Response> =>
  raw(`/orders/${NOBODY}/refunds`, body, { 'content-type': type, ...bearer(ENV.SHOP_API_TOKEN) });
const NOBODY = 'x'.repeat(24);
const LONG = JSON.stringify({ text: 'x'.repeat(300_000) });

const SUCCESSES: Record<string, () => Promise<Response>> = {
  listProducts: () => get('/products'),
  startCheckout: () => buy(),
  readOrder: async () => get(`/orders/${(await shop.checkout()).orderId}`),
  watchOrder: async () => get(`/orders/${(await shop.checkout()).orderId}/events`),
  returnFromCheckout: async () => comeBack((await shop.checkout()).reference),
  receiveWebhook: async () => {
    const { reference } = await shop.checkout();
    return signed(JSON.stringify({ data: { reference } }));
  },
  placeOrder: () => place(anOrder),
  recordRefund: async () => refund((await paid()).orderId, aRefund),
  listOrders: () => get('/orders?limit=5', bearer(ENV.SHOP_API_TOKEN)),
  cancelOrder: async () => cancel((await shop.checkout()).orderId),
  stopCheckouts: () => stops('stop', JSON.stringify({ currency: 'XOF', reason: 'seen' })),
  resumeCheckouts: () => stops('resume', JSON.stringify({ currency: 'XOF' })),
  isAlive: () => get('/healthz'),
  isReady: () => get('/readyz'),
  readMetrics: () => get('/metrics', bearer(ENV.ADMIN_TOKEN)),
};

async function paid(): Promise<{ orderId: string }> {
  const { orderId, reference } = await shop.checkout();
  await shop.hand(`transactions/${reference}/pay`, { notify: false });
  await comeBack(reference);
  return { orderId };
}

/** With a token that is right, unless another one is given. */
function stops(
  what: 'stop' | 'resume',
  body: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return raw(`/checkouts/${what}`, body, { ...JSON_TYPE, ...bearer(ENV.SHOP_API_TOKEN), ...headers });
}

const stopRefusals = (what: 'stop' | 'resume'): Record<string, () => Promise<Response>> => ({
  'malformed-request': () => stops(what, '{'),
  'too-large': () => stops(what, LONG),
  'unsupported-media-type': () => stops(what, 'x', { 'content-type': 'text/plain' }),
  unauthorized: () => stops(what, '{}', bearer('wrong')),
  'invalid-input': () => stops(what, '{"currency": "NGM"}'),
  'too-many-requests': () => floodWith(guess('POST', `/checkouts/${what}`)),
});

function signed(body: string): Promise<Response> {
  const signature = createHmac('sha256', shop.sandbox.webhookSecret).update(body).digest('hex');
  return raw('/webhooks/payments', body, { ...JSON_TYPE, 'x-signature': signature });
}

async function flood(): Promise<Response> {
  for (;;) {
    const answer = await post(`${limited.origin}/checkout`, aBasket);
    if (answer.status !== 201) return answer;
  }
}

/** Asks until it is refused, at most a thousand times. */
async function floodWith(ask: () => Promise<Response>): Promise<Response> {
  for (let asked = 0; ; asked += 1) {
    const answer = await ask();
    if (answer.status === 429 || asked === 1_000) return answer;
    await answer.body?.cancel();
  }
}

const guess = (method: string, path: string) => (): Promise<Response> =>
  fetch(limited.origin + path, { method, headers: bearer('a-guess') });

async function floodOfWebhooks(): Promise<Response> {
  const open = await startProgram({ areWebhooksUnsigned: true });
  for (let sent = 0; ; sent += 1) {
    const answer = await post(`${open.origin}/webhooks/payments`, { data: { reference: newId() }, sent });
    if (answer.status === 202 && sent < 1_000) continue;
    await open.close();
    return answer;
  }
}

async function tooManyReaders(): Promise<Response> {
  const { orderId } = await shop.checkout();
  const readers = await Promise.all(Array.from({ length: 20 }, () => get(`/orders/${orderId}/events`)));
  const refused = await get(`/orders/${orderId}/events`);
  for (const reader of readers) await reader.body?.cancel();
  return refused;
}

/** Without a token the door is this machine's alone. An address of the loopback net that is not ours counts as a stranger's. */
async function fromAnotherMachine(): Promise<Response> {
  const open = await startProgram();
  const answer = await new Promise<Response>((resolve, reject) => {
    const asked = http.get(`${open.origin}/metrics`, { localAddress: '127.0.0.2' }, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => {
        const headers = { 'content-type': message.headers['content-type'] ?? '' };
        resolve(new Response(Buffer.concat(chunks), { status: message.statusCode ?? 0, headers }));
      });
    });
    asked.once('error', reject);
  });
  await open.close();
  return answer;
}

/** How each refusal is met, by operation. Those of every route have a test of their own. */
const REFUSALS: Record<string, Partial<Record<ProblemType, () => Promise<Response>>>> = {
  startCheckout: {
    'malformed-request': () => raw('/checkout', '{'),
    'too-large': () => raw('/checkout', LONG),
    'unsupported-media-type': () => raw('/checkout', 'x', { 'content-type': 'text/plain' }),
    'already-paid': async () => {
      const { orderId } = await paid();
      return buy({ orderId });
    },
    'under-review': async () => {
      const { orderId, reference } = await shop.checkout();
      await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
      await comeBack(reference);
      return buy({ orderId });
    },
    'order-cancelled': async () => {
      const { orderId } = await shop.checkout();
      await sql(
        `UPDATE orders SET status = 'cancelled', cancelled_at = now(), cancelled_by = 'shop', cancel_reason = 'x'
         WHERE id = $1`,
        orderId,
      );
      return buy({ orderId });
    },
    'order-expired': async () => {
      const { orderId } = await shop.checkout();
      await sql(
        `UPDATE orders SET created_at = now() - interval '1 hour', pay_by = now() - interval '1 min' WHERE id = $1`,
        orderId,
      );
      return buy({ orderId });
    },
    'out-of-stock': async () => {
      const catalogue = createCatalogue(shop.program.database);
      const price = (): Promise<Pricing> =>
        Promise.resolve({ outcome: 'out-of-stock', skus: ['ankara-tote'] });
      const sold = await startProgram({
        extensions: { ...DEFAULTS, catalogue: () => ({ ...catalogue, price }) },
      });
      const answer = await post(`${sold.origin}/checkout`, aBasket);
      await sold.close();
      return answer;
    },
    'request-in-flight': async () => {
      const key = { 'idempotency-key': 'in-flight' };
      await buy(aBasket, key);
      await sql(`UPDATE idempotency_keys SET reference = NULL, locked_until = now() + interval '1 min'`);
      return buy(aBasket, key);
    },
    'foreign-origin': () => buy(aBasket, { origin: 'https://evil.example' }),
    'currency-stopped': async () => {
      for (const { reference } of [await shop.checkout(), await shop.checkout()]) {
        await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '850000' });
        await comeBack(reference);
      }
      const answer = await buy();
      await sql(`UPDATE currency_stops SET released_at = now(), released_by = 'test', note = 'seen'`);
      return answer;
    },
    'checkouts-stopped': async () => {
      await stops('stop', '{"reason": "seen"}');
      const answer = await buy();
      await stops('resume', '{}');
      return answer;
    },
    'invalid-input': () => buy({ ...aBasket, total: '1.00' }),
    'idempotency-key-reused': async () => {
      const key = { 'idempotency-key': 'reused' };
      await buy(aBasket, key);
      return buy({ ...aBasket, email: 'eve@example.com' }, key);
    },
    'too-many-requests': flood,
    'too-many-open-payments': async () => {
      const { orderId } = await shop.checkout();
      for (let payments = 1; payments <= 5; payments += 1) {
        await sql(
          `UPDATE payments SET status = 'ambiguous', reason = 'timeout', checkout_url = NULL
           WHERE order_id = $1 AND status = 'open'`,
          orderId,
        );
        const answer = await buy({ orderId });
        if (payments === 5) return answer;
      }
      throw new Error('five open payments are allowed, not more');
    },
    // The sandbox takes nothing below one major unit.
    'payment-refused': async () => {
      const lines = [{ description: 'A crumb', unitAmount: '0.50', quantity: 1 }];
      const { orderId } = (await (await place({ ...anOrder, lines })).json()) as { orderId: string };
      return buy({ orderId });
    },
    'payment-service-unavailable': async () => {
      await shop.hand('outage', { status: 503 });
      const answer = await buy();
      await shop.hand('outage', { status: null });
      return answer;
    },
  },
  listProducts: { 'too-many-requests': () => floodWith(() => fetch(`${limited.origin}/products`)) },
  readOrder: {
    'not-found': () => get(`/orders/${NOBODY}`),
    'too-many-requests': () => floodWith(() => fetch(`${limited.origin}/orders/${NOBODY}`)),
  },
  watchOrder: { 'not-found': () => get(`/orders/${NOBODY}/events`), 'too-many-requests': tooManyReaders },
  returnFromCheckout: { 'not-found': () => comeBack(NOBODY) },
  receiveWebhook: {
    'malformed-request': () => signed('['),
    'too-large': () => raw('/webhooks/payments', LONG),
    'unsupported-media-type': () => raw('/webhooks/payments', 'x', { 'content-type': 'text/plain' }),
    'bad-signature': () => raw('/webhooks/payments', '{}'),
    'method-not-allowed': () => get('/webhooks/payments'),
    'too-many-requests': floodOfWebhooks,
  },
  placeOrder: {
    'malformed-request': () => raw('/orders', '{', { ...JSON_TYPE, ...bearer(ENV.SHOP_API_TOKEN) }),
    'too-large': () => raw('/orders', LONG, { ...JSON_TYPE, ...bearer(ENV.SHOP_API_TOKEN) }),
    'unsupported-media-type': () =>
      raw('/orders', 'x', { 'content-type': 'text/plain', ...bearer(ENV.SHOP_API_TOKEN) }),
    unauthorized: () => place(anOrder, 'wrong'),
    'external-id-taken': async () => {
      await place({ ...anOrder, externalId: 'B-1' });
      return place({ ...anOrder, externalId: 'B-1', currency: 'USD' });
    },
    'invalid-input': () => place({ ...anOrder, discount: '1.00' }),
    'too-many-requests': () => floodWith(guess('POST', '/orders')),
  },
  recordRefund: {
    'malformed-request': () => rawRefund('{'),
    'too-large': () => rawRefund(LONG),
    'unsupported-media-type': () => rawRefund('x', 'text/plain'),
    unauthorized: () => refund(NOBODY, aRefund, 'wrong'),
    'not-found': () => refund(NOBODY, aRefund),
    'not-paid': async () => refund((await shop.checkout()).orderId, aRefund),
    'refund-differs': async () => {
      const { orderId } = await paid();
      await refund(orderId, { ...aRefund, externalId: 'R-1' });
      return refund(orderId, { ...aRefund, externalId: 'R-1', amount: '6.00' });
    },
    'invalid-input': async () => refund((await paid()).orderId, { ...aRefund, amount: '8500.01' }),
    'too-many-requests': () => floodWith(guess('POST', `/orders/${NOBODY}/refunds`)),
  },
  listOrders: {
    unauthorized: () => get('/orders'),
    'invalid-input': () => get('/orders?status=gone', bearer(ENV.SHOP_API_TOKEN)),
    'too-many-requests': () => floodWith(guess('GET', '/orders')),
  },
  cancelOrder: {
    'malformed-request': () =>
      raw(`/orders/${NOBODY}/cancel`, '{', { ...JSON_TYPE, ...bearer(ENV.SHOP_API_TOKEN) }),
    'too-large': () => raw(`/orders/${NOBODY}/cancel`, LONG, { ...JSON_TYPE, ...bearer(ENV.SHOP_API_TOKEN) }),
    'unsupported-media-type': () =>
      raw(`/orders/${NOBODY}/cancel`, 'x', { 'content-type': 'text/plain', ...bearer(ENV.SHOP_API_TOKEN) }),
    unauthorized: () => cancel(NOBODY, 'wrong'),
    'not-found': () => cancel(NOBODY),
    'already-paid': async () => {
      const { orderId, reference } = await shop.checkout();
      await shop.hand(`transactions/${reference}/pay`, { notify: false });
      return cancel(orderId);
    },
    'under-review': async () => {
      const { orderId, reference } = await shop.checkout();
      await shop.hand(`transactions/${reference}/pay`, { notify: false, amount: '3' });
      return cancel(orderId);
    },
    'invalid-input': () => cancel(NOBODY, ENV.SHOP_API_TOKEN, {}),
    'too-many-requests': () => floodWith(guess('POST', `/orders/${NOBODY}/cancel`)),
    'payment-service-unavailable': async () => {
      const { orderId } = await shop.checkout();
      await shop.hand('outage', { status: 503 });
      const answer = await cancel(orderId);
      await shop.hand('outage', { status: null });
      return answer;
    },
  },
  stopCheckouts: stopRefusals('stop'),
  resumeCheckouts: stopRefusals('resume'),
  isReady: {
    'payment-service-unavailable': async () => {
      await shop.hand('keys/refuse', { refuse: true });
      await buy();
      const answer = await get('/readyz');
      await shop.hand('keys/refuse', { refuse: false });
      await get('/readyz');
      return answer;
    },
  },
  readMetrics: {
    unauthorized: () => get('/metrics'),
    'not-found': fromAnotherMachine,
    'too-many-requests': () => floodWith(guess('GET', '/metrics')),
  },
};

const ON_EVERY_ROUTE: readonly ProblemType[] = ['internal-error', 'database-unavailable'];
const schemaOf = ({ success }: Operation) => {
  if (success.schema === undefined) return null;
  const schema = SCHEMAS[success.schema];
  return success.isList ? schema.array() : schema;
};

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  test(`answers ${operation.success.status} in the shape that is described`, async () => {
    const answer = await (SUCCESSES[id]?.() ?? Promise.reject(new Error(`nobody asks for ${id}`)));
    expect(answer.status).toBe(operation.success.status);
    const { contentType } = operation.success;
    if (contentType !== undefined) expect(answer.headers.get('content-type')).toContain(contentType);
    const schema = schemaOf(operation);
    if (schema === null) await answer.body?.cancel();
    else expect(schema.safeParse(await answer.json()).error).toBeUndefined();
  });

  const own = operation.problems.filter((type) => !ON_EVERY_ROUTE.includes(type));
  if (own.length > 0)
    test.each(own)('refuses with %s', async (type) => {
      const refuse = REFUSALS[id]?.[type];
      if (refuse === undefined) throw new Error(`nobody provokes ${type} of ${id}`);
      const answer = await refuse();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        PROBLEMS[type].status,
        'application/problem+json; charset=utf-8',
      ]);
      const body = problemDocument.parse(await answer.json());
      expect(body).toMatchObject({ type: `/problems/${type}`, status: answer.status });
    });
});

test('without a database every route that needs one says so', async () => {
  const away = await startProgram({ env: ENV });
  await away.program.database.pool.end();
  const paths = ['/products', `/orders/${NOBODY}`, '/readyz', `/checkout/return/${NOBODY}`];
  const answers = await Promise.all(paths.map((path) => fetch(away.origin + path)));
  for (const answer of answers) expect(problemDocument.parse(await answer.json()).status).toBe(answer.status);
  expect(answers.every(({ status }) => status === 503 || status === 500)).toBe(true);
  await away.close().catch(() => undefined);
});

test('the type of every refusal leads to its cause and cure', async () => {
  for (const type of Object.keys(PROBLEMS) as ProblemType[]) {
    const page = await request(shop.origin).get(`/problems/${type}`);
    expect(page.status).toBe(200);
    expect(page.text.replaceAll('&#39;', "'")).toContain(PROBLEMS[type].title.replaceAll('"', '&quot;'));
  }
  expect((await request(shop.origin).get('/problems/constructor')).status).toBe(404);
});

test('the page for people names every route and every refusal of it', async () => {
  const { text } = await request(shop.origin).get('/docs');
  for (const { path, problems } of OPERATIONS) {
    expect(text).toContain(path);
    for (const type of problems) expect(text).toContain(`/problems/${type}`);
  }
});
