import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { freePort, newFolder, onCleanUp } from '../support/process.ts';
import { DEFAULT_FILES } from './default-files.ts';
import { applyDiff, fileOf, type Block } from '../../tools/smaller/blocks.ts';
import { ROOT } from './markdown.ts';

/** A copy of the checkout in a folder of its own, and somebody in it who does what a page says. */
export type Checkout = {
  folder: string;
  /** Writes or changes the file that the block is the text of. */
  write(block: Block): void;
  /** Runs a shell block to its end. Variables that it sets are known to the next one. */
  run(code: string): Promise<Ended>;
  /** Starts what goes on running, and waits until it says that it does. Another `npm start` is stopped first. */
  start(code: string): Promise<void>;
};

export type Ended = { code: number | null; stdout: string; stderr: string };

const COPIED = [
  'src',
  'local',
  'tools',
  'deploy',
  'prisma',
  'test/support',
  'package.json',
  'tsconfig.json',
  '.env.example',
];
const PATIENCE_MS = 240_000;

/** Pages speak of these ports; tests run beside each other. */
async function portsInsteadOf(): Promise<[page: RegExp, here: number][]> {
  const server = await freePort();
  const other = await freePort();
  return [
    [/\b3000\b/g, server],
    [/\b3001\b/g, server + 1],
    [/\b4000\b/g, other],
    [/\b4010\b/g, other + 1],
  ];
}

export async function copyCheckout(): Promise<Checkout> {
  const folder = await newFolder();
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  rmSync(join(folder, 'src/custom'), { recursive: true });
  mkdirSync(join(folder, 'src/custom'));
  for (const [path, text] of Object.entries(DEFAULT_FILES)) writeFileSync(join(folder, path), text);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const ports = await portsInsteadOf();
  const here = (code: string): string =>
    ports.reduce((text, [page, port]) => text.replace(page, String(port)), code);
  const shell = createShell(folder, String(ports[0]?.[1] ?? 0));
  let server: ChildProcess | null = null;

  return {
    folder,
    write: (block) => {
      writeBlock(folder, { ...block, code: here(block.code) });
    },
    run: async (code) => ended(shell(here(code))),
    start: async (code) => {
      const isServer = /\bnpm start\b/.test(code);
      if (isServer && server !== null) await stop(server);
      const child = shell(here(code));
      if (isServer) server = child;
      await says(child, isServer ? /^Stop with Ctrl-C/m : /\S/);
    },
  };
}

/** A shell that remembers its variables in a file, with nothing of our own environment but the way to programs. */
function createShell(folder: string, port: string): (code: string) => ChildProcess {
  const state = join(folder, '.shell-state');
  writeFileSync(state, '');
  const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env;
  return (code) => {
    // As in a reader's shell a variable is not exported, so a page that needs that has to say so.
    const save = `{ export -p; declare -p $(compgen -v | grep -E '^[a-z][a-z_]*$'); } > ${state}`;
    const script = `set -eu -o pipefail; . ${state}; export PORT=${port}\n${code}\n${save}\n`;
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env: { PATH, HOME, TMPDIR, npm_config_update_notifier: 'false', npm_config_loglevel: 'silent' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: npm starts a shell that starts node, and all of them are to end.
      detached: true,
    });
    onCleanUp(() => stop(child));
    return child;
  };
}

function ended(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

function says(child: ChildProcess, pattern: RegExp): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it did not say ${pattern.source}, only:\n${said}`));
    }, PATIENCE_MS);
    const hear = (text: string): void => {
      said += text;
      if (!pattern.test(said)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.setEncoding('utf8').on('data', hear);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`it ended and said only:\n${said}`));
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  process.kill(-child.pid, 'SIGTERM');
  await closed;
}

/** A `diff` block changes the file that it names: each group of removed lines must stand there exactly once. */
function writeBlock(folder: string, block: Block): void {
  const file = fileOf(block);
  if (file === null) return;
  const path = join(folder, file);
  if (block.language !== 'diff') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, block.code);
    return;
  }
  writeFileSync(path, applyDiff(readFileSync(path, 'utf8'), block));
}
