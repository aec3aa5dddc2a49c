/**
 * The lock on a data folder, so that two starts of one checkout do not run two databases on the same files.
 *
 * The owner is named in `owner-<n>.json` with the highest n. To claim the folder is to make the next number's
 * file: making a file that exists fails, so one of two starts at the same instant wins. The highest file is
 * never removed, only marked as released; were it removed, a start that had looked before could claim a
 * number that is already past. Who finds a higher number than its own after claiming did just that, and
 * withdraws.
 */
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/platform/clock.ts';
import {
  type DataFolderOwner,
  describeOwner,
  HEARTBEAT_MS,
  isHeld,
  listEntries,
  type OwnerFile,
  ownerPath,
  writeOwnerFile,
} from './data-folder-owner.ts';
import { explainFolderError } from './embedded-postgres-error.ts';
import { processStartTime, systemIdentity } from './process-identity.ts';
import { UserFacingError } from '../../src/platform/terminal.ts';

export { type DataFolderOwner, readDataFolderOwner } from './data-folder-owner.ts';

export type DataFolderLock = {
  /** Tells other processes where the database of this folder listens, as host:port. */
  announce(address: string): void;
  /** Gives the folder up, on a full disk as well; never throws. May be called again. */
  release(): void;
};

/** Another process works on the folder. The message says which one and what to do. */
export class DataFolderBusyError extends UserFacingError {
  readonly owner: DataFolderOwner;

  constructor(dir: string, owner: DataFolderOwner) {
    const where = owner.isHere ? '' : ' on another machine or in another container';
    super(
      `the data folder ${dir} is in use by "${owner.purpose}" (pid ${owner.pid}${where}): stop it, or set DATABASE_URL so that this process uses another database`,
    );
    this.name = 'DataFolderBusyError';
    this.owner = owner;
  }
}

/**
 * Makes the folder (mode 0700) if need be and takes it for this process, until released or until the process
 * ends in whatever way. Takes up to 10 s when the last owner ran in another container and was killed.
 * @throws {DataFolderBusyError} when another process has it
 */
export async function claimDataFolder(
  dir: string,
  { purpose, address }: { purpose: string; address?: string },
): Promise<DataFolderLock> {
  const startTime = processStartTime(process.pid);
  const mine: OwnerFile = { pid: process.pid, purpose, address, system: systemIdentity(), startTime };
  try {
    // Root runs the database as another account, which has to pass through.
    fs.mkdirSync(dirname(dir), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (;;) {
      const last = listEntries(dir).at(-1);
      if (last?.file && (await isHeld(last.path, last.file))) {
        throw new DataFolderBusyError(dir, describeOwner(last.file));
      }
      const number = (last?.number ?? 0) + 1;
      if (tryClaim(dir, number, mine)) return hold(ownerPath(dir, number), mine);
    }
  } catch (error) {
    throw explainFolderError(error, dir);
  }
}

function tryClaim(dir: string, number: number, mine: OwnerFile): boolean {
  const path = ownerPath(dir, number);
  const draft = join(dir, `owner-${randomUUID()}.tmp`);
  try {
    writeOwnerFile(draft, mine);
    // A link appears with its contents; a file opened and then written could be read while it is empty.
    fs.linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
  const entries = listEntries(dir);
  const isPast = entries.some((entry) => entry.number > number);
  const surplus = isPast
    ? [path]
    : entries.filter((entry) => entry.number < number).map((entry) => entry.path);
  for (const file of surplus) fs.rmSync(file, { force: true });
  return !isPast;
}

function hold(path: string, mine: OwnerFile): DataFolderLock {
  let file = mine;
  const rewrite = (change: Partial<OwnerFile>): void => {
    // A person who deletes the folder under us has released it.
    if (file.isReleased || !fs.existsSync(path)) return;
    file = { ...file, ...change };
    const draft = `${path}.tmp`;
    try {
      writeOwnerFile(draft, file);
      fs.renameSync(draft, path);
    } catch (error) {
      fs.rmSync(draft, { force: true });
      throw error;
    }
  };
  const heartbeat = setInterval(() => {
    const now = systemClock.now();
    fs.utimes(path, now, now, () => undefined);
  }, HEARTBEAT_MS).unref();
  return {
    announce: (address) => {
      rewrite({ address });
    },
    release: () => {
      clearInterval(heartbeat);
      try {
        rewrite({ isReleased: true });
      } catch {
        giveUpUnmarked(path);
      }
    },
  };
}

/**
 * On a full disk nothing can be written, and an emptied file names no owner. Where not even that can be done,
 * our end does it.
 */
function giveUpUnmarked(path: string): void {
  try {
    fs.truncateSync(path);
  } catch {
    // A folder that has become read-only: who comes next looks for our process, and it is gone.
  }
}
