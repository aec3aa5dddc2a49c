import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/**
 * Milliseconds of processor time that the process and its descendants have used so far. Linux only; else 0.
 */
export function cpuMsOf(pid: number): number {
  const children = new Map<number, number[]>();
  const used = new Map<number, number>();
  for (const name of safely(() => readdirSync('/proc')) ?? []) {
    const fields = safely(() => readFileSync(`/proc/${Number(name)}/stat`, 'utf8'))
      ?.replace(/^.*\) /, '')
      .split(' ');
    if (fields === undefined) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    // User and system time, and those of children that have ended and been waited for.
    const ticks = fields.slice(11, 15).reduce((all, each) => all + Number(each), 0);
    used.set(Number(name), ticks * TICK_MS);
  }
  const sum = (of: number): number =>
    (used.get(of) ?? 0) + (children.get(of) ?? []).reduce((all, child) => all + sum(child), 0);
  return sum(pid);
}

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
