import type { Exchange } from '../traffic/exchanges.ts';
import type { ServiceCall } from '../traffic/calls.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { Plant } from './plants.ts';

// What the recorder would have written down, had the program done it.

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] extends readonly (infer Item)[] ? Item[] : T[Name] };

function overheard(
  violation: string,
  breaks: readonly string[],
  change: (traffic: Mutable<Traffic>) => unknown,
): Plant {
  return {
    violation,
    breaks,
    plant: async (_db, _orders, { traffic }) => {
      if (traffic === undefined) throw new Error('nothing was recorded');
      return Promise.resolve(change(traffic as Mutable<Traffic>));
    },
  };
}

function find(traffic: Mutable<Traffic>, what: string, wanted: (exchange: Exchange) => boolean): Exchange {
  const found = traffic.exchanges.find(wanted);
  if (found === undefined) throw new Error(`the honest day has no ${what}`);
  return found;
}

const keyed = (traffic: Mutable<Traffic>): Exchange =>
  find(
    traffic,
    'checkout with a key',
    ({ asked, status }) => status === 201 && 'idempotency-key' in asked.headers,
  );
const aPage = (traffic: Mutable<Traffic>): Exchange =>
  find(traffic, 'page', ({ path, status }) => path === '/shop' && status === 200);
const refusal = (traffic: Mutable<Traffic>): Exchange =>
  find(traffic, 'refusal', ({ path, status }) => path === '/nothing' && status === 404);
const aReturn = (traffic: Mutable<Traffic>): Exchange =>
  find(traffic, 'return', ({ path, status }) => path.startsWith('/checkout/return/') && status === 303);

const CALL: ServiceCall = {
  method: 'GET',
  path: '/v1/transactions/verify/x',
  startedMs: 0,
  endedMs: 1,
  status: 200,
  retryAfter: null,
};
const MARK = '<h1';

export const PLANTS_IN_TRAFFIC: readonly Plant[] = [
  overheard('the key in an answer', ['I6'], (traffic) => {
    refusal(traffic).headers['x-debug'] = Buffer.from('sandbox_no_real_money').toString('hex');
  }),
  overheard('the key in another header', ['I6'], ({ sockets, mayConnectTo }) =>
    sockets.push({ to: mayConnectTo[1] ?? '', carriesKey: false, leaksKey: true }),
  ),
  overheard('the key on its way to the database', ['I6'], ({ sockets, mayConnectTo }) =>
    sockets.push({ to: mayConnectTo[3] ?? '', carriesKey: true, leaksKey: false }),
  ),
  {
    violation: 'the key in a row',
    breaks: ['I6'],
    plant: (db) =>
      db.query(
        `INSERT INTO rate_limits (key) VALUES (encode(convert_to('sandbox_no_' || 'real_money', 'UTF8'), 'base64'))`,
      ),
  },
  overheard('a connection to a machine inside', ['I7'], ({ sockets }) =>
    sockets.push({ to: '169.254.169.254:80', carriesKey: false, leaksKey: false }),
  ),
  overheard('a redirect that took the key along', ['I6', 'I7'], ({ sockets }) =>
    sockets.push({ to: '203.0.113.7:443', carriesKey: true, leaksKey: false }),
  ),
  overheard('two orders under one key', ['I10'], (traffic) => {
    const first = keyed(traffic);
    traffic.exchanges.push({ ...first, body: first.body.replace(/"orderId":"./, '"orderId":"?') });
  }),
  overheard('one key for two requests', ['I10'], (traffic) => {
    const first = keyed(traffic);
    traffic.exchanges.push({ ...first, asked: { ...first.asked, body: '{"orderId":"x"}' } });
  }),
  overheard('an answer that was forgotten', ['I10'], (traffic) => {
    const first = keyed(traffic);
    const startedMs = (first.endedMs ?? 0) + 1;
    const body = JSON.stringify({ type: '/problems/x', title: 'x', status: 409, instance: '/checkout' });
    const headers = { 'content-type': 'application/problem+json' };
    traffic.exchanges.push({ ...first, status: 409, startedMs, endedMs: startedMs + 1, body, headers });
  }),
  overheard('a return that leads to a stranger', ['I14'], (traffic) => {
    aReturn(traffic).headers.location = '//evil.example/shop';
  }),
  overheard('a link that is a script', ['I14'], (traffic) => {
    const page = aPage(traffic);
    page.body = page.body.replace(/href="\/[^"]*"/, 'href="javascript:alert(1)"');
  }),
  overheard('a checkout address with a user name', ['I14'], (traffic) => {
    const { exchanges } = traffic;
    const first = find(
      traffic,
      'checkout',
      ({ status, asked }) => status === 201 && !('idempotency-key' in asked.headers),
    );
    exchanges.push({ ...first, body: '{"checkoutUrl":"http://good@evil.example/"}' });
  }),
  overheard('too many calls at a time', ['I16'], ({ calls, concurrency }) =>
    calls.push(...Array.from({ length: concurrency + 1 }, () => ({ ...CALL }))),
  ),
  overheard('a call before its time', ['I16'], ({ calls }) =>
    calls.push({ ...CALL, status: 429, retryAfter: '3' }, { ...CALL, startedMs: 2_000, endedMs: 2_001 }),
  ),
  {
    violation: 'asked far too often, by its own count, too',
    breaks: ['I16'],
    plant: async (db, { open }, { service }) => {
      await db.query('UPDATE payments SET checks = 500 WHERE reference = $1', [open.reference]);
      service.calls.references[open.reference] = { initialize: 1, verify: 500 };
    },
  },
  {
    violation: 'closed by an old answer',
    breaks: ['I22'],
    plant: (db, { failed }) =>
      db.query(`UPDATE verifications SET answered_at = answered_at - interval '1 h' WHERE reference = $1`, [
        failed.reference,
      ]),
  },
  {
    violation: 'closed, and nobody asked',
    breaks: ['I22'],
    plant: async (_db, { failed }, { service }) => {
      service.calls.log = service.calls.log.filter(({ reference }) => reference !== failed.reference);
      return Promise.resolve();
    },
  },
  overheard('a refusal that is a text', ['I24'], (traffic) => {
    refusal(traffic).headers['content-type'] = 'text/plain';
  }),
  overheard('a refusal with another status inside', ['I24'], (traffic) => {
    refusal(traffic).body = refusal(traffic).body.replace('404', '500');
  }),
  ...['Error: no\n    at find (a:1:2)', 'SELECT id FROM orders', '/home/shop/x', 'ada@example.com'].map(
    (text) =>
      overheard(`a refusal that tells ${JSON.stringify(text)}`, ['I24'], (traffic) => {
        const answer = refusal(traffic);
        answer.body = JSON.stringify({ ...(JSON.parse(answer.body) as object), detail: text });
      }),
  ),
  ...(['content-security-policy', 'x-content-type-options', 'referrer-policy', 'cache-control'] as const).map(
    (name) =>
      overheard(`a page without ${name}`, ['I25'], (traffic) => {
        aPage(traffic).headers[name] = undefined;
      }),
  ),
  ...[
    '<img src="/x" onerror="alert(1)" />',
    '<script>alert(1)</script>',
    '<iframe></iframe>',
    '<svg/onload=alert(1)>',
  ].map((text) =>
    overheard(`a page with ${text}`, ['I25'], (traffic) => {
      const page = aPage(traffic);
      page.body = page.body.replace(MARK, `${text}${MARK}`);
    }),
  ),
  overheard('an unknown order that is refused in its own words', ['I26'], (traffic) => {
    const answer = find(
      traffic,
      'unknown order',
      ({ path, status }) => path.startsWith('/orders/') && status === 404,
    );
    answer.body = JSON.stringify({ ...(JSON.parse(answer.body) as object), detail: 'is of the other mode' });
  }),
  overheard('a request without an end', ['I27'], (traffic) => {
    const page = aPage(traffic);
    page.endedMs = page.startedMs + 60_000;
  }),
  ...(['grewBytes', 'loopAwayMs', 'poolWaitMs'] as const).map((name) =>
    overheard(`a process that was too busy: ${name}`, ['I27'], (traffic) => {
      traffic.load = { grewBytes: 0, loopAwayMs: 0, poolWaitMs: 0, [name]: 1e10 };
    }),
  ),
];
