import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { argumentsOf, onCleanUp } from './process.ts';

/** A process before which somebody sits. */
export type Terminal = {
  /** Everything on the screen so far, what was typed included. */
  screen(): string;
  /** Waits until the screen shows something new that matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  type(keys: string): void;
  /** Waits for the end. @returns the exit code */
  ended(): Promise<number | null>;
};

export const [ENTER, CTRL_C, CTRL_D] = ['\n', '\x03', '\x04'];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 120_000;

/**
 * Runs a file, named from the root of the project, on a pseudo-terminal. script(1) lends one: it belongs to
 * util-linux, in Debian to bsdutils, which no system is without, and to every BSD.
 */
export function openTerminal(file: string, options: { cwd: string; args: readonly string[] }): Terminal {
  const command = [process.execPath, ...argumentsOf(file), ...options.args];
  const args =
    process.platform === 'linux'
      ? ['-q', '-e', '-c', `exec ${command.map(quoted).join(' ')}`, '/dev/null']
      : ['-q', '/dev/null', ...command];
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env;
  const child = spawn('script', args, {
    cwd: options.cwd,
    env: { PATH, HOME, TMPDIR, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let shownTo = 0;
  let code: number | null | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text.replaceAll('\r\n', '\n')));
  // Keys for somebody who has left.
  child.stdin.on('error', () => undefined);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => {
      code = exit;
      resolve(exit);
    });
  });
  onCleanUp(async () => {
    child.kill('SIGKILL');
    await closed.catch(() => null);
  });
  return {
    screen: () => screen,
    shows: async (pattern) => {
      const until = performance.now() + PATIENCE_MS;
      for (;;) {
        const match = pattern.exec(screen.slice(shownTo));
        if (match) {
          shownTo += match.index + match[0].length;
          return match;
        }
        if (code !== undefined || performance.now() > until)
          throw new Error(`waited for ${pattern.source}\n--- screen:\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    type: (keys) => {
      child.stdin.write(keys);
    },
    ended: () => closed,
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
