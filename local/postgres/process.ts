import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, fchownSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import { quoteFailure } from './embedded-postgres-error.ts';
import type { PostgresHome } from './home.ts';
import { readPidFile, stopByPid } from './pid-file.ts';

/** Recovery after a crash replays up to a gigabyte of write-ahead log before the server is ready. */
const START_TIMEOUT_MS = 180_000;
const POLL_MS = 10;
const LOG_KEEP_BYTES = 8_000_000;

/**
 * Nothing of the caller's environment: a PGOPTIONS or PGDATA made for another server must not reach this one.
 */
export const POSTGRES_ENV = { LC_ALL: 'C', TZ: 'UTC' };

/** Another program took the port between our choosing it and PostgreSQL's binding it. */
export class PostgresPortTakenError extends Error {}

export type PostgresExit = { code: number | null; signal: NodeJS.Signals | null };

export type PostgresProcess = {
  /** Resolves when the process has ended, for whatever reason. Never rejects. */
  exited: Promise<PostgresExit>;
  /** Ends open sessions and shuts down; at most about 25 s. Resolves when the process is gone. */
  stop(): Promise<void>;
};

/**
 * Starts the cluster of `home` and waits until it accepts connections.
 * @throws {PostgresPortTakenError} when another program has the port
 * @throws {EmbeddedPostgresError} with the last lines of the server's log when it does not start
 */
export async function runPostgres(
  home: PostgresHome,
  settings: Record<string, string>,
  env: Record<string, string> = {},
): Promise<PostgresProcess> {
  const deadline = systemClock.elapsedMs() + START_TIMEOUT_MS;
  for (;;) {
    const log = openLog(home);
    const server = spawnPostgres(home, settings, { ...POSTGRES_ENV, ...env }, log.fd);
    closeSync(log.fd);
    if (await isReady(home, server, deadline)) return server;
    await server.stop();
    const words = readFileSync(log.path).subarray(log.start).toString();
    if (words.includes('Address already in use')) throw new PostgresPortTakenError();
    // The sessions of a killed server need a moment to notice that it is gone.
    const isHeld = /pre-existing shared memory block|lock file .* already exists/.test(words);
    if (!isHeld || systemClock.elapsedMs() > deadline) {
      throw quoteFailure('the embedded PostgreSQL did not start', words, log.path);
    }
    await sleep(100);
  }
}

function spawnPostgres(
  home: PostgresHome,
  settings: Record<string, string>,
  env: Record<string, string>,
  logFd: number,
): PostgresProcess & { pid: number } {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Detached: a session of its own, so that Ctrl-C in the terminal reaches only us and we drain first.
  const options = { ...home.account, cwd: home.dir, env: POSTGRES_ENV, detached: true };
  const child = spawn(join(home.programs, 'bin', 'postgres'), ['-D', join(home.dir, 'postgres'), ...flags], {
    ...options,
    env,
    stdio: ['ignore', logFd, logFd],
  });
  child.unref();
  const exited = new Promise<PostgresExit>((resolve) => {
    child.once('error', () => {
      resolve({ code: null, signal: null });
    });
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
  guard(child, exited, options);
  return { pid: child.pid ?? 0, exited, stop: () => stopChild(child, exited) };
}

// A process that was killed cannot stop its children. This one waits for the end of a pipe that only we
// hold open, which comes when we are gone for whatever reason, and then asks PostgreSQL to stop.
function guard(child: ChildProcess, exited: Promise<PostgresExit>, options: SpawnOptions): void {
  if (child.pid === undefined) return;
  const watcher = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(child.pid)], {
    ...options,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.unref();
  void exited.then(() => watcher.kill('SIGKILL'));
}

async function stopChild(child: ChildProcess, exited: Promise<PostgresExit>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await stopByPid(child.pid);
  await exited;
}

// pg_ctl waits in the same way: the server writes "ready" into its pid file.
async function isReady(
  home: PostgresHome,
  server: { pid: number; exited: Promise<PostgresExit> },
  deadline: number,
): Promise<boolean> {
  const ended = new AbortController();
  void server.exited.then(() => {
    ended.abort();
  });
  while (!ended.signal.aborted && systemClock.elapsedMs() < deadline) {
    const file = readPidFile(join(home.dir, 'postgres'));
    if (file?.pid === server.pid && file.isReady) return true;
    await sleep(POLL_MS, ended.signal);
  }
  return false;
}

function openLog(home: PostgresHome): { path: string; fd: number; start: number } {
  const path = join(home.dir, 'postgres.log');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_KEEP_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  if (home.account) fchownSync(fd, home.account.uid, home.account.gid);
  return { path, fd, start: fstatSync(fd).size };
}
