import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './programs.ts';

const ROOT = new URL('../../', import.meta.url);
/** How many of the newest characters of each output are kept. */
const KEPT = 4_000_000;
/** Longer than the program needs to drain. */
const END_MS = 20_000;

export type Line = Record<string, unknown> & { msg?: string };

export type Running = {
  pid: number;
  /** The lines of standard output, parsed. A line that is not JSON becomes `{ msg }`. */
  lines(): Line[];
  stdout(): string;
  stderr(): string;
  /** The exit code, or the signal that ended it; null while it runs. */
  ended(): number | NodeJS.Signals | null;
  /** Waits for the end. */
  end(): Promise<number | NodeJS.Signals>;
  /** Sends a signal and waits for the end. A process that takes too long is killed. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
};

/**
 * Starts one of our programs in a process of its own.
 * @param program path from the root, as `src/server.ts`
 * @param env its whole environment, except for PATH and temporary folders; it reads no `.env`
 */
export function startProcess(program: string, env: Record<string, string>, args: readonly string[] = []): Running {
  const { PATH = '', HOME = tmpdir() } = process.env;
  const child = spawn(process.execPath, [...startOf(program, 'GATEWAY_ADAPTER' in env), ...args], {
    cwd: tmpdir(),
    env: { PATH, HOME, TMPDIR: tmpdir(), TSX_TSCONFIG_PATH: fileURLToPath(new URL('tsconfig.json', ROOT)), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map(keep) as [() => string, () => string];
  const over = once(child, 'close');
  const ended = () => child.exitCode ?? child.signalCode;
  const end = async () => {
    await over;
    return ended() ?? 'SIGKILL';
  };
  return {
    pid: child.pid ?? 0,
    lines: () => stdout().split('\n').filter(Boolean).map(parsed),
    stdout,
    stderr,
    ended,
    end,
    kill: async (signal) => {
      child.kill(signal);
      const limit = new AbortController();
      void sleep(END_MS, undefined, limit).then(
        () => child.kill('SIGKILL'),
        () => undefined,
      );
      const how = await end();
      limit.abort();
      return how;
    },
  };
}

function keep(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-KEPT);
  });
  return () => text;
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return { msg: line };
  }
}
