import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * A name for the set of processes that this process can see: one boot of one machine, one pid namespace.
 * A pid written by another container or before a reboot says nothing here; this is how to tell.
 */
export function systemIdentity(): string {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${bootId} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/**
 * When the process began, in a unit of the system's own: only good for telling whether a pid was given
 * to another process since. Undefined where there is no /proc, and for a process that is gone or a zombie.
 */
export function processStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name, which may itself hold blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** Whether the pid is a running process of this system, and, if `startTime` is given, still the same one. */
export function isRunning(pid: number, startTime?: string): boolean {
  let isForeign = false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and belongs to another user.
    isForeign = (error as NodeJS.ErrnoException).code === 'EPERM';
    if (!isForeign) return false;
  }
  if (process.platform !== 'linux') return true;
  const actual = processStartTime(pid);
  // Some systems hide the processes of other users.
  if (actual === undefined) return isForeign;
  return startTime === undefined || actual === startTime;
}

/** The arguments a process was started with; undefined when it is gone or hidden. */
export function processArguments(pid: number): string[] | undefined {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    }
    return execFileSync('/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).split(
      /\s+/,
    );
  } catch {
    return undefined;
  }
}

/**
 * The current folder of a process, without symbolic links; undefined when it is gone, hidden, or there is no
 * /proc.
 */
export function processFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
