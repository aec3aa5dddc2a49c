import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { loadConfig, VARIABLES } from '../src/config.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://shop:c4n4ry-db@127.0.0.1/shop',
  GATEWAY_URL: 'https://api.example.com',
  GATEWAY_SECRET_KEY: 'sk_test_c4n4ry',
};
const PRODUCTION = {
  ...NEEDED,
  NODE_ENV: 'production',
  ALLOW_TEST_KEY_IN_PRODUCTION: 'on',
  PUBLIC_URL: 'https://pay.example.com',
  ADMIN_TOKEN: 'c4n4ry-of-the-admin',
  WEBHOOK_SECRETS: 'c4n4ry-of-webhooks',
};
const LIVE = {
  ...{ ...PRODUCTION, ALLOW_TEST_KEY_IN_PRODUCTION: '' },
  ...{ GATEWAY_SECRET_KEY: 'sk_live_c4n4ry', CHECKOUT_HOSTS: 'pay.example.com' },
};
const HERE = { NODE_ENV: '', GATEWAY_URL: 'http://127.0.0.1:4000' };
const SIGNING = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const ALERTING = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;

/** The lines about faults. Empty: the configuration is valid. */
function faultsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n  - ').slice(1);
  }
}

const named = (sentences: readonly string[]) => sentences.map((one) => one.slice(0, one.indexOf(':')));

/**
 * Starts a process that loads its configuration as all our processes do, in a folder with this
 * `.env`.
 */
function start(env: Record<string, string>, file = '') {
  const url = (path: string) => JSON.stringify(new URL(`../src/${path}`, import.meta.url).href);
  const program = `
    import { loadConfig } from ${url('config.ts')};
    import { runProcess } from ${url('process.ts')};
    await runProcess(async () => {
      const { SHOP_API_TOKEN, WEBHOOK_SECRETS } = loadConfig();
      console.log(JSON.stringify([SHOP_API_TOKEN, ...WEBHOOK_SECRETS].map((one) => one?.reveal())));
      process.exit(0);
    });`;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const cwd = mkdtempSync(join(tmpdir(), 'integrator-config-'));
  writeFileSync(join(cwd, '.env'), file);
  const args = ['--import', loader, '--input-type=module', '-e', program];
  const options = { cwd, encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } } as const;
  const result = spawnSync(process.execPath, args, options);
  rmSync(cwd, { recursive: true });
  return result;
}

test('every variable but three has a default', () => {
  const [unset, none] = [null, [] as string[]];
  expect(JSON.parse(JSON.stringify(loadConfig(NEEDED)))).toEqual({
    ...{
      DATABASE_URL: '[redacted]',
      DATABASE_DIRECT_URL: '[redacted]',
      GATEWAY_URL: `${NEEDED.GATEWAY_URL}/`,
      GATEWAY_SECRET_KEY: '[redacted]',
    },
    ...{ NODE_ENV: 'development', HOST: '127.0.0.1', PORT: 3000, PUBLIC_URL: unset, GATEWAY_ADAPTER: unset },
    ...{ CHECKOUT_HOSTS: none, WEBHOOK_SECRETS: none, STOREFRONT_RETURN_URL: none, STOREFRONT_ORIGINS: none },
    ...{ SHOP_API_TOKEN: unset, FULFILMENT_URL: unset, FULFILMENT_SECRET: unset, FULFILMENT_EVENTS: ['order.paid'] },
    ...{ ADMIN_TOKEN: unset, OPERATORS: none, WORKER: 'inline', WORKER_PORT: unset, RECONCILE_EVERY_MIN: 15 },
    ...{ CHECKOUTS_PER_MINUTE: 60, GATEWAY_CALLS_PER_SECOND: 50, GATEWAY_CONCURRENCY: 32, RETAIN_BODIES_DAYS: unset },
    RETAIN_UNPAID_DAYS: 90,
    ...{ LOG_LEVEL: 'info', TRUSTED_PROXIES: ['loopback'], ALERT_URL: unset, ALERT_SECRET: unset, ALERT_EMAIL: none },
    ...{ SMTP_URL: unset, SHOP_TIME_ZONE: 'UTC', DEMO_SHOP: unset, ALLOW_LIVE_KEY_ON_LOOPBACK: unset },
    ALLOW_TEST_KEY_IN_PRODUCTION: unset,
    ...{ production: false, mode: 'test', demoShop: true, warnings: none },
  });
});

test('.env.example has exactly the variables, in order, and loads unchanged', () => {
  const file = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
  const pairs = [...file.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const);
  expect(pairs.map(([name]) => name)).toEqual(Object.keys(VARIABLES.shape));
  expect(named(faultsOf(Object.fromEntries(pairs)))).toEqual(Object.keys(NEEDED));
  expect(loadConfig({ ...Object.fromEntries(pairs), ...NEEDED })).toEqual(loadConfig(NEEDED));
});

test('a process reports all faults at once, by name and never by value, and exits with 78', () => {
  const names = ['PORT', 'DATABASE_URL', 'GATEWAY_SECRET_KEY', 'OPERATORS', 'WORKER', 'ALERT_EMAIL'];
  const env = Object.fromEntries(names.map((name) => [name, 'c4n4ry']));
  const { status, stdout, stderr } = start({ ...env, ALERT_URL: 'https://c4n4ry.example' });
  expect([status, stdout]).toEqual([78, '']);
  expect(named(stderr.split('\n  - ').slice(1))).toEqual([...names, 'GATEWAY_URL', 'ALERT_SECRET']);
  expect(stderr).not.toContain('c4n4ry');
  expect(stderr).toContain('For development, npm start sets it');
});

describe('values with quotes or white space from copy and paste', () => {
  test.each([
    ['a-token-of-the-shop\n', 'a-token-of-the-shop'],
    ['"a-token-of-the-shop"', 'a-token-of-the-shop'],
    [" 'a-token-of-the-shop\r\n'\n", 'a-token-of-the-shop'],
    ['a-"token"-of-the-shop', 'a-"token"-of-the-shop'],
  ])('%j is read without its outer quotes and white space, with a warning if it had any', (given, meant) => {
    for (const name of ['SHOP_API_TOKEN', 'WEBHOOK_SECRETS'] as const) {
      const config = loadConfig({ ...NEEDED, [name]: given });
      expect([config[name]].flat().map((one) => one?.reveal())).toEqual([meant]);
      expect(named(config.warnings)).toEqual(given === meant ? [] : [name]);
    }
  });
  test('quotes around a list, around each item, and in an .env file are removed', () => {
    const env = { ...NEEDED, WEBHOOK_SECRETS: '"the-first-secret-1","the-second-secret"\n' };
    const { status, stdout } = start(env, `SHOP_API_TOKEN="a-token-of-the-shop"\nWEBHOOK_SECRETS=of-the-environment\n`);
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      ['a-token-of-the-shop', 'the-first-secret-1', 'the-second-secret'],
    ]);
    const quoted = loadConfig({ ...NEEDED, WEBHOOK_SECRETS: '"the-first-secret-1, the-second-secret"' });
    expect(quoted.WEBHOOK_SECRETS.map((one) => one.reveal())).toEqual(['the-first-secret-1', 'the-second-secret']);
  });
  test.each(['c4n4ry\nof-the-shop-1', 'c4n4ry\u200bof-the-shop', '"c4n4ry-of-the-shop', '“c4n4ry-of-the-shop”'])(
    '%j is a fault that names the variable',
    (value) => {
      for (const name of ['SHOP_API_TOKEN', 'ADMIN_TOKEN', 'WEBHOOK_SECRETS', 'GATEWAY_SECRET_KEY']) {
        const faults = faultsOf({ ...NEEDED, [name]: value });
        expect([named(faults), faults.join().includes('c4n4ry')]).toEqual([[name], false]);
      }
    },
  );
  test('a service key as a webhook secret is a fault', () => {
    const { status, stderr } = start({ ...NEEDED, WEBHOOK_SECRETS: 'c4n4ry-of-webhooks,sk_test_c4n4ry-of-webhooks' });
    expect([status, stderr]).toEqual([78, expect.stringContaining('WEBHOOK_SECRETS: holds a service key')]);
    expect(stderr).not.toContain('c4n4ry');
  });
  test.each(['ADMIN_TOKEN', 'SHOP_API_TOKEN', 'WEBHOOK_SECRETS', 'OPERATORS'])(
    'a short secret in %s is a warning, and a fault in production',
    (name) => {
      const short = { [name]: name === 'OPERATORS' ? 'ada:viewer:short' : 'fifteen-letters' };
      expect(named(loadConfig({ ...NEEDED, ...short }).warnings)).toEqual([name]);
      expect(named(faultsOf({ ...PRODUCTION, ...short }))).toEqual([name]);
    },
  );
});

describe('a live key', () => {
  test.each([
    ['without GATEWAY_URL is a fault', ['GATEWAY_URL'], { GATEWAY_URL: '' }],
    ['outside of production is a fault', ['NODE_ENV'], { NODE_ENV: '' }],
    ['without CHECKOUT_HOSTS is a fault', ['CHECKOUT_HOSTS'], { CHECKOUT_HOSTS: '' }],
    ['with a service on this machine is a fault', ['GATEWAY_URL'], HERE],
    ['with a service on this machine is valid when that is allowed', [], { ...HERE, ALLOW_LIVE_KEY_ON_LOOPBACK: 'on' }],
  ])('%s', (_name, names, change) => {
    expect(loadConfig(LIVE)).toMatchObject({ mode: 'live', production: true, demoShop: false });
    expect(named(faultsOf({ ...LIVE, ...change }))).toEqual(names);
  });
  test('without GATEWAY_URL ends the process', () => {
    expect(start({ GATEWAY_SECRET_KEY: 'sk_live_c4n4ry' }).status).toBe(78);
  });
});

test('secrets are never printed', () => {
  const config = loadConfig({
    ...PRODUCTION,
    SMTP_URL: 'smtp://u:c4n4ry@h',
    OPERATORS: 'ada:clerk:c4n4ry-that-is-hers',
  });
  expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toContain('c4n4ry');
});

test.each(
  Object.entries({
    DATABASE_URL: ['', 'mysql://u:p@db/shop', 'postgres://u:p#ss@db/shop'],
    PUBLIC_URL: ['', 'http://pay.example.com', 'https://pay.example.com/shop'],
    ADMIN_TOKEN: [''],
    GATEWAY_URL: ['', 'https://api.example.com/v1', 'https://sk_test_x@api.example.com', 'http://api.example.com'],
    GATEWAY_SECRET_KEY: ['', 'sk_test_', 'pk_test_a', 'sk_test_a b'],
    GATEWAY_ADAPTER: ['/is/not/there.ts'],
    CHECKOUT_HOSTS: ['https://pay.example.com', '*.example.com', 'pay.example.com:443'],
    STOREFRONT_RETURN_URL: ['https://a.example/x,http://b.example/y', 'https://a.example/x https://b.example/y'],
    STOREFRONT_ORIGINS: ['https://shop.example.com/'],
    FULFILMENT_URL: ['http://shop.example.com/paid', 'https://a.example/paid,https://b.example/paid'],
    FULFILMENT_SECRET: ['', `whsec_${'a'.repeat(34)}`, 'whsec_AAAA', 'AAAA'],
    FULFILMENT_EVENTS: ['order.review', 'order.paid,suspense.opened'],
    OPERATORS: [
      'ada:admin:a-long-token-of-hers',
      'ada:viewer:with a space',
      'Admin:viewer:a-long-token-of-hers',
      'deadline:viewer:a-long-token-of-hers',
    ],
    RETAIN_BODIES_DAYS: ['29', '1e3'],
    TRUSTED_PROXIES: ['0.0.0.0/0', '::ffff:0:0/96', 'nginx', ','],
    ALERT_SECRET: [''],
    SMTP_URL: ['', 'smtp://u:p@a,b'],
    SHOP_TIME_ZONE: ['+03:00', 'Europe/Atlantis'],
  }).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
)('in production %s=%j is one fault', (name, value) => {
  const receiver = { FULFILMENT_URL: 'https://shop.example.com/paid', FULFILMENT_SECRET: SIGNING };
  const alerts = { ALERT_URL: 'https://a.example.com', ALERT_SECRET: ALERTING, ALERT_EMAIL: 'ada@example.com' };
  const env = { ...PRODUCTION, ...receiver, ...alerts, SMTP_URL: 'smtps://u:p@mail.example:465' };
  expect(faultsOf(env)).toEqual([]);
  expect(named(faultsOf({ ...env, [name]: value }))).toEqual([name]);
});

test.each([
  ['WEBHOOK_SECRETS', ''],
  ['DATABASE_URL', 'postgres://u:p@db.example.com/shop'],
  ['DATABASE_URL', 'postgres://u@127.0.0.1/shop_test'],
  ['STOREFRONT_ORIGINS', 'http://shop.example.com'],
  ['GATEWAY_URL', 'http://127.0.0.1:4000'],
])('%s=%j is legal but risky, and gives a warning', (name, value) => {
  expect(loadConfig(LIVE).warnings).toEqual([]);
  expect(named(loadConfig({ ...LIVE, [name]: value }).warnings)).toEqual([name]);
});

describe('each secret belongs to one other side only', () => {
  const SAME = 'c4n4ry-of-two-doors';
  const receivers = { FULFILMENT_URL: 'https://shop.example.com/paid', ALERT_URL: 'https://a.example.com' };
  test.each<[string, string, Record<string, string>]>([
    ['SHOP_API_TOKEN', 'ADMIN_TOKEN', { SHOP_API_TOKEN: SAME, ADMIN_TOKEN: SAME }],
    ['SHOP_API_TOKEN', 'WEBHOOK_SECRETS', { SHOP_API_TOKEN: SAME, WEBHOOK_SECRETS: `another-of-webhooks,${SAME}` }],
    ['ADMIN_TOKEN', 'WEBHOOK_SECRETS', { ADMIN_TOKEN: SAME, WEBHOOK_SECRETS: `${SAME},another-of-webhooks` }],
    [
      'OPERATORS',
      'SHOP_API_TOKEN',
      { OPERATORS: `ada:viewer:a-token-of-her-own,bob:clerk:${SAME}`, SHOP_API_TOKEN: SAME },
    ],
    ['ALERT_SECRET', 'FULFILMENT_SECRET', { ...receivers, ALERT_SECRET: SIGNING, FULFILMENT_SECRET: SIGNING }],
    [
      'WEBHOOK_SECRETS',
      'FULFILMENT_SECRET',
      { ...receivers, ALERT_SECRET: ALERTING, WEBHOOK_SECRETS: SIGNING, FULFILMENT_SECRET: SIGNING },
    ],
  ])('%s and %s that are equal are one fault, which names both and quotes neither', (first, second, env) => {
    for (const base of [NEEDED, PRODUCTION]) {
      const faults = faultsOf({ ...base, ...env });
      expect(faults).toHaveLength(1);
      for (const name of [first, second]) expect(faults[0]).toContain(name);
      for (const value of ['c4n4ry', SIGNING]) expect(faults[0]).not.toContain(value);
    }
  });
  test('different secrets are valid', () => {
    const tokens = { SHOP_API_TOKEN: `${SAME}-1`, ADMIN_TOKEN: `${SAME}-2`, OPERATORS: `ada:viewer:${SAME}-3` };
    const signing = { WEBHOOK_SECRETS: `${SAME}-4,${SAME}-5`, ALERT_SECRET: ALERTING, FULFILMENT_SECRET: SIGNING };
    expect(faultsOf({ ...PRODUCTION, ...receivers, ...tokens, ...signing })).toEqual([]);
  });
});

describe('TRUSTED_PROXIES accepts a whole network only if it is private or small', () => {
  test.each([
    '1.0.0.0/8',
    '8.0.0.0/15',
    '2001::/15',
    '2a02::/16',
    '192.0.0.0/8',
    '172.0.0.0/8',
    '10.0.0.0/8,8.0.0.0/15',
  ])('%s is a fault', (ranges) => {
    expect(named(faultsOf({ ...NEEDED, TRUSTED_PROXIES: ranges }))).toEqual(['TRUSTED_PROXIES']);
  });
  test.each([
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '203.0.0.0/16',
    '203.0.113.7',
    'fd00::/8',
    '2001:db8::/32',
  ])('%s is accepted', (range) => {
    expect(loadConfig({ ...NEEDED, TRUSTED_PROXIES: range }).TRUSTED_PROXIES).toEqual([range]);
  });
});

describe('a test key in production', () => {
  test('is a fault that names the variable that allows it, and the process exits with 78', () => {
    const { status, stdout, stderr } = start({ ...PRODUCTION, ALLOW_TEST_KEY_IN_PRODUCTION: '' });
    expect([status, stdout]).toEqual([78, '']);
    expect(stderr.split('\n  - ').slice(1)).toEqual([expect.stringContaining('ALLOW_TEST_KEY_IN_PRODUCTION')]);
    expect(stderr).not.toContain('c4n4ry');
    expect(faultsOf({ ...PRODUCTION, ALLOW_TEST_KEY_IN_PRODUCTION: 'off' })).toHaveLength(1);
  });
  test('is a warning when it is allowed', () => {
    const { warnings, mode, production } = loadConfig(PRODUCTION);
    expect({ mode, production }).toEqual({ mode: 'test', production: true });
    expect(warnings).toEqual([expect.stringMatching(/GATEWAY_SECRET_KEY|ALLOW_TEST_KEY_IN_PRODUCTION/)]);
  });
  test('gives no warning outside of production', () => {
    expect(loadConfig(NEEDED).warnings).toEqual([]);
  });
});

test('RETAIN_UNPAID_DAYS is 90 by default, may be 0, and must be a whole number', () => {
  for (const [given, days] of [
    ['', 90],
    ['0', 0],
    ['30', 30],
    ['365', 365],
  ] as const)
    expect(loadConfig({ ...NEEDED, RETAIN_UNPAID_DAYS: given })).toMatchObject({ RETAIN_UNPAID_DAYS: days });
  for (const wrong of ['-1', '1.5', '1e3', 'never'])
    expect(named(faultsOf({ ...NEEDED, RETAIN_UNPAID_DAYS: wrong }))).toEqual(['RETAIN_UNPAID_DAYS']);
});
