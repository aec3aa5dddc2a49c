import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A state of the sources: processes are started from it, and a database has its schema. */
export type Tree = { root: string; migrations: string };

export const THIS_TREE: Tree = treeIn(fileURLToPath(new URL('../..', import.meta.url)));

const MAX_ARCHIVE_BYTES = 500_000_000;

/**
 * The version before the one that brought the newest migration, taken out of git, beside this one and with its packages.
 * @throws with words that say why there is none, e.g. where the sources came without their history
 */
export function takePreviousTree(): Tree & { remove(): void } {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, {
      cwd: THIS_TREE.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: MAX_ARCHIVE_BYTES,
    });
  const newest = git('log', '-1', '--format=%H', '--', 'prisma/migrations').toString().trim();
  if (newest === '') throw new Error('git knows of no migration');
  const archive = git('archive', `${newest}^`);
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'integrator-chaos-previous-')));
  execFileSync('tar', ['-x'], { cwd: root, input: archive });
  symlinkSync(realpathSync(join(THIS_TREE.root, 'node_modules')), join(root, 'node_modules'));
  const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
  execFileSync(process.execPath, [prisma, 'generate'], { cwd: root, stdio: 'pipe' });
  return {
    ...treeIn(root),
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function treeIn(root: string): Tree {
  return { root, migrations: join(root, 'prisma/migrations') };
}
