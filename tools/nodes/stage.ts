import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';

const BUILT = new URL('../../dist/', import.meta.url);
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SANDBOX = fileURLToPath(new URL('../../local/sandbox/main.ts', import.meta.url));
const TSCONFIG = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));

export type Part = { name: string; child: ChildProcess; ended: Promise<number | null> };

/** A folder and processes of our own. Everything listens on loopback, and everything ends with us. */
export type Stage = {
  folder: string;
  /** Starts a program; what it says goes to `<name>.log` in the folder. */
  start(name: string, program: string, args: readonly string[], options?: SpawnOptions): Part;
  /** Starts `dist/<file>`. */
  node(name: string, file: string, env: Record<string, string>, args?: readonly string[]): Part;
  end(part: Part, signal?: NodeJS.Signals): Promise<number | null>;
  /** Runs at the end, the latest first. */
  later(work: () => unknown): void;
  close(): Promise<void>;
};

export function openStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'integrator-nodes-'));
  // PostgreSQL and PgBouncer have accounts of their own.
  chmodSync(folder, 0o777);
  const endings: (() => unknown)[] = [];
  const end = async (part: Part, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (part.child.exitCode === null) part.child.kill(signal);
    return part.ended;
  };
  const start: Stage['start'] = (name, program, args, options = {}) => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', log, log], ...options });
    const ended = new Promise<number | null>((resolve) => {
      child.once('error', () => {
        resolve(null);
      });
      child.once('exit', resolve);
    });
    const part = { name, child, ended };
    endings.push(() => end(part, 'SIGKILL'));
    return part;
  };
  return {
    folder,
    start,
    node: (name, file, env, args = []) =>
      start(name, process.execPath, [fileURLToPath(new URL(file, BUILT)), ...args], {
        env: { PATH: process.env.PATH, ...env },
      }),
    end,
    later: (work) => endings.push(work),
    close: async () => {
      for (let next = endings.pop(); next !== undefined; next = endings.pop()) await next();
      if (process.env.KEEP === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      else process.stderr.write(`logs are kept in ${folder}\n`);
    },
  };
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Asks until `look` says yes. @throws when it has not after `limitMs` milliseconds */
export async function until(what: string, look: () => Promise<boolean>, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await look().catch(() => false))) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what} (KEEP=1 keeps the logs)`);
    await pause(50);
  }
}

/** @throws with the command to type when Debian's package of the program is not installed */
export function needProgram(program: string, debianPackage: string): string {
  const found = spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`], { encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  throw new Error(`${program} is not installed: apt-get install --no-install-recommends ${debianPackage}`);
}

/** The environment of a node as it runs in production, with the stand-in for the service. */
export function productionEnv(databaseUrl: string, serviceUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://shop.example.com',
    DATABASE_URL: databaseUrl,
    GATEWAY_URL: serviceUrl,
    GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY,
    WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
    ADMIN_TOKEN: 'sixteen characters',
    DEMO_SHOP: 'on',
    WORKER: 'off',
    RECONCILE_EVERY_MIN: '0',
    CHECKOUTS_PER_MINUTE: '0',
    GATEWAY_CALLS_PER_SECOND: '0',
    LOG_LEVEL: 'warn',
  };
}

export async function startService(stage: Stage, webhookUrl: string): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = ['--port', String(port), '--data', 'none', '--webhook-url', webhookUrl];
  stage.start('service', process.execPath, ['--import', LOADER, SANDBOX, ...flags], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', TSX_TSCONFIG_PATH: TSCONFIG },
  });
  await until('the sandbox listens', async () => (await fetch(`${url}/sandbox/webhooks`)).ok);
  return url;
}

/** Starts a server and waits until it says that it is ready. */
export async function startServer(
  stage: Stage,
  env: Record<string, string>,
  port: number,
  name = `server-${port}`,
): Promise<Part> {
  const part = stage.node(name, 'server.js', { ...env, PORT: String(port) });
  await until(`${name} is ready`, async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
  return part;
}
