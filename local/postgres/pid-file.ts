import { closeSync, constants, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import type { PostgresHome } from './home.ts';
import { isRunning, processArguments, processFolder, processStartTime } from './process-identity.ts';

/** A fast shutdown ends with a checkpoint; a slow disk needs some seconds for it. */
const FAST_STOP_MS = 15_000;
const IMMEDIATE_STOP_MS = 5_000;
const POLL_MS = 10;

/**
 * Ends the server that a killed process of ours left running. The caller holds the data folder, so no living
 * process of ours runs this cluster. Returns whether there was one.
 */
export async function stopOrphan(home: PostgresHome): Promise<boolean> {
  const cluster = join(home.dir, 'postgres');
  const pid = readPidFile(cluster)?.pid;
  if (pid === undefined || !isRunning(pid)) return false;
  if (isServerOf(cluster, pid)) {
    await stopByPid(pid);
    return true;
  }
  // The pid went to another program, which PostgreSQL would take for a running server. It passes over its
  // parent's pid, and still checks the shared memory that the rest of the file names. No link is followed:
  // the folder is the account's, and we may be root.
  const path = pathIn(cluster);
  // A server that is ending has no arguments any more, and has removed its file.
  if (!existsSync(path)) return false;
  const words = readFileSync(path, 'utf8').replace(/^\d+/, String(process.pid));
  const fd = openSync(path, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
  writeFileSync(fd, words);
  closeSync(fd);
  return false;
}

function isServerOf(cluster: string, pid: number): boolean {
  const args = processArguments(pid) ?? [];
  if (!args[0]?.endsWith('/postgres')) return false;
  // Its folder says more than its arguments: the checkout may have been moved since.
  const folder = processFolder(pid);
  return folder === undefined ? args.includes(cluster) : folder === cluster;
}

/** Asks a server to shut down, with more force as time goes by. At most 25 s; resolves when it is gone. */
export async function stopByPid(pid: number): Promise<void> {
  const startTime = processStartTime(pid);
  const steps = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ] as const;
  for (const [signal, waitMs] of steps) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const end = systemClock.elapsedMs() + waitMs;
    while (systemClock.elapsedMs() < end) {
      if (!isRunning(pid, startTime)) return;
      await sleep(POLL_MS);
    }
  }
}

/** The server that the cluster says it has, running or not. */
export function readPidFile(cluster: string): { pid: number; isReady: boolean } | undefined {
  try {
    const lines = readFileSync(pathIn(cluster), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, isReady: lines[7]?.trim() === 'ready' } : undefined;
  } catch {
    return undefined;
  }
}

function pathIn(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}
