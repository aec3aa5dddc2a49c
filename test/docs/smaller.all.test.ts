import { afterEach, expect, test } from '@jest/globals';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSources, targetsOf } from '../support/architecture.ts';
import { cleanUp } from '../support/process.ts';
import { applyDiff, copyCheckout } from './checkout.ts';
import { fileOf, pageOf, ROOT } from './markdown.ts';

// Each part by itself: what is left imports nothing that is gone. All together, compiled and run: walk.test.ts.

afterEach(cleanUp);

const PAGE = 'docs/make-it-smaller.md';
const parts = readFileSync(join(ROOT, PAGE), 'utf8')
  .split(/^## /m)
  .map((text) => pageOf(PAGE, text))
  .filter(({ text }) => /^rm -rf /m.test(text));

/** Follows a part of the page in a copy. @returns one line per import of what is gone */
async function leftBehind(text: string): Promise<string[]> {
  const { folder } = await copyCheckout();
  const { blocks } = pageOf(PAGE, text);
  for (const [, paths = ''] of text.matchAll(/^rm -rf (.+)$/gm))
    for (const path of paths.split(' ')) rmSync(join(folder, path), { recursive: true, force: true });
  for (const block of blocks) {
    const file = fileOf(block);
    if (file === null || block.language !== 'diff') continue;
    writeFileSync(join(folder, file), applyDiff(readFileSync(join(folder, file), 'utf8'), block));
  }
  return readSources(folder).flatMap((source) =>
    targetsOf(source)
      .filter((target) => !existsSync(join(folder, target)))
      .map((target) => `${source.path} imports ${target}`),
  );
}

test.each(parts.map(({ text }) => [text.split('\n')[0] ?? '', text] as const))(
  'without %s, and with all the rest, nothing is imported that is gone',
  async (_name, text) => {
    expect(await leftBehind(text)).toEqual([]);
  },
);

test('and the check sees an import that was left', async () => {
  expect(parts).toHaveLength(6);
  expect(await leftBehind('rm -rf src/admin\n')).not.toEqual([]);
});
