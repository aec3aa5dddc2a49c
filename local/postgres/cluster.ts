import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError, explainFolderError, quoteFailure } from './embedded-postgres-error.ts';
import type { PostgresHome } from './home.ts';
import { POSTGRES_ENV } from './process.ts';

/** The superuser of an embedded cluster, and the database made for us. */
export const OWN_USER = 'integrator';
export const OWN_DATABASE = 'integrator';

/**
 * Makes the cluster of `home` unless it is there, and on the disk before it is used if `isDurable`: the sync
 * costs a tenth of a second, and without it a machine that stops in the next half minute takes the whole
 * cluster along.
 * @throws {EmbeddedPostgresError} with initdb's words when it fails
 */
export async function ensureCluster(home: PostgresHome, isDurable: boolean): Promise<void> {
  const cluster = join(home.dir, 'postgres');
  if (fs.existsSync(join(cluster, 'PG_VERSION'))) return;
  // initdb works beside the final name: a start killed half-way must not leave half a cluster under it. And
  // under a name of its own: the initdb of a start that was killed just now may still be writing.
  const draft = `${cluster}.new-${randomUUID()}`;
  try {
    removeDrafts(home.dir);
    fs.mkdirSync(draft, { mode: 0o700 });
    if (home.account) fs.chownSync(draft, home.account.uid, home.account.gid);
    writePassword(home);
  } catch (error) {
    throw explainFolderError(error, home.dir);
  }
  const { code, words } = await initdb(home, draft, isDurable);
  if (code === 0) {
    fs.renameSync(draft, cluster);
    if (isDurable) syncFolder(home.dir);
    return;
  }
  fs.rmSync(draft, { recursive: true, force: true });
  throw quoteFailure(`cannot make a database in ${home.dir}`, words, 'initdb');
}

/**
 * The connection string of the cluster in a folder, for the port it listens on.
 * @throws {EmbeddedPostgresError} when its password cannot be read
 */
export function connectionString(homeDir: string, port: number, database = OWN_DATABASE): string {
  const path = join(homeDir, 'postgres-password');
  try {
    return `postgres://${OWN_USER}:${fs.readFileSync(path, 'utf8').trim()}@127.0.0.1:${port}/${database}`;
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `cannot read ${path}, the password of the database beside it: bring it back, or delete both to begin anew`,
      { cause },
    );
  }
}

function removeDrafts(homeDir: string): void {
  for (const name of fs.readdirSync(homeDir).filter((entry) => entry.startsWith('postgres.new-'))) {
    fs.rmSync(join(homeDir, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

// Else a machine that stops may come back with the old name, which the next start takes for half a cluster.
function syncFolder(dir: string): void {
  const fd = fs.openSync(dir, 'r');
  fs.fsyncSync(fd);
  fs.closeSync(fd);
}

function writePassword(home: PostgresHome): void {
  const path = join(home.dir, 'postgres-password');
  fs.rmSync(path, { force: true });
  fs.writeFileSync(path, randomBytes(24).toString('hex') + '\n', { mode: 0o600, flag: 'wx' });
  // initdb reads it, and runs as the account.
  if (home.account) fs.chownSync(path, home.account.uid, home.account.gid);
}

function initdb(
  home: PostgresHome,
  dir: string,
  isDurable: boolean,
): Promise<{ code: number | null; words: string }> {
  const flags = [
    `--pgdata=${dir}`,
    `--username=${OWN_USER}`,
    `--pwfile=${join(home.dir, 'postgres-password')}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same order of text on every machine, whatever its C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...(isDurable ? [] : ['--no-sync']),
  ];
  const program = join(home.programs, 'bin', 'initdb');
  return new Promise((resolve) => {
    const child = spawn(program, flags, {
      ...home.account,
      cwd: home.dir,
      env: POSTGRES_ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let words = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (words += chunk.toString()));
    }
    child.once('error', (error) => {
      // A program that is there and "not found" misses its loader: built for glibc, and this system has musl.
      const isForeign = error.message.includes('ENOENT') && fs.existsSync(program);
      resolve({
        code: null,
        words: isForeign ? `${program} does not fit this system's C library` : error.message,
      });
    });
    child.once('close', (code) => {
      resolve({ code, words });
    });
  });
}
