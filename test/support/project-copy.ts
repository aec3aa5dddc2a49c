import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['src', 'local', 'tools', 'prisma', 'package.json', 'prisma.config.ts', 'tsconfig.json'];

export type ProjectCopy = { folder: string; remove(): Promise<void> };

/**
 * Makes a copy of the program with its own sources, database and generated client, for tests that
 * change files.
 */
export async function copyProject(): Promise<ProjectCopy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-copy-')));
  for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
