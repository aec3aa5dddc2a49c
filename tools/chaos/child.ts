import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { THIS_TREE, type Tree } from './tree.ts';

/** A process of ours. Everything it says is kept. */
export type Child = {
  pid: number;
  said(): string;
  isRunning(): boolean;
  /** Waits for the first thing it says that matches; null when it ends, or is silent for minutes, instead. */
  says(pattern: RegExp): Promise<RegExpExecArray | null>;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal and waits for the end. @returns the exit code, null after a signal */
  end(signal: NodeJS.Signals): Promise<number | null>;
  ended: Promise<number | null>;
};

export type ChildOptions = {
  cwd: string;
  env?: Record<string, string>;
  args?: readonly string[];
  /** Default: these sources. */
  tree?: Tree;
  /** How far its clock is off, in milliseconds, until it jumps at SIGUSR2. Default: it has the machine's. */
  clockMs?: number;
};

const CLOCK = new URL('other-clock.ts', import.meta.url).href;
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const DEFAULT_EXTENSIONS = new URL('../../test/support/default-extensions.ts', import.meta.url).href;
/** A machine that is busy with something else starts processes slowly. */
const PATIENCE_MS = 180_000;

// Out of reach of Ctrl-C, they end with us.
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** Runs a file, named from the root of its tree, as `npm run` does, with nothing of our own environment but the way to programs. */
export function startChild(file: string, options: ChildOptions): Child {
  const { cwd, env = {}, args = [], clockMs, tree = THIS_TREE } = options;
  const { PATH = '', HOME = '' } = process.env;
  const ownClock = clockMs === undefined ? [] : ['--import', CLOCK];
  const child = spawn(
    process.execPath,
    ['--import', LOADER, '--import', DEFAULT_EXTENSIONS, ...ownClock, join(tree.root, file), ...args],
    {
      cwd,
      env: {
        PATH,
        HOME,
        TSX_TSCONFIG_PATH: join(tree.root, 'tsconfig.json'),
        CLOCK_OFF_BY_MS: String(clockMs ?? 0),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: when a group loses its last parent while a member stands still, the system hangs up on all.
      detached: true,
    },
  );
  living.add(child);
  let text = '';
  let isRunning = true;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => (text += more));
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isRunning = false;
      living.delete(child);
      resolve(code);
    });
  });
  return {
    pid: child.pid ?? 0,
    said: () => text,
    isRunning: () => isRunning,
    says: async (pattern) => {
      const until = performance.now() + PATIENCE_MS;
      for (;;) {
        const match = pattern.exec(text);
        if (match !== null || !isRunning || performance.now() > until) return match;
        await pause(20);
      }
    },
    signal: (signal) => {
      child.kill(signal);
    },
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks until it is so, at most so long. @returns whether it became so */
export async function until(look: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (performance.now() < end) {
    if (await look().catch(() => false)) return true;
    await pause(50);
  }
  return false;
}
