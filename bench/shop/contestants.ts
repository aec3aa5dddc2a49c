import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** A server that takes checkouts and webhooks, and a look at the payments it has confirmed. */
export type Contestant = {
  name: string;
  origin: string;
  /** Resolves when the orders of these payments are paid. */
  untilPaid(references: readonly string[]): Promise<void>;
  /** In its database. */
  query<Row extends object>(text: string): Promise<Row[]>;
  pid: number;
  /** Memory of its process in bytes: now, and at most so far. */
  residentBytes(): Promise<{ now: number; peak: number }>;
  child: ChildProcess;
  stop(): Promise<void>;
};

/** Both have as many connections to the database as `POOL_SIZE`, and start from empty tables. */
export const POOL_SIZE = 20;
/** Webhooks are signed: of unsigned ones ours takes no more from one address than a stranger may send. */
export const WEBHOOK_SECRET = 'whsec_bench';
export const PATIENCE_SEC = 120;
const LOOKED_AT_FIRST = 100;
const LOOK_AGAIN_MS = 5;

/** @param flags of Node.js */
export async function startPlainSample(
  databaseUrl: string,
  serviceUrl: string,
  flags: readonly string[],
): Promise<Contestant> {
  const args = [databaseUrl, serviceUrl, String(POOL_SIZE)];
  const env = { NODE_ENV: 'production' };
  const { child, origin } = await start('../plain-sample/server.ts', args, env, process.cwd(), flags);
  return contestant('plain sample', child, origin, databaseUrl, 'orders');
}

export type IntegratorOptions = {
  databaseUrl: string;
  serviceUrl: string;
  folder: string;
  /** Of Node.js. */
  flags: readonly string[];
  /** Over the settings below. */
  env: Record<string, string>;
};

export async function startIntegrator({
  databaseUrl,
  serviceUrl,
  folder,
  flags = [],
  env = {},
}: Pick<IntegratorOptions, 'databaseUrl' | 'serviceUrl' | 'folder'> &
  Partial<IntegratorOptions>): Promise<Contestant> {
  const port = await freePort();
  const variables = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    GATEWAY_URL: serviceUrl,
    GATEWAY_SECRET_KEY: 'sk_test_bench',
    GATEWAY_CALLS_PER_SECOND: '0',
    GATEWAY_CONCURRENCY: '64',
    CHECKOUTS_PER_MINUTE: '0',
    RECONCILE_EVERY_MIN: '0',
    LOG_LEVEL: 'warn',
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    ...env,
  };
  const { child } = await start('../../src/server.ts', [], variables, folder, flags);
  return contestant('integrator', child, `http://127.0.0.1:${port}`, databaseUrl, 'payments');
}

export type StandIn = {
  url: string;
  /** The shoppers of these references pay. */
  pay(references: readonly string[]): Promise<void>;
  /** So many milliseconds after each question; 2 at first. */
  answerAfter(ms: number): Promise<void>;
  /** How often verify was asked so far. */
  countVerifications(): Promise<number>;
  stop(): Promise<void>;
};

export async function startStandIn(): Promise<StandIn> {
  const { child, origin } = await start('stand-in.ts', [], {});
  const tell = async (path: string, what: unknown): Promise<void> => {
    await fetch(`${origin}${path}`, { method: 'POST', body: JSON.stringify(what) });
  };
  return {
    url: origin,
    pay: (references) => tell('/pay', references),
    answerAfter: (ms) => tell('/latency', ms),
    countVerifications: async () => {
      const answer = (await (await fetch(`${origin}/verifications`)).json()) as { count: number };
      return answer.count;
    },
    stop: () => end(child),
  };
}

async function contestant(
  name: string,
  child: ChildProcess,
  origin: string,
  databaseUrl: string,
  /** Whose `status` says paid, by `reference`. */
  table: 'orders' | 'payments',
): Promise<Contestant> {
  const unpaidSql = `SELECT FROM ${table} WHERE reference = ANY($1) AND status <> 'paid' LIMIT 1`;
  // Looking must cost the database next to nothing, and a connection costs milliseconds.
  const looker = new pg.Client({ connectionString: databaseUrl });
  await looker.connect();
  return {
    name,
    origin,
    pid: child.pid ?? 0,
    child,
    query: async <Row extends object>(text: string) => (await looker.query<Row>(text)).rows,
    untilPaid: async (references) => {
      const untilMs = performance.now() + PATIENCE_SEC * 1_000;
      const areAllPaid = async (some: readonly string[]): Promise<boolean> =>
        (await looker.query(unpaidSql, [some])).rowCount === 0;
      // The latest ones first: every look at all of them would cost as much as some payments.
      for (const some of [references.slice(-LOOKED_AT_FIRST), references])
        while (!(await areAllPaid(some))) {
          if (performance.now() > untilMs) throw new Error(`${name} lost payments`);
          await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
        }
    },
    residentBytes: async () => {
      const status = await readFile(`/proc/${child.pid ?? 0}/status`, 'utf8').catch(() => '');
      const bytesOf = (field: string): number =>
        Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1_024;
      return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
    },
    stop: async () => {
      await looker.end();
      await end(child);
    },
  };
}

/** Starts a process and waits until it says where it listens, or that it is ready. */
export async function start(
  file: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd = process.cwd(),
  flags: readonly string[] = [],
): Promise<{ child: ChildProcess; origin: string }> {
  const child = spawn(process.execPath, ['--import', TSX, ...flags, pathOf(file), ...args], {
    cwd,
    env: { PATH: process.env.PATH, TSX_TSCONFIG_PATH: pathOf('../../tsconfig.json'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const ready = /listening (http:\S+)|Stop with Ctrl-C/;
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (ready.test(said)) resolve();
    });
    child.once('exit', (code) => {
      reject(new Error(`${file} ended with ${code ?? 'a signal'}`));
    });
  });
  return { child, origin: ready.exec(said)?.[1] ?? '' };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

export async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
