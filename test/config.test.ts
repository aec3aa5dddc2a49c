import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { ConfigError, loadConfig } from '../src/config.ts';

const LIVE = 'sk_live_c4n4ry';
const GATEWAY = { GATEWAY_URL: 'https://api.example.com', GATEWAY_SECRET_KEY: 'sk_test_c4n4ry' };
const PRODUCTION = {
  ...GATEWAY,
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://user:s3cr3t@db/shop',
  PUBLIC_URL: 'https://pay.example.com',
  ADMIN_TOKEN: 'a-long-admin-token',
};

function faultsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test("nothing needs to be set on a developer's machine", () => {
  const config = loadConfig({});
  expect(config).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 3000,
    WORKER: 'inline',
    production: false,
    demoShop: true,
  });
});

test('an empty variable counts as one that is not set', () => {
  expect(loadConfig({ PORT: '', DATABASE_URL: '', GATEWAY_URL: '', CHECKOUT_HOSTS: '' }).PORT).toBe(3000);
});

test('a webhook secret of which only the prefix is there is refused, beside a good one too', () => {
  for (const secrets of ['whsec_', 'whsec_c2VjcmV0,whsec_'])
    expect(faultsOf({ ...GATEWAY, WEBHOOK_SECRETS: secrets })).toEqual([
      'WEBHOOK_SECRETS: must have more than whsec_',
    ]);
});

test('all faults are told at once, by name and never by value', () => {
  const faults = faultsOf({
    ...GATEWAY,
    PORT: 'eighty-c4n4ry',
    WORKER: 'c4n4ry',
    GATEWAY_SECRET_KEY: 'c4n4ry',
  });
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(['GATEWAY_SECRET_KEY', 'PORT', 'WORKER']);
  expect(faults.join('\n')).not.toContain('c4n4ry');
});

describe('a secret key that would break or betray itself in a header is refused at start', () => {
  test.each([
    'sk_test_a\nb',
    'sk_test_a\n',
    'sk_test_“a”',
    'sk_test_a b',
    'pk_test_a',
    'sk_prod_a',
    'sk_test_',
  ])('%j', (key) => {
    expect(faultsOf({ ...GATEWAY, GATEWAY_SECRET_KEY: key })).toEqual([
      expect.stringMatching(/^GATEWAY_SECRET_KEY: must/),
    ]);
  });
});

test("the mode comes from the key's prefix", () => {
  expect(loadConfig(GATEWAY).GATEWAY_SECRET_KEY?.mode).toBe('test');
  const live = { ...PRODUCTION, GATEWAY_SECRET_KEY: LIVE, CHECKOUT_HOSTS: 'pay.example.com' };
  expect(loadConfig(live).GATEWAY_SECRET_KEY?.mode).toBe('live');
});

test('a secret cannot be printed, serialised or put into a text', () => {
  const config = loadConfig({
    ...PRODUCTION,
    WEBHOOK_SECRETS: 'c4n4ry-1,c4n4ry-2',
    SHOP_API_TOKEN: 'c4n4ry-of-the-shop',
    OPERATORS: 'ada:operator:c4n4ry-of-an-operator',
  });
  const key = config.GATEWAY_SECRET_KEY;
  const texts = [
    inspect(config, { depth: 9 }),
    JSON.stringify(config),
    String(key),
    'x' + String(config.DATABASE_URL),
  ];
  for (const text of texts) {
    expect(text).not.toContain('c4n4ry');
    expect(text).not.toContain('s3cr3t');
  }
  expect(key?.reveal()).toBe('sk_test_c4n4ry');
});

describe('production refuses what is for development', () => {
  test.each([
    ['DATABASE_URL', { DATABASE_URL: '' }],
    ['GATEWAY_URL', { GATEWAY_URL: '' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'http://pay.example.com' }],
    ['PUBLIC_URL', { PUBLIC_URL: '' }],
    ['ADMIN_TOKEN', { ADMIN_TOKEN: '' }],
    ['ADMIN_TOKEN', { ADMIN_TOKEN: 'short' }],
  ])('%s: %j', (name, change) => {
    expect(faultsOf(PRODUCTION)).toEqual([]);
    expect(faultsOf({ ...PRODUCTION, ...change })).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
  });
});

describe('the mode fence: a live key works only on a firm footing', () => {
  const live = { ...PRODUCTION, GATEWAY_SECRET_KEY: LIVE, CHECKOUT_HOSTS: 'pay.example.com' };
  test.each([
    ['as it should be', live, []],
    ['outside of production', { ...live, NODE_ENV: 'development' }, ['NODE_ENV']],
    ['without checkout hosts', { ...live, CHECKOUT_HOSTS: '' }, ['CHECKOUT_HOSTS']],
    ['over plain http', { ...live, GATEWAY_URL: 'http://api.example.com' }, ['GATEWAY_URL']],
    ['a test key over plain http', { ...GATEWAY, GATEWAY_URL: 'http://api.example.com' }, ['GATEWAY_URL']],
    ['a test key on loopback', { ...GATEWAY, GATEWAY_URL: 'http://127.0.0.1:4010' }, []],
    ['an address without a key', { GATEWAY_URL: 'https://api.example.com' }, ['GATEWAY_SECRET_KEY']],
  ])('%s', (_name, env, names) => {
    expect(faultsOf(env).map((fault) => fault.split(':')[0])).toEqual(names);
  });
});

describe("the service's address is a bare origin", () => {
  test.each([
    'https://api.example.com/',
    'https://api.example.com/v1',
    'https://me:pw@api.example.com',
    'https://api.example.com?a=1',
    'api.example.com',
    'ftp://api.example.com',
  ])('%s is refused', (url) => {
    expect(faultsOf({ ...GATEWAY, GATEWAY_URL: url })).toEqual([expect.stringMatching(/^GATEWAY_URL: /)]);
  });
});

test('.env.example names every variable, and loads as it is', () => {
  const lines = readFileSync(new URL('../.env.example', import.meta.url), 'utf8').split('\n');
  const pairs = lines
    .filter((line) => /^[A-Z_]+=/.test(line))
    .map((line) => line.split('=') as [string, string]);
  const known = Object.keys(loadConfig({})).filter((name) => /^[A-Z_]+$/.test(name));
  expect(pairs.map(([name]) => name)).toEqual(expect.arrayContaining(known));
  expect(faultsOf(Object.fromEntries(pairs))).toEqual([]);
});

test('in production releases travel by https, or stay on this machine', () => {
  const withReceiver = (url: string) =>
    faultsOf({
      ...PRODUCTION,
      FULFILMENT_URL: url,
      FULFILMENT_SECRET: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    });
  expect(withReceiver('http://shop.example.com/orders')).toEqual([
    'FULFILMENT_URL: must be https in production, except on this machine',
  ]);
  expect(withReceiver('https://shop.example.com/orders')).toEqual([]);
  expect(withReceiver('http://127.0.0.1:9000/orders')).toEqual([]);
});

const LIVE_PRODUCTION = { ...PRODUCTION, GATEWAY_SECRET_KEY: LIVE, CHECKOUT_HOSTS: 'pay.example.com' };
const warningsOf = (env: Record<string, string>): string[] => [...loadConfig(env).warnings];
const namesIn = (sentences: readonly string[]): string[] =>
  sentences.map((sentence) => sentence.slice(0, sentence.indexOf(':')));

describe('B2: a live key moves real money, so it needs an address', () => {
  const live = { GATEWAY_SECRET_KEY: LIVE, CHECKOUT_HOSTS: 'pay.example.com' };
  const here = { ...live, GATEWAY_URL: 'http://127.0.0.1:4000' };
  test.each([
    ['no address', live, ['GATEWAY_URL']],
    ['no address, and the word', { ...live, ALLOW_LIVE_KEY_ON_LOOPBACK: 'on' }, ['GATEWAY_URL']],
    ['no address, in a test', { ...live, NODE_ENV: 'test' }, ['GATEWAY_URL']],
    ['an address on this machine', here, ['GATEWAY_URL']],
    ['another spelling of it', { ...live, GATEWAY_URL: 'http://[::1]:4000' }, ['GATEWAY_URL']],
    ['one by https', { ...live, GATEWAY_URL: 'https://localhost:4000' }, ['GATEWAY_URL']],
    ['and off', { ...here, ALLOW_LIVE_KEY_ON_LOOPBACK: 'off' }, ['GATEWAY_URL']],
    ['and the word', { ...here, ALLOW_LIVE_KEY_ON_LOOPBACK: 'on' }, []],
    ['in production', { ...LIVE_PRODUCTION, GATEWAY_URL: 'http://127.0.0.1:4000' }, []],
  ])('%s', (_name, env, names) => {
    expect(namesIn(faultsOf(env))).toEqual(names);
  });
});

describe('B5: a token that can be guessed is refused in production, and told elsewhere', () => {
  test.each([
    ['ADMIN_TOKEN', { ADMIN_TOKEN: 'fifteen letters' }],
    ['SHOP_API_TOKEN', { SHOP_API_TOKEN: 'a' }],
    ['OPERATORS', { OPERATORS: 'ada:operator:short,eve:viewer:sixteen-or-longer' }],
  ])('%s', (name, change) => {
    expect(namesIn(faultsOf({ ...PRODUCTION, ...change }))).toEqual([name]);
    expect(namesIn(warningsOf(change))).toEqual([name]);
  });
});

describe('B6: whose X-Forwarded-For counts', () => {
  test.each([
    ['', ['loopback']],
    ['loopback, 10.0.0.0/8', ['loopback', '10.0.0.0/8']],
    [
      'uniquelocal,linklocal,203.0.113.7,2001:db8::/32',
      ['uniquelocal', 'linklocal', '203.0.113.7', '2001:db8::/32'],
    ],
  ])('"%s"', (TRUSTED_PROXIES, proxies) => {
    expect(loadConfig({ TRUSTED_PROXIES }).TRUSTED_PROXIES).toEqual(proxies);
  });
  test.each([
    'true', '1', '*', 'all', 'nginx', 'localhost', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/255.0.0.0', '10.0.0.0/', '::1/129',
    '0.0.0.0/0', '0.0.0.0/1', '::/0', '::ffff:0:0/96', '0:0:0:0:0:ffff:0:0/96', 'fe80::1%eth0', 'loopback;linklocal', 'loopback 10.0.0.0/8', ',',
  ])('"%s" is refused by name', (TRUSTED_PROXIES) => {
    expect(namesIn(faultsOf({ TRUSTED_PROXIES }))).toEqual(['TRUSTED_PROXIES']);
  }); // prettier-ignore
});

describe('B7, F9: addresses that would not do what they say', () => {
  test.each([
    ['PUBLIC_URL', 'https://pay.example.com/shop', GATEWAY],
    ['PUBLIC_URL', 'https://pay.example.com/?a=1', GATEWAY],
    ['PUBLIC_URL', 'http://localhost:3000/#x', {}],
    ['STOREFRONT_RETURN_URL', 'http://shop.example.com/thanks', PRODUCTION],
    ['STOREFRONT_RETURN_URL', 'http://localhost/thanks', PRODUCTION],
    ['STOREFRONT_RETURN_URL', 'https://a.example/thanks,https://b@b.example/thanks', {}],
    ['STOREFRONT_RETURN_URL', 'https://a.example/thanks,b.example/thanks', {}],
    ['STOREFRONT_RETURN_URL', 'https://a.example/thanks,http://b.example/thanks', PRODUCTION],
    ['STOREFRONT_RETURN_URL', 'https://a.example/thanks https://b.example/thanks', {}],
    ['STOREFRONT_RETURN_URL', 'https://a.example/thanks;https://b.example/thanks', {}],
    ['FULFILMENT_URL', 'https://a.example/paid,https://b.example/paid', {}],
  ])('%s=%s', (name, value, env) => {
    const secret = `whsec_${'a'.repeat(32)}`;
    expect(namesIn(faultsOf({ ...env, FULFILMENT_SECRET: secret, [name]: value }))).toEqual([name]);
  });
  test('F9: several storefronts, comma separated, are taken in their order', () => {
    const listed = 'https://b.example/thanks, https://a.example/danke?lang=de,';
    expect(loadConfig({ STOREFRONT_RETURN_URL: listed }).STOREFRONT_RETURN_URL.map(String)).toEqual([
      'https://b.example/thanks',
      'https://a.example/danke?lang=de',
    ]);
  });
  test('a slash behind the host says nothing, and is taken', () => {
    expect(loadConfig({ PUBLIC_URL: 'https://pay.example.com/' }).PUBLIC_URL?.origin).toBe(
      'https://pay.example.com',
    );
  });
});

describe('B7, F7: what is legal and risky is told at start', () => {
  const SAFE = { ...LIVE_PRODUCTION, WEBHOOK_SECRETS: 'x', DATABASE_URL: 'postgres://u@127.0.0.1/shop' };
  const told = (change: Record<string, string>): string[] => namesIn(warningsOf({ ...SAFE, ...change }));
  test('nothing is told of a firm footing, nor on a machine where nothing is set', () => {
    expect([told({}), warningsOf({})]).toEqual([[], []]);
  });
  test('production without a secret for webhooks', () => {
    expect(told({ WEBHOOK_SECRETS: '' })).toEqual(['WEBHOOK_SECRETS']);
  });
  test('production with a test key, and with a storefront over http', () => {
    expect(told({ GATEWAY_SECRET_KEY: 'sk_test_x' })).toEqual(['GATEWAY_SECRET_KEY']);
    expect(told({ STOREFRONT_ORIGINS: 'http://shop.example' })).toEqual(['STOREFRONT_ORIGINS']);
  });
  test('a live key that is handed to a program on this machine', () => {
    expect(told({ GATEWAY_URL: 'http://127.0.0.1:4000' })).toEqual(['GATEWAY_URL']);
  });
  test.each(['shop_test', 'test', 'integrator-staging', 'TESTS', 'demo'])(
    'a live key and a database named %s',
    (name) => {
      expect(told({ DATABASE_URL: `postgres://u@127.0.0.1/${name}` })).toEqual(['DATABASE_URL']);
    },
  );
  test.each(['contest', 'latest', 'device', 'shop'])(
    'a live key and a database named %s: nothing to tell',
    (name) => {
      expect(told({ DATABASE_URL: `postgres://u@127.0.0.1/${name}` })).toEqual([]);
    },
  );
  test.each([
    ['db.example.com/shop', ['DATABASE_URL']],
    ['db.example.com/shop?sslmode=disable', ['DATABASE_URL']],
    ['db.example.com/shop?sslmode=no-verify', ['DATABASE_URL']],
    ['db.example.com/shop?uselibpqcompat=true&sslmode=require', ['DATABASE_URL']],
    ['127.0.0.1/shop?host=10.0.0.4', ['DATABASE_URL']],
    ['127.0.0.1:6432/shop?pgbouncer=true&direct=db:5432', ['DATABASE_URL']],
    ['db.example.com/shop?sslmode=verify-full', []],
    ['db.example.com/shop?sslmode=require', []],
    ['db.example.com/shop?ssl=true', []],
    ['/shop?host=/run/postgresql', []],
    ['[::1]:5432/shop', []],
  ])('statements on their way to %s', (rest, names) => {
    expect(told({ DATABASE_URL: `postgres://u:p@${rest}` })).toEqual(names);
    const ofStandby = names.map(() => 'DATABASE_READ_URL');
    expect(told({ DATABASE_READ_URL: `postgres://u:p@${rest}` })).toEqual(ofStandby);
  });
});

describe('G10: a secret that signs nothing, and hosts that match nothing, are refused by name', () => {
  const ofBytes = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;
  test.each([
    'whsec_AAAA',
    'whsec_A',
    'whsec_',
    ofBytes(23),
    ofBytes(65),
    `whsec_${'a'.repeat(34)}`,
    'AAAA',
    `${ofBytes(24)} `,
  ])('FULFILMENT_SECRET=%s', (FULFILMENT_SECRET) => {
    expect(namesIn(faultsOf({ FULFILMENT_SECRET }))).toEqual(['FULFILMENT_SECRET']);
  });
  test.each([24, 25, 26, 32, 64])('%d bytes are a secret', (bytes) => {
    expect(faultsOf({ FULFILMENT_SECRET: ofBytes(bytes) })).toEqual([]);
  });
  test.each([
    'https://pay.example.com', 'pay.example.com/', 'pay.example.com/pay', '*.example.com', '*', 'pay.example.com:443', 'pay.example.com:8443',
    'user@pay.example.com', 'pay.example.com.', 'pay.example.com pay.example.org', '//pay.example.com', 'bücher.example', '127.1',
  ])('CHECKOUT_HOSTS=%s', (CHECKOUT_HOSTS) => {
    const faults = faultsOf({ ...LIVE_PRODUCTION, CHECKOUT_HOSTS });
    expect(faults).toEqual([expect.stringMatching(/^CHECKOUT_HOSTS: must be host names like pay\.example\.com/)]);
  }); // prettier-ignore
  test('capitals are folded, as names are', () => {
    const { CHECKOUT_HOSTS } = loadConfig({
      CHECKOUT_HOSTS: 'Pay.Example.COM, xn--bcher-kva.example,[::1],127.0.0.1',
    });
    expect(CHECKOUT_HOSTS).toEqual(['pay.example.com', 'xn--bcher-kva.example', '[::1]', '127.0.0.1']);
  });
});

describe('B8: operators have a name, a role and a token', () => {
  const of = (OPERATORS: string, more = {}): string[] => namesIn(faultsOf({ OPERATORS, ...more }));
  test('several of them', () => {
    const { OPERATORS } = loadConfig({
      OPERATORS: 'Ada:operator:a:token:with:colons, Zoë B.:viewer:b-long-token-of-hers',
    });
    expect(OPERATORS.map(({ name, role, token }) => [name, role, token.reveal()])).toEqual([
      ['Ada', 'operator', 'a:token:with:colons'],
      ['Zoë B.', 'viewer', 'b-long-token-of-hers'],
    ]);
  });
  test.each([
    'ada', 'ada:operator', 'ada:operator:', ':operator:a-long-token-of-hers', 'ada:admin:a-long-token-of-hers', 'ada:Viewer:a-long-token-of-hers',
    'ada:operator:with a space', '<b>:operator:a-long-token-of-hers', `${'a'.repeat(81)}:viewer:a-long-token-of-hers`,
    'ada:viewer:a-long-token-of-hers,Ada:operator:another-token-of-hers', 'ada:viewer:one-token-for-two-x,eve:operator:one-token-for-two-x',
    'Reconciliation:operator:a-long-token-of-hers', 'confirmation:viewer:a-long-token-of-hers',
  ])('"%s" is refused', (entries) => {
    expect(of(entries)).toEqual(['OPERATORS']);
  }); // prettier-ignore
  test('ADMIN_TOKEN has a name and a token of its own', () => {
    const ADMIN_TOKEN = 'a-long-admin-token';
    expect(of(`ada:viewer:${ADMIN_TOKEN}`, { ADMIN_TOKEN })).toEqual(['OPERATORS']);
    expect(of('Admin:viewer:a-long-token-of-hers', { ADMIN_TOKEN })).toEqual(['OPERATORS']);
    expect(of('ada:viewer:a-long-token-of-hers', { ADMIN_TOKEN })).toEqual([]);
  });
});
