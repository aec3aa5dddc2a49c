import { mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders this very process writes to: its own pid in a lock file would otherwise look like a leftover. */
const heldHere = new Set<string>();

/**
 * Makes this process the one writer of a folder; two writers would interleave their lines. The lock of
 * a process that no longer runs is taken over.
 * @returns what gives the folder free again
 * @throws {Error} when a running process holds it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'writer.pid');
  await mkdir(folder, { recursive: true });
  const holder = heldHere.has(folder) ? process.pid : await runningHolder(file);
  if (holder !== null) throw new Error(`the sandbox ledger in ${folder} is in use by process ${holder}`);
  await unlink(file).catch(ignoreAbsent);
  const handle = await open(file, 'wx'); // of two that start at once, one fails here
  await handle.writeFile(String(process.pid));
  await handle.close();
  heldHere.add(folder);
  return async () => {
    heldHere.delete(folder);
    await unlink(file).catch(ignoreAbsent);
  };
}

async function runningHolder(file: string): Promise<number | null> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  // After a restart of a container the same small number is ours again.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return null;
  try {
    process.kill(pid, 0); // signal 0 only asks
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : null;
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
