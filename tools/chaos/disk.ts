import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of bounded size: a file system in a file, which only root may mount. */
export type Disk = {
  /** Where it is mounted. */
  folder: string;
  /** Takes everything that is free. */
  fill(): void;
  /** Gives it back. */
  free(): void;
  remove(): void;
};

const SIZE_BYTES = 1_500_000_000;

/** @throws with words that say why there is none: not root, not Linux, no loop devices */
export function openDisk(): Disk {
  if (process.getuid?.() !== 0) throw new Error('only root may mount a disk of bounded size');
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'integrator-chaos-disk-')));
  const [image, folder] = [join(home, 'image'), join(home, 'mounted')];
  // The account of PostgreSQL passes through.
  chmodSync(home, 0o755);
  mkdirSync(folder);
  const run = (program: string, ...args: string[]): void => {
    execFileSync(program, args, { stdio: 'pipe' });
  };
  const remove = (): void => {
    process.removeListener('exit', remove);
    run('umount', '--lazy', folder);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    writeFileSync(image, '');
    truncateSync(image, SIZE_BYTES);
    // Nothing is kept back for root: what is full is full for everybody.
    run('mkfs.ext4', '-q', '-m', '0', image);
    run('mount', '-o', 'loop', image, folder);
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw new Error(`no disk of bounded size can be made here: ${String(error)}`, { cause: error });
  }
  process.once('exit', remove);
  const filler = join(folder, 'filler');
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  return {
    folder,
    fill: () => {
      // What is told to be free is not to be had to the last block.
      for (let bytes = freeBytes(), at = 0; bytes > 4_096; bytes = Math.floor(bytes / 2), at += 1) {
        try {
          run('fallocate', '--length', String(bytes), `${filler}-${at}`);
        } catch {
          rmSync(`${filler}-${at}`, { force: true });
        }
      }
    },
    free: () => {
      for (let at = 0; at < 40; at += 1) rmSync(`${filler}-${at}`, { force: true });
    },
    remove,
  };
}
