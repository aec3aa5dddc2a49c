import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatTable } from '../../src/platform/terminal.ts';
import { readOptions, usageText, UsageError } from '../../src/platform/usage.ts';
import { deleteTests } from './delete-tests.ts';
import { deleteParts, isGone, readParts, type Part } from './parts.ts';
import { tidy } from './tidy.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = readParts(ROOT);
/** The planted bugs and the benches quote files of every other part. */
const GO_WITH_ANY = ['bench', 'tools'];
const CORE = 'core';
const NAMES = PARTS.map(({ name }) => name);

const HELP = usageText('npm run smaller', {
  does: 'Deletes parts of this checkout that your shop does not want.',
  forms: ['PART...', CORE],
  options: { PART: NAMES.join(', '), [CORE]: 'all of them' },
  exits: '0 deleted, 1 git has changes that are not committed',
  example: 'console demo-shop',
});

const args = process.argv.slice(2);
const asked = readOptions(HELP, args, () =>
  partsNamed(parseArgs({ args, allowPositionals: true }).positionals),
);
if (asked !== null) process.exitCode = await makeSmaller(asked);

function partsNamed(names: readonly string[]): Part[] {
  const unknown = names.find((name) => name !== CORE && !NAMES.includes(name));
  if (unknown !== undefined) throw new UsageError(`There is no part ${JSON.stringify(unknown)}`);
  if (names.length === 0) throw new UsageError('Which part?');
  const isOther = names.some((name) => !GO_WITH_ANY.includes(name));
  return PARTS.filter(
    ({ name }) => names.includes(CORE) || names.includes(name) || (isOther && GO_WITH_ANY.includes(name)),
  );
}

async function makeSmaller(asked: readonly Part[]): Promise<number> {
  if (git('status', '--porcelain') !== '') {
    process.stderr.write('Commit or put away your changes first, so that git can bring back what goes.\n');
    return 1;
  }
  const parts = asked.filter((part) => !isGone(ROOT, part));
  const before = sizes();
  const changed = deleteParts(ROOT, PARTS, parts);
  // The pages speak of the whole program, and so do their tests.
  rmSync(join(ROOT, 'test/docs'), { recursive: true, force: true });
  const { changed: tests, tests: deleted } = deleteTests(
    ROOT,
    parts.flatMap((part) => part.tests),
  );
  await tidy(ROOT, [...changed, ...tests]);
  const lock = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', lock, { cwd: ROOT, stdio: 'ignore' });
  const after = sizes();
  const rows = Object.keys(before).map((place) => [place, ...cells(before[place]), ...cells(after[place])]);
  process.stdout.write(
    `${formatTable(['', 'files', 'lines', 'files left', 'lines left'], rows)}\n\n` +
      `Gone: ${parts.map(({ name }) => name).join(', ') || 'nothing'}, with ${deleted.length} tests in files that stay or go.\n` +
      (status === 0 ? '' : 'package-lock.json could not be written: npm install does it.\n') +
      'Look at git diff --stat, then: npm install && npm run check && npm test\n',
  );
  return 0;
}

type Size = { files: number; lines: number };

function cells(size: Size | undefined): string[] {
  return [String(size?.files ?? 0), String(size?.lines ?? 0)];
}

/** What git holds and has not lost; a picture has no lines. */
function sizes(): Record<string, Size> {
  const all = git('ls-files', '-z')
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)));
  const sizeOf = (paths: readonly string[]): Size => ({
    files: paths.length,
    lines: paths
      .map((path) => readFileSync(join(ROOT, path)))
      .filter((bytes) => !bytes.includes(0))
      .reduce((sum, bytes) => sum + bytes.toString('latin1').split('\n').length - 1, 0),
  });
  const within = (folder: string): Size => sizeOf(all.filter((path) => path.startsWith(folder)));
  return { src: within('src/'), test: within('test/'), 'the repository': sizeOf(all) };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}
