import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** Milliseconds of processor time that the process and its living descendants have used so far. Linux only; else 0. */
export function cpuMsOf(pid: number): number {
  const children = new Map<number, number[]>();
  const used = new Map<number, number>();
  for (const name of safely(() => readdirSync('/proc')) ?? []) {
    const fields = safely(() => readFileSync(`/proc/${Number(name)}/stat`, 'utf8'))
      ?.replace(/^.*\) /, '')
      .split(' ');
    if (fields === undefined) continue;
    const [parent, user, system] = [Number(fields[1]), Number(fields[11]), Number(fields[12])];
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    used.set(Number(name), (user + system) * TICK_MS);
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
