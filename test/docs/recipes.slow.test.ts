import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Applies the recipes of docs/make-it-yours.md to a copy of the program, one after the other, and
// adds the adapter examples of that page and of docs/adapter.md. Everything must compile together,
// and the example of a signature must be read as that page says. The content of
// src/custom/service.ts does not matter.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = [
  'src',
  'test',
  'local',
  'bench',
  'tools',
  'prisma',
  'tsconfig.json',
  'package.json',
  'prisma.config.ts',
  'eslint.config.js',
  'jest.config.js',
];

const ADAPTER = 'src/custom/service.ts';
const DIFFERS =
  'your program differs from what this recipe changes: delete the recipe from docs/make-it-yours.md, or adapt it';

type Block = { language: string; path: string; text: string };

const pageOf = (page: string): Promise<string> => readFile(join(ROOT, 'docs', page), 'utf8');

/** The blocks of a page that begin with a comment naming their file, without that comment. */
async function blocksOf(page: string): Promise<Block[]> {
  const blocks = (await pageOf(page)).matchAll(/^```(ts|sql|diff)\n(?:\/\/|--) (\S+)\n([^]*?)^```$/gm);
  return [...blocks].map(([, language = '', path = '', code = '']) => ({ language, path, text: code }));
}

let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'recipes-'));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** Applies a block to the copy. @returns the places that are not in the file exactly once */
async function lay({ language, path, text }: Block): Promise<string[]> {
  const file = join(copy, path);
  await mkdir(dirname(file), { recursive: true });
  if (language !== 'diff') {
    await writeFile(file, text);
    return [];
  }
  let content = await readFile(file, 'utf8');
  const missing: string[] = [];
  for (const hunk of text.split('@@\n')) {
    const side = (without: string) =>
      hunk
        .split(/^/m)
        .filter((line) => !line.startsWith(without))
        .map((line) => line.slice(1))
        .join('');
    const [before, after] = [side('+'), side('-')];
    if (content.split(before).length !== 2) missing.push(`${path}:\n${before}`);
    content = content.replace(before, () => after);
  }
  await writeFile(file, content);
  return missing;
}

/** Runs a program of npm in the copy. @returns its output, empty on success */
async function run(program: string, ...words: string[]): Promise<string> {
  const file = join(ROOT, 'node_modules', program);
  const env = {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules',
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...words], { cwd: copy, env }, (error, stdout, stderr) => {
      resolve(error === null ? '' : stdout + stderr);
    });
  });
}

/**
 * Members of an adapter, or a constant beside it, as a module that compiles where the adapter
 * would.
 */
const asModule = (part: string): string => `
  import type { ServiceAdapter } from '../gateway/adapter.ts';
  import { at, cursor, figure, hmac, link, offsets, pages, rows, text, withQuery, words } from '../gateway/adapter-helpers.ts';
  type Whole = 'initialize' | 'verify' | 'history' | 'webhook';
  type Parts = { [K in keyof ServiceAdapter]?: K extends Whole ? Partial<ServiceAdapter[K]> : ServiceAdapter[K] };
  ${part.startsWith('const ') ? part : `export const parts: Parts = {\n${part}\n};`}
  export const helpers = { at, cursor, figure, hmac, link, offsets, pages, rows, text, withQuery, words };`;

test('every recipe applies to the program, and the result compiles', async () => {
  const blocks = [...(await blocksOf('make-it-yours.md')), ...(await blocksOf('adapter.md'))];
  const parts = blocks.filter(({ path }) => path === ADAPTER);
  const recipes = blocks.filter(({ path }) => path !== ADAPTER);
  expect(parts.length).toBeGreaterThan(5);
  const missing: string[] = [];
  for (const recipe of recipes) missing.push(...(await lay(recipe)));
  if (missing.length > 0) throw new Error(`${DIFFERS}.\n\n${missing.join('\n')}`);
  for (const [index, { text }] of parts.entries())
    await writeFile(join(copy, `src/custom/part-${index}.ts`), asModule(text));
  const include = ['src', ...recipes.map(({ path }) => path).filter((path) => path.startsWith('test/'))];
  await writeFile(join(copy, 'tsconfig.recipes.json'), JSON.stringify({ extends: './tsconfig.json', include }));
  expect(await run('prisma/build/index.js', 'generate')).toBe('');
  const faults = await run('typescript/bin/tsc', '-p', 'tsconfig.recipes.json');
  if (faults !== '') throw new Error(`${DIFFERS}.\n\nWith the recipes it does not compile:\n${faults}`);
  const changed = new Set(recipes.map(({ path }) => path).filter((path) => /^src\/.*\.tsx?$/.test(path)));
  const complaints = await run('eslint/bin/eslint.js', ...changed);
  if (complaints !== '') throw new Error(`${DIFFERS}.\n\nWith the recipes the linter complains:\n${complaints}`);
});

test('the tests that the recipes change pass with them', async () => {
  const changed = (await blocksOf('make-it-yours.md')).map(({ path }) => path);
  const tests = new Set(changed.filter((path) => path.endsWith('.test.ts')));
  expect(tests.size).toBeGreaterThan(2);
  // After the recipe of a second currency, a basket without a currency buys in naira only.
  const others = '^(?!a stop of one currency)';
  expect(await run('jest/bin/jest.js', ...tests, '--testNamePattern', others)).toBe('');
});

test('the webhook adapter of docs/adapter.md accepts the example of a signed time until it is too old', async () => {
  const [, example = ''] = /^```json\n([^`]*"x-timestamp"[^`]*)^```$/m.exec(await pageOf('adapter.md')) ?? [];
  const part = (await blocksOf('adapter.md')).find(({ text }) => text.includes('timestampHeader'));
  await writeFile(join(copy, 'src/custom/timed.ts'), asModule(part?.text ?? ''));
  const program = `
    import { deepEqual } from 'node:assert';
    import sandbox from '../../local/sandbox-adapter.ts';
    import { openReader } from '../../tools/examples.ts';
    import { parts } from './timed.ts';
    const reader = await openReader({ ...sandbox, webhook: { ...sandbox.webhook, ...parts.webhook } });
    const example = ${example};
    const read = (time) => reader.signatures({ ...example, time });
    deepEqual([read(example.time), read('2026-01-01T00:05:01Z')], [example.reads, 'invalid']);
    await reader.close();`;
  await writeFile(join(copy, 'src/custom/read-timed.ts'), program);
  expect(await run('tsx/dist/cli.mjs', 'src/custom/read-timed.ts')).toBe('');
});
