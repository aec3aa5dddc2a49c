/**
 * Where the embedded cluster lives and as whom it runs. For an ordinary user: in the data folder, as that
 * user. PostgreSQL refuses to run as root, so root lends it to an account that exists already; no account is
 * made. That account cannot enter a checkout in /root, so the cluster and a copy of the programs then go to
 * a folder of root's that it can enter, and a symbolic link in the data folder leads there.
 */
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, USE_ANOTHER_DATABASE } from './embedded-postgres-error.ts';
import type { Logger } from '../../src/platform/logger.ts';
import { findPostgresBinaries, type PostgresBinaries } from './binaries.ts';
import { type Account, canEnter, ownerOf, unprivilegedAccount } from './unix-account.ts';

export type PostgresHome = {
  /**
   * Holds the cluster in `postgres`, its password, its last port and its log. The data folder, or one of
   * root's.
   */
  dir: string;
  /** Folder with `bin/postgres` and `bin/initdb`. */
  programs: string;
  /** As whom PostgreSQL runs; undefined: as ourselves. */
  account: Account | undefined;
};

const PROJECT = 'payment-integrator';
const PLACES = ['/var/lib', '/var/tmp'];
/** File that names the data folder for which a database was put elsewhere. */
const NOTE = 'data-folder';

/**
 * Settles where the cluster of this data folder lives. The caller holds the data folder.
 * @throws {EmbeddedPostgresError} when no place or no account will do
 */
export function preparePostgresHome(dataDir: string, logger: Logger): PostgresHome {
  if (process.getuid?.() !== 0) {
    refuseForeignCluster(dataDir);
    return { dir: dataDir, programs: findPostgresBinaries().root, account: undefined };
  }
  const binaries = findPostgresBinaries();
  const { dir, account } = findHomeAsRoot(dataDir, logger);
  const programs = canEnter(account, join(binaries.root, 'bin'))
    ? binaries.root
    : copyPrograms(binaries, logger);
  return { dir, programs, account };
}

function refuseForeignCluster(dataDir: string): void {
  const owner = fs.statSync(join(dataDir, 'postgres'), { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === process.getuid?.()) return;
  throw new EmbeddedPostgresError(
    `the database in ${dataDir} belongs to user id ${owner}: start as that user or as root, or ${USE_ANOTHER_DATABASE}`,
  );
}

function findHomeAsRoot(dataDir: string, logger: Logger): { dir: string; account: Account } {
  const cluster = join(dataDir, 'postgres');
  const present = fs.lstatSync(cluster, { throwIfNoEntry: false });
  if (present?.isSymbolicLink()) {
    const target = fs.readlinkSync(cluster);
    if (!fs.existsSync(dirname(target))) {
      throw new EmbeddedPostgresError(
        `${cluster} leads to ${target}, which is gone: bring it back, or delete the link to begin anew`,
      );
    }
    assertRootsOwn(dirname(target));
    return { dir: dirname(target), account: ownerOf(target) ?? unprivilegedAccount() };
  }
  // The cluster's owner runs it, so that a checkout may be started by its user today and by root
  // tomorrow.
  const account = ownerOf(cluster) ?? unprivilegedAccount();
  // Others may pass through the data folder, not list it; what is in it is closed to them.
  fs.chmodSync(dataDir, fs.statSync(dataDir).mode | 0o011);
  if (canEnter(account, dataDir) && canGiveAway(dataDir, account)) return { dir: dataDir, account };
  if (present !== undefined) {
    throw new EmbeddedPostgresError(
      `user id ${account.uid} owns ${cluster} and cannot enter it: correct its parents`,
    );
  }
  return { dir: moveOut(dataDir, logger), account };
}

// Under a name of its own, known only to the link: a checkout that is moved takes its database along, and
// another one in its old place does not find it.
function moveOut(dataDir: string, logger: Logger): string {
  const base = folderOfRoot();
  const earlier = fs.readdirSync(base).filter((name) => readNote(join(base, name)) === dataDir);
  const dir = join(base, `database-${randomUUID().slice(0, 8)}`);
  makeRootsOwn(dir);
  fs.writeFileSync(join(dir, NOTE), `${dataDir}\n`);
  fs.symlinkSync(join(dir, 'postgres'), join(dataDir, 'postgres'));
  logger.info({ dir }, 'the database account cannot enter the data folder, its files are kept elsewhere');
  if (earlier.length > 0) logger.warn({ base, earlier }, 'older databases of this folder may be deleted');
  return dir;
}

function readNote(dir: string): string | undefined {
  const path = join(dir, NOTE);
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8').trim() : undefined;
}

// Shared by all checkouts of one version: test runs must not copy 50 MB each.
function copyPrograms({ root, version }: PostgresBinaries, logger: Logger): string {
  const place = join(folderOfRoot(), `programs-${version}`);
  if (fs.existsSync(place)) {
    assertRootsOwn(place);
    return place;
  }
  const draft = `${place}.${randomUUID()}`;
  fs.cpSync(root, draft, {
    recursive: true,
    verbatimSymlinks: true,
    mode: fs.constants.COPYFILE_FICLONE,
    // Static libraries are for compilers.
    filter: (source) => !source.endsWith('.a'),
  });
  fs.chmodSync(draft, 0o755);
  try {
    fs.renameSync(draft, place);
    logger.info({ place }, 'copied the database programs to where their account can run them');
  } catch (error) {
    // Two first starts copied at the same time: either copy will do.
    if (!fs.existsSync(place)) throw error;
    fs.rmSync(draft, { recursive: true });
  }
  return place;
}

function folderOfRoot(): string {
  for (const place of PLACES) {
    const dir = join(place, PROJECT);
    try {
      makeRootsOwn(dir);
      return dir;
    } catch {
      // Read-only, or prepared by another user: the next place may do.
    }
  }
  throw new EmbeddedPostgresError(
    `root has no folder in ${PLACES.join(' or ')} to keep a database in: ${USE_ANOTHER_DATABASE}`,
  );
}

// The account passes through it; what it may not list is closed to everybody else, too.
function makeRootsOwn(dir: string): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  assertRootsOwn(dir);
  fs.chmodSync(dir, 0o711);
}

// In /var/tmp any user could have made the folder first, with a program in it for us to run.
function assertRootsOwn(dir: string): void {
  const stat = fs.lstatSync(dir);
  if (stat.isDirectory() && stat.uid === 0 && (stat.mode & 0o022) === 0) return;
  throw new EmbeddedPostgresError(`${dir} is not a folder that only root may change: remove it`);
}

// Some mounts (a host's folder in a virtual machine, NFS with root squashed) refuse or ignore a change of
// owner.
function canGiveAway(dir: string, account: Account): boolean {
  const probe = join(dir, `.owner-${randomUUID()}`);
  try {
    fs.mkdirSync(probe, { mode: 0o700 });
    fs.chownSync(probe, account.uid, account.gid);
    return fs.statSync(probe).uid === account.uid;
  } catch {
    return false;
  } finally {
    fs.rmSync(probe, { recursive: true, force: true });
  }
}
