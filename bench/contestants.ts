import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** Fixed values. They give no access to anything. */
export const KEY = 'sk_test_bench_no_real_money';
export const WEBHOOK_SECRET = 'webhooks_of_no_real_money';
const FULFILMENT_SECRET = `whsec_${Buffer.from('a secret of 32 bytes, for a bench').toString('base64')}`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const START_MS = 60_000;

const children = new Set<ChildProcess>();

/** Ends every started program. The end of this process does the same. */
export function endPrograms(): void {
  for (const child of children) child.kill('SIGKILL');
}
process.once('exit', endPrograms);

/** All programs get the same variables, including the sandbox. */
const VARIABLES = {
  ...{ GATEWAY_SECRET_KEY: KEY, WEBHOOK_SECRETS: WEBHOOK_SECRET, SANDBOX_KEY: KEY, SANDBOX_WEBHOOK_URL: '' },
  ...{ GATEWAY_CALLS_PER_SECOND: '0', GATEWAY_CONCURRENCY: '64', CHECKOUTS_PER_MINUTE: '0' },
  ...{ WORKER: 'inline', LOG_LEVEL: 'warn', FULFILMENT_SECRET, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') },
};

/**
 * Starts a contestant on a new database.
 * @param name also the name of its database
 * @param server the address of the PostgreSQL server
 */
export async function enter(name: string, program: string, server: string, env: object) {
  const url = new URL(server);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const started = await startProgram(program, { DATABASE_URL: url.href, ...env });
  const pool = new pg.Pool({ connectionString: url.href, max: 1 }).on('error', () => undefined);
  const count = `SELECT count(*)::int AS unpaid FROM orders WHERE status <> 'paid'`;
  /** The number of its orders that are not paid. */
  const unpaid = async () => (await pool.query<{ unpaid: number }>(count)).rows[0]?.unpaid ?? NaN;
  return { ...started, name, unpaid };
}

export type Contestant = Awaited<ReturnType<typeof enter>>;

/**
 * Runs a program on a free port in its own process, and waits until it answers. Its path is
 * relative to the root.
 */
export async function startProgram(program: string, own: object) {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  const url = `http://127.0.0.1:${port}`;
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];
  const child = spawn(process.execPath, [...loader, join(ROOT, program)], {
    // This folder has no .env file.
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, PORT: `${port}`, SANDBOX_PORT: `${port}`, PUBLIC_URL: url, ...VARIABLES, ...own },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && children.has(child)) {
    // Only our server has this route. The others answer 404.
    const answer = await fetch(`${url}/healthz`).catch(() => null);
    await answer?.body?.cancel();
    if (answer !== null && answer.status < 500) return { url, pid: child.pid ?? 0 };
    await sleep(50);
  }
  throw new Error(`${program} did not start`);
}

/**
 * The compiled server if it is newer than every source, as it is deployed; otherwise the source.
 */
export function ourProgram(): 'dist/server.js' | 'src/server.ts' {
  const changedMs = (path: string) => statSync(join(ROOT, path)).mtimeMs;
  const isOlder = (path: string) => changedMs(join('src', path)) < changedMs('dist/server.js');
  const isThere = existsSync(join(ROOT, 'dist/server.js'));
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return isThere && sources.every(isOlder) ? 'dist/server.js' : 'src/server.ts';
}

/** Resident memory of a process in MiB; NaN if the system does not report it. */
export function residentMiB(pid = 0): number {
  const status = `/proc/${pid}/status`;
  return existsSync(status) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1_024 : NaN;
}
