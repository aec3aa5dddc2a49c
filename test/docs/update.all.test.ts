import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, newFolder } from '../support/process.ts';
import { pageOf } from '../../tools/smaller/blocks.ts';
import { ROOT } from './markdown.ts';

// Two repositories: this project, and the clone of a shop that does what the page says.

afterEach(cleanUp);

const [setUp = '', look = '', merge = '', back = '', deleted = ''] = pageOf(
  'docs/stay-up-to-date.md',
  readFileSync(join(ROOT, 'docs/stay-up-to-date.md'), 'utf8'),
)
  .blocks.filter(({ info }) => info.includes('update.all.test.ts'))
  .map(({ code }) => code);

const MIGRATION = 'prisma/migrations/20990101000000_later/migration.sql';
let upstream: string;
let shop: string;

beforeEach(async () => {
  upstream = join(await newFolder(), 'upstream');
  shop = join(await newFolder(), 'shop');
  for (const path of [
    'src/custom',
    'src/admin',
    'src/payments',
    'prisma/migrations',
    'CHANGELOG.md',
    '.env.example',
  ])
    cpSync(join(ROOT, path), join(upstream, path), { recursive: true });
  sh(upstream, 'git init -q -b main');
  publish('v0.1.0');
  sh(ROOT, `git clone -q ${upstream} ${shop}`);
  sh(shop, setUp);
});

/** @returns what was printed @throws when a command fails */
function sh(cwd: string, code: string): string {
  const who = 'somebody';
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: '1',
    ...{ GIT_AUTHOR_NAME: who, GIT_AUTHOR_EMAIL: `${who}@example.com` },
    ...{ GIT_COMMITTER_NAME: who, GIT_COMMITTER_EMAIL: `${who}@example.com` },
  };
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', code], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${code}\n${stdout}${stderr}`);
  return stdout;
}

function commitAll(folder: string, message: string): void {
  sh(folder, `git add -A && git commit -qm '${message}'`);
}

/** Changes the first line of a file, or makes one. */
function edit(folder: string, path: string, line: string): void {
  const file = join(folder, path);
  const [, ...rest] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  sh(folder, `mkdir -p "$(dirname ${path})"`);
  writeFileSync(file, [line, ...rest].join('\n'));
}

function publish(version: string): void {
  commitAll(upstream, version);
  sh(upstream, `git tag -a ${version} -m ${version}`);
}

function publishLaterVersion(): void {
  edit(upstream, 'src/payments/decide.ts', '// A later version.');
  edit(upstream, 'CHANGELOG.md', '# Changes of a later version');
  edit(upstream, MIGRATION, 'SELECT 1;');
  publish('v0.2.0');
  // What comes after the tag is no version yet.
  edit(upstream, 'CHANGELOG.md', '# Changes of tomorrow');
  commitAll(upstream, 'work');
}

test('a shop that changed its own folder takes a later version without a conflict', () => {
  edit(shop, 'src/custom/catalogue.ts', '// What this shop sells.');
  edit(shop, 'src/custom/courier.ts', '// Who brings it.');
  commitAll(shop, 'our shop');
  publishLaterVersion();
  const seen = sh(shop, look);
  expect(seen).toContain('v0.2.0\nv0.1.0\n');
  expect(seen).toContain('+# Changes of a later version');
  expect(seen).toContain('20990101000000_later');
  sh(shop, merge);
  expect(sh(shop, 'git status --porcelain')).toBe('');
  const first = (path: string): string => readFileSync(join(shop, path), 'utf8').split('\n')[0] ?? '';
  expect(['src/custom/catalogue.ts', 'src/custom/courier.ts', 'src/payments/decide.ts'].map(first)).toEqual([
    '// What this shop sells.',
    '// Who brings it.',
    '// A later version.',
  ]);
  sh(shop, back);
  expect(first('src/payments/decide.ts')).not.toBe('// A later version.');
  expect(first('src/custom/catalogue.ts')).toBe('// What this shop sells.');
});

test('the same line changed on both sides is a conflict, and git says where', () => {
  edit(shop, 'src/payments/decide.ts', '// Our own rules.');
  commitAll(shop, 'our rules');
  publishLaterVersion();
  sh(shop, look);
  expect(() => sh(shop, merge)).toThrow(/CONFLICT .*src\/payments\/decide\.ts/);
});

test('a folder that the shop deleted stays deleted', () => {
  sh(shop, 'rm -r src/admin');
  commitAll(shop, 'no console');
  edit(upstream, 'src/admin/routes.ts', '// A later console.');
  edit(upstream, 'src/admin/new-page.ts', '// A new page.');
  publishLaterVersion();
  sh(shop, look);
  expect(() => sh(shop, merge)).toThrow(/CONFLICT .*src\/admin\/routes\.ts/);
  sh(shop, deleted);
  expect(existsSync(join(shop, 'src/admin'))).toBe(false);
  expect(sh(shop, 'git status --porcelain')).toBe('');
});

test('the changelog is headed by the version that this is', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(/^## (.+)$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))?.[1]).toBe(version);
});
