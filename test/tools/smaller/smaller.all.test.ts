import { afterEach, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readParts } from '../../../tools/smaller/parts.ts';
import { breaches, readSources, targetsOf } from '../../support/architecture.ts';
import { cleanUp, newFolder } from '../../support/process.ts';

// `npm run smaller` in copies of this checkout.

afterEach(cleanUp);

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The other two go with each of these. */
const PARTS = readParts(ROOT)
  .map(({ name }) => name)
  .filter((name) => !/^(bench|tools)$/.test(name));

/** The command compiles tests in its memory, on a machine that is busy with something else. */
const PATIENCE_MS = 1_200_000;

async function copyOfAll(): Promise<string> {
  const folder = await newFolder();
  const held = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const path of [...held.split('\0'), 'src/platform/prisma'])
    if (path !== '' && existsSync(join(ROOT, path)))
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '-q');
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\n');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'all');
  return folder;
}

/** One line for each import in src, local and tools that leads to what is gone. */
function leftBehind(folder: string): string[] {
  return readSources(folder).flatMap((source) =>
    targetsOf(source)
      .filter((target) => !existsSync(join(folder, target)))
      .map((target) => `${source.path} imports ${target}`),
  );
}

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'tools/smaller/main.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

test.each(PARTS)(
  'without %s, and with all other parts, nothing is imported that is gone',
  async (name) => {
    const folder = await copyOfAll();
    expect(run(folder, name)).toMatchObject({ status: 0 });
    expect(leftBehind(folder)).toEqual([]);
  },
  PATIENCE_MS,
);

test(
  'the core alone compiles, and each folder knows only what lies below it; without git there is no way',
  async () => {
    const folder = await copyOfAll();
    writeFileSync(join(folder, 'new.txt'), 'not committed');
    expect(run(folder, 'core')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Commit'),
    });
    execFileSync('git', ['clean', '-fdq'], { cwd: folder });
    expect(run(folder, 'core')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('files left'),
    });
    expect([leftBehind(folder), breaches(readSources(folder))]).toEqual([[], []]);
    const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty', 'false'];
    expect(spawnSync(process.execPath, compiler, { cwd: folder, encoding: 'utf8' }).stdout).toBe('');
  },
  PATIENCE_MS,
);
