import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  breaches,
  readSources,
  folderOf,
  TABLES,
  WRITERS,
  writtenBy,
  type Source,
} from './support/architecture.ts';

const sources = readSources(fileURLToPath(new URL('..', import.meta.url)));

test('every folder imports only what lies below it, and everything has one owner', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(breaches(sources)).toEqual([]);
});

test('the list of tables and their writers is whole, and names no folder that does not write', () => {
  expect(Object.keys(WRITERS).sort()).toEqual([...TABLES.values()].sort());
  const written = sources.flatMap((source) =>
    writtenBy(source).map((table) => [table, folderOf(source.path)]),
  );
  for (const [table, folders] of Object.entries(WRITERS))
    expect(
      [table, ...new Set(written.filter(([each]) => each === table).map(([, folder]) => folder))].sort(),
    ).toEqual([table, ...folders].sort());
});

test('the table over the schedule of checks names every file that moves the next check', () => {
  const [table = ''] = readFileSync('src/payments/check-schedule.ts', 'utf8').split('const MINUTE');
  const movers = sources
    .filter(
      ({ path, code }) => /^src\/(checkout|payments)\//.test(path) && /next_check_at(\)| = )/.test(code),
    )
    .map(({ path }) => basename(path));
  expect(movers.length).toBeGreaterThan(5);
  expect(movers.filter((name) => !table.includes(name))).toEqual([]);
});

test('each process reads .env before the folder of the shop', () => {
  const firstOf = (path: string) => /^import .*$/m.exec(readFileSync(path, 'utf8'))?.[0];
  const processes = ['src/server.ts', 'src/worker.ts', 'src/commands/cli.ts', 'local/start.ts'];
  expect(processes.filter((path) => !firstOf(path)?.includes('config/env-file.ts'))).toEqual([]);
});

describe('the check sees what it is there to see', () => {
  const planted: [string, Source][] = [
    [
      'an upward import',
      { path: 'src/orders/x.ts', code: `import { confirm } from '../payments/confirm.ts';` },
    ],
    [
      'gateway and orders knowing each other',
      {
        path: 'src/gateway/x.ts',
        code: `import '../orders/order.ts'; export * from '../orders/order.ts';`,
      },
    ],
    [
      'a sideways import',
      { path: 'src/checkout/x.ts', code: `import type { A } from '../webhooks/receive.ts';` },
    ],
    [
      'a folder that imports the top',
      { path: 'src/platform/x.ts', code: `import { c } from '../config.ts';` },
    ],
    [
      'production that knows the stand-in',
      { path: 'src/bootstrap/x.ts', code: `import { s } from '../../local/sandbox/sandbox.ts';` },
    ],
    [
      'a sandbox that knows the integrator',
      {
        path: 'local/sandbox/deep/x.ts',
        code: `const a = await import('../../../src/gateway/messages.ts');`,
      },
    ],
    [
      "wiring that knows a shop's own files",
      { path: 'src/compose.ts', code: `import { EXTENSIONS } from './custom/index.ts';` },
    ],
    ['a file that imports itself', { path: 'src/orders/x.ts', code: `import type { A } from './x.ts';` }],
    [
      'a second door to a folder that may go',
      { path: 'src/bootstrap/x.ts', code: `import { routes } from '../admin/routes.ts';` },
    ],
    [
      'a second door to a part of a folder',
      {
        path: 'src/gateway/verify.ts',
        code: `import { createRecordSplitter } from './history/streaming/record-splitter.ts';`,
      },
    ],
    [
      'a second writer of a table',
      {
        path: 'src/reporting/x.sql.ts',
        code: 'const A = `WITH a AS (UPDATE releases SET delivery = 1) SELECT 1`',
      },
    ],
    [
      'a second writer through Prisma',
      { path: 'src/reporting/x.sql.ts', code: 'await prisma.finding.updateMany({})' },
    ],
    ['an unknown folder', { path: 'src/utils/x.ts', code: '' }],
    [
      'a second reader of the environment',
      { path: 'src/checkout/x.ts', code: 'const a = process.env.PORT;' },
    ],
    ['Express outside of routes', { path: 'src/checkout/x.ts', code: `import express from 'express';` }],
    ['SQL outside of its files', { path: 'src/checkout/x.ts', code: 'db.query(`SELECT 1`)' }],
    [
      'Prisma outside of its files',
      { path: 'src/checkout/x.ts', code: '(await database.prisma()).order.findMany()' },
    ],
    ['a second HTTP client', { path: 'src/payments/x.ts', code: `await fetch('https://example.com')` }],
    ['a second clock', { path: 'src/payments/x.ts', code: 'const now = new Date();' }],
    [
      "the service's words outside of the gateway",
      { path: 'src/checkout/x.ts', code: `headers['x-api-key']` },
    ],
  ];

  test.each(planted)('%s', (_name, source) => {
    expect(breaches([source])).not.toEqual([]);
  });
});
