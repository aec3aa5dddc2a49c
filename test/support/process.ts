import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { jest } from '@jest/globals';

export { freePort, occupy } from './ports.ts';

export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** What a process said and how it ended. */
export type Outcome = Exit & { stdout: string; stderr: string };

export type RunningProcess = {
  pid: number;
  stdout(): string;
  stderr(): string;
  /**
   * Waits until standard output matches. @throws with everything it said when it ends or is silent instead
   */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  isRunning(): boolean;
  /** Sends a signal, SIGTERM by default, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
  ended(): Promise<Outcome>;
};

export type ProcessOptions = { cwd: string; env?: Record<string, string>; args?: readonly string[] };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const DEFAULT_EXTENSIONS = new URL('default-extensions.ts', import.meta.url).href;
// Nobody waits so long where all is well: a machine that is busy with something else starts processes slowly.
const PATIENCE_MS = 120_000;

// A test starts several processes, and a busy machine starts them slowly.
jest.setTimeout(4 * PATIENCE_MS);

const cleanUps: (() => Promise<unknown>)[] = [];

/** To be called after each test: ends every process and removes every folder, the latest first. */
export async function cleanUp(): Promise<void> {
  for (let next = cleanUps.pop(); next !== undefined; next = cleanUps.pop()) await next();
}

/** Runs something after the test, whatever becomes of it. */
export function onCleanUp(work: () => Promise<unknown>): void {
  cleanUps.push(work);
}

/**
 * An empty working folder: what a process keeps in `.data` is its own. Any account may pass, PostgreSQL has
 * one.
 */
export async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-process-')));
  await chmod(folder, 0o755);
  onCleanUp(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

/**
 * Runs a program as `npm run` does, with nothing of our own environment but the way to programs.
 * @param program see {@link argumentsOf}
 */
export function startProcess(program: string, { cwd, env = {}, args = [] }: ProcessOptions): RunningProcess {
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env;
  const child = spawn(process.execPath, [...argumentsOf(program), ...args], {
    cwd,
    // The loader looks for the settings of the compiler in the working folder, and there are none.
    env: {
      PATH,
      HOME,
      TMPDIR,
      TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  let exit: Exit | null = null;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = new Promise<Outcome>((resolve) => {
    child.once('close', (code, signal) => {
      exit = { code, signal };
      resolve({ ...exit, stdout, stderr });
    });
  });
  const said = (): string => `\n--- ${program} ${args.join(' ')}, stdout:\n${stdout}\n--- stderr:\n${stderr}`;
  const ended = (): Promise<Outcome> => within(closed, () => `it has not ended${said()}`);
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> => {
    child.kill(signal);
    return ended();
  };
  onCleanUp(() => stop('SIGKILL'));
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    says: async (pattern) => {
      const until = performance.now() + PATIENCE_MS;
      for (;;) {
        const match = pattern.exec(stdout);
        if (match) return match;
        if (exit !== null || performance.now() > until)
          throw new Error(`waited for ${pattern.source}${said()}`);
        await pause(20);
      }
    },
    isRunning: () => exit === null,
    stop,
    ended,
  };
}

/** What node is given to run a program: `server`, `worker`, or a file from the root of the project. */
export function argumentsOf(program: string): string[] {
  const isFile = program.includes('/');
  const [file, more] = isFile ? [program, []] : ['local/start.ts', [program]];
  const compiled = join(process.env.TEST_COMPILED ?? ROOT, file.replace(/tsx?$/, 'js'));
  return existsSync(compiled)
    ? [compiled, ...more]
    : ['--import', LOADER, '--import', DEFAULT_EXTENSIONS, join(ROOT, file), ...more];
}

/**
 * What node is given, and where, to run a piece of code whose imports begin at the root of the project:
 * `'./src/…'`.
 */
export function argumentsOfCode(code: string): { args: string[]; cwd: string } {
  const { TEST_COMPILED } = process.env;
  const args = ['--input-type=module', '--eval'];
  return TEST_COMPILED === undefined
    ? { args: ['--import', LOADER, ...args, code], cwd: ROOT }
    : { args: [...args, code.replace(/(from '\.\/[^']*\.)tsx?'/g, "$1js'")], cwd: TEST_COMPILED };
}

/** Runs a process to its end. */
export function runProcess(program: string, options: ProcessOptions): Promise<Outcome> {
  return startProcess(program, options).ended();
}

/** The processes of this machine whose command line names the folder. */
export function processesIn(folder: string): string[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(folder));
}

async function within<T>(work: Promise<T>, complaint: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(complaint()));
    }, PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
