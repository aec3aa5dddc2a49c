import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** Made to be read aloud: they open nothing anywhere. */
export const KEY = 'sk_test_bench_no_real_money';
export const WEBHOOK_SECRET = 'webhooks_of_no_real_money';
const FULFILMENT_SECRET = `whsec_${Buffer.from('a secret of 32 bytes, for a bench').toString('base64')}`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const START_MS = 60_000;

const children = new Set<ChildProcess>();

/** Ends every program that was started; the end of this process does so as well. */
export function endPrograms(): void {
  for (const child of children) child.kill('SIGKILL');
}
process.once('exit', endPrograms);

/** All take the same variables, the service's stand-in among them. */
const VARIABLES = {
  ...{ GATEWAY_SECRET_KEY: KEY, WEBHOOK_SECRETS: WEBHOOK_SECRET, SANDBOX_KEY: KEY, SANDBOX_WEBHOOK_URL: '' },
  ...{ GATEWAY_CALLS_PER_SECOND: '0', GATEWAY_CONCURRENCY: '64', CHECKOUTS_PER_MINUTE: '0' },
  ...{ WORKER: 'inline', LOG_LEVEL: 'warn', FULFILMENT_SECRET, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json') },
};

/**
 * Starts a contestant on a new database.
 * @param name its database's, too
 * @param server that PostgreSQL's address
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
  /** How many of its orders are not paid. */
  const unpaid = async () => (await pool.query<{ unpaid: number }>(count)).rows[0]?.unpaid ?? NaN;
  return { ...started, name, unpaid };
}

export type Contestant = Awaited<ReturnType<typeof enter>>;

/**
 * Runs a program, named from the root, on a free port in a process of its own, and waits until it
 * answers.
 */
export async function startProgram(program: string, own: object) {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  const url = `http://127.0.0.1:${port}`;
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];
  const child = spawn(process.execPath, [...loader, join(ROOT, program)], {
    // Where no .env is read.
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, PORT: `${port}`, SANDBOX_PORT: `${port}`, PUBLIC_URL: url, ...VARIABLES, ...own },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && children.has(child)) {
    // Only our server knows such an address; the others answer 404.
    const answer = await fetch(`${url}/healthz`).catch(() => null);
    await answer?.body?.cancel();
    if (answer !== null && answer.status < 500) return { url, pid: child.pid ?? 0 };
    await sleep(50);
  }
  throw new Error(`${program} did not come up`);
}

/** The compiled server where it is newer than every source, as it is deployed; else the source. */
export function ourProgram(): 'dist/server.js' | 'src/server.ts' {
  const changedMs = (path: string) => statSync(join(ROOT, path)).mtimeMs;
  const isOlder = (path: string) => changedMs(join('src', path)) < changedMs('dist/server.js');
  const isThere = existsSync(join(ROOT, 'dist/server.js'));
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return isThere && sources.every(isOlder) ? 'dist/server.js' : 'src/server.ts';
}

/** Resident memory of a process in MiB; NaN where the system does not say. */
export function residentMiB(pid = 0): number {
  const status = `/proc/${pid}/status`;
  return existsSync(status) ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1_024 : NaN;
}
