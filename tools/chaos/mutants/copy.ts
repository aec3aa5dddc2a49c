import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';

/** A copy of the tree in which bugs are planted, one at a time. The tree itself is never touched. */
export type Copy = {
  folder: string;
  /** Plants a bug. @returns what takes it out again @throws when its text does not stand there exactly once */
  plant(mutant: Mutant): () => void;
  remove(): void;
};

const STAYS_HERE = new Set(['.git', '.data', 'node_modules', 'coverage', 'dist', 'bundle', 'next']);

export function copyTree(root: string): Copy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'integrator-mutants-')));
  for (const name of readdirSync(root).filter((entry) => !STAYS_HERE.has(entry)))
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
  return {
    folder,
    plant: (mutant) => {
      const path = join(folder, mutant.file);
      const honest = readFileSync(path, 'utf8');
      writeFileSync(path, spoil(honest, mutant));
      return () => {
        writeFileSync(path, honest);
      };
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The source with the bug in it. @throws when the planted text does not stand in it exactly once: then the list is old */
export function spoil(source: string, { bug, file, find, replace }: Mutant): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`"${bug}": its text stands in ${file} ${count} times, not once:\n${find}`);
  return source.replace(find, () => replace);
}

/** Changes with everything that a result depends on: sources, schema, tests, and pages whose code they play. */
export function digestOf(root: string): string {
  const hash = createHash('sha256');
  for (const folder of ['src', 'local', 'tools', 'prisma', 'test', 'docs']) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const path of paths.filter((name) => !name.includes('/tools/chaos/')).sort())
      hash.update(path.slice(root.length)).update(readFileSync(path));
  }
  return hash.digest('hex');
}
