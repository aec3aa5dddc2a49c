import { describe, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { breaches, readSources, type Source } from './support/architecture.ts';

const sources = readSources(fileURLToPath(new URL('../src', import.meta.url)));

test('every room imports only what lies below it, and everything has one owner', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(breaches(sources)).toEqual([]);
});

describe('the check sees what it is there to see', () => {
  const planted: [string, Source][] = [
    ['an upward import', { path: 'orders/x.ts', code: `import { settle } from '../settlement/settle.ts';` }],
    [
      'gateway and orders knowing each other',
      { path: 'gateway/x.ts', code: `import '../orders/order.ts'; export * from '../orders/order.ts';` },
    ],
    [
      'a sideways import',
      { path: 'checkout/x.ts', code: `import type { A } from '../webhooks/receive.ts';` },
    ],
    ['a room that imports the top', { path: 'platform/x.ts', code: `import { c } from '../config.ts';` }],
    [
      'a sandbox that knows the integrator',
      { path: 'sandbox/deep/x.ts', code: `const a = await import('../../gateway/messages.ts');` },
    ],
    ['an unknown room', { path: 'utils/x.ts', code: '' }],
    ['a second reader of the environment', { path: 'checkout/x.ts', code: 'const a = process.env.PORT;' }],
    ['Express outside of routes', { path: 'checkout/x.ts', code: `import express from 'express';` }],
    ['SQL outside of a repository', { path: 'checkout/x.ts', code: 'db.query(`SELECT 1`)' }],
    [
      'Prisma outside of a repository',
      { path: 'checkout/x.ts', code: '(await database.prisma()).order.findMany()' },
    ],
    ['a second HTTP client', { path: 'settlement/x.ts', code: `await fetch('https://example.com')` }],
    ['a second clock', { path: 'settlement/x.ts', code: 'const now = new Date();' }],
    ["the service's words outside of the gateway", { path: 'checkout/x.ts', code: `headers['x-api-key']` }],
  ];

  test.each(planted)('%s', (_name, source) => {
    expect(breaches([source])).not.toEqual([]);
  });
});
