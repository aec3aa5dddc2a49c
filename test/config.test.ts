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
    SHOP_API_TOKEN: 'c4n4ry',
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
    faultsOf({ ...PRODUCTION, FULFILMENT_URL: url, FULFILMENT_SECRET: 'whsec_C2FVsBQIhrscChlQIMV' });
  expect(withReceiver('http://shop.example.com/orders')).toEqual([
    'FULFILMENT_URL: must be https in production, except on this machine',
  ]);
  expect(withReceiver('https://shop.example.com/orders')).toEqual([]);
  expect(withReceiver('http://127.0.0.1:9000/orders')).toEqual([]);
});
