import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { spoil } from '../../../tools/chaos/mutants/copy.ts';
import { MUTANTS } from '../../../tools/chaos/mutants/list.ts';

// The bugs themselves are planted by `npm run chaos:mutants`, which takes long. That each can still be planted is cheap.

const inTree = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

test('there are as many planted bugs as the page of proof says, each of its own name', () => {
  expect(new Set(MUTANTS.map(({ bug }) => bug)).size).toBe(MUTANTS.length);
  const page = readFileSync(inTree('docs/proof.md'), 'utf8').replace(/\s+/g, ' ');
  expect(/ There are (\d+), each one line or two\./.exec(page)?.[1]).toBe(String(MUTANTS.length));
});

test.each(MUTANTS)('can be planted: $bug', (mutant) => {
  const honest = readFileSync(inTree(mutant.file), 'utf8');
  expect(spoil(honest, mutant)).not.toBe(honest);
  expect(mutant.tests.filter((file) => !existsSync(inTree(file)))).toEqual([]);
});

// A later migration that replaces a function or a view takes the bug out of it again.
test.each(MUTANTS.filter(({ file }) => file.endsWith('.sql')))('stays planted: $bug', ({ file, find }) => {
  const migrations = readdirSync(inTree('prisma/migrations')).map(
    (name) => `prisma/migrations/${name}/migration.sql`,
  );
  const [before = ''] = readFileSync(inTree(file), 'utf8').split(find);
  const planted = [...before.matchAll(/CREATE (?:OR REPLACE )?(?:FUNCTION|VIEW) (\w+)/g)].at(-1)?.[1];
  const later = migrations.filter((path) => path > file && existsSync(inTree(path)));
  const replaced = new RegExp(`CREATE OR REPLACE (FUNCTION|VIEW) ${planted}\\b`);
  expect(later.filter((path) => replaced.test(readFileSync(inTree(path), 'utf8')))).toEqual([]);
});

test('npm test alone has a test for each, but for those that the page of proof names', () => {
  const isInNpmTest = (file: string): boolean => !/\.all\.test\.tsx?$/.test(file);
  const leftOut = MUTANTS.filter(({ tests }) => !tests.some(isInNpmTest)).map(({ bug }) => bug);
  expect(leftOut).toHaveLength(1);
  const page = readFileSync(inTree('docs/proof.md'), 'utf8').replace(/\s+/g, ' ');
  expect(leftOut.filter((bug) => !page.includes(`"${bug}"`))).toEqual([]);
});

test('a text that stands there no longer, or twice, is refused by its name', () => {
  const mutant = { bug: 'b', file: 'f', find: 'x', replace: '', breaks: '', tests: [] };
  for (const source of ['', 'xx']) expect(() => spoil(source, mutant)).toThrow('"b"');
});
