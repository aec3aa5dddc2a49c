import * as fs from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../src/platform/clock.ts';
import { isRunning, systemIdentity } from './process-identity.ts';

export type DataFolderOwner = {
  pid: number;
  /** The command it runs, e.g. "npm start". */
  purpose: string;
  /** host:port of the database it runs on the folder; undefined until that accepts connections. */
  address?: string | undefined;
  /**
   * Whether it runs on this machine and in this container: only then its pid and its address mean something
   * here.
   */
  isHere: boolean;
};

/** What `owner-<n>.json` holds. */
export type OwnerFile = {
  pid: number;
  purpose: string;
  address?: string | undefined;
  system: string;
  startTime?: string | undefined;
  isReleased?: boolean;
};

/** `file` is undefined when a crash of the machine left it empty: then its owner is gone, too. */
export type OwnerEntry = { number: number; path: string; file: OwnerFile | undefined };

/** A process of another container or machine cannot be looked up: it is alive while it touches its file. */
export const HEARTBEAT_MS = 2_000;
const SILENCE_MS = 10_000;
/** Beyond the difference between any two clocks. */
const LONG_SILENCE_MS = 120_000;

/** Who has the folder now; undefined when it is free. Changes nothing, and does not wait. */
export function readDataFolderOwner(dir: string): DataFolderOwner | undefined {
  const last = listEntries(dir).at(-1);
  if (!last?.file || last.file.isReleased) return undefined;
  const owner = describeOwner(last.file);
  const isAlive = owner.isHere
    ? isRunning(owner.pid, last.file.startTime)
    : silenceMs(last.path) < SILENCE_MS;
  return isAlive ? owner : undefined;
}

/** Whether an owner is alive; waits up to 10 s where only its silence can tell that it is not. */
export async function isHeld(path: string, file: OwnerFile): Promise<boolean> {
  if (file.isReleased) return false;
  if (file.system === systemIdentity()) return isRunning(file.pid, file.startTime);
  if (silenceMs(path) > LONG_SILENCE_MS) return false;
  const before = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const end = systemClock.elapsedMs() + SILENCE_MS;
  while (systemClock.elapsedMs() < end) {
    const now = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (now !== before) return now !== undefined && readOwnerFile(path)?.isReleased !== true;
    await sleep(HEARTBEAT_MS / 4);
  }
  return false;
}

export function describeOwner({ pid, purpose, address, system }: OwnerFile): DataFolderOwner {
  return { pid, purpose, address, isHere: system === systemIdentity() };
}

export function ownerPath(dir: string, number: number): string {
  return join(dir, `owner-${number}.json`);
}

/** The owner files of a folder by number: the last is the present owner, or the latest that was. */
export function listEntries(dir: string): OwnerEntry[] {
  const names = fs.existsSync(dir) ? fs.readdirSync(dir) : [];
  return names
    .flatMap((name) => /^owner-(\d+)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .map((number) => ({ number, path: ownerPath(dir, number), file: readOwnerFile(ownerPath(dir, number)) }));
}

/**
 * Readable by all whatever the umask: a folder may be root's today and a user's tomorrow. It holds no secret.
 */
export function writeOwnerFile(path: string, file: OwnerFile): void {
  fs.writeFileSync(path, JSON.stringify(file));
  fs.chmodSync(path, 0o644);
}

function readOwnerFile(path: string): OwnerFile | undefined {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) as OwnerFile;
  } catch (error) {
    // Gone means that a later owner has cleared it away. Anything else must not pass for "no owner".
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function silenceMs(path: string): number {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? Infinity : systemClock.now().getTime() - stat.mtimeMs;
}
