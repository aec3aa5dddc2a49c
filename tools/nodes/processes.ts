import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/** Milliseconds of processor time that these processes have used. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, , , , , , , , , , , user = 0, system = 0] = statOf(pid).map(Number);
    return sum + (user + system) * MS_PER_TICK;
  }, 0);
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && Number(statOf(pid)[1]) === parent);
}

/** A process and all that it has started, each stopped before any ends: none of them says a last word. */
export function killTree(pid: number): void {
  const pids = [pid];
  for (const each of pids) {
    signal(each, 'SIGSTOP');
    pids.push(...childrenOf(each));
  }
  for (const each of pids) signal(each, 'SIGKILL');
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What stands after the name of the program, which may have spaces: state, parent, …, at 11 and 12 the CPU time. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
