import { startSandbox, type Sandbox } from '../../local/sandbox/sandbox.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';
import { startProcess, type Line, type Running } from './process.ts';
import { openTerminal, type Ran, type Terminal } from './terminal.ts';

/** Test keys that open nothing anywhere. */
export const TEST_KEY = 'sk_test_no_real_money';
export const WEBHOOK_SECRET = 'webhooks_of_no_real_money';

/** A busy machine starts programs slowly. */
const START_MS = 60_000;

export type Reply<Body = unknown> = { status: number; headers: Headers; body: Body };

export type RequestOptions = {
  json?: unknown;
  form?: Record<string, string>;
  /** Sent unchanged. */
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** Default: a redirect is returned, not followed. */
  redirect?: 'follow' | 'manual';
};

export type Checkout = {
  orderId: string;
  reference: string;
  status: string;
  amount: string;
  currency: string;
  checkoutUrl: string;
};

export type ShopOptions = {
  /**
   * Default: a migrated database of its own. Stopping the shop drops the database in both cases.
   */
  database?: TestDatabase;
  env?: Record<string, string>;
  /** How many servers share the database. */
  processes?: number;
  /** Default: a sandbox is started unless `gatewayUrl` names a service. */
  sandbox?: boolean;
  gatewayUrl?: string;
  /** false: only requests cause work. */
  worker?: boolean;
};

export type Shop = {
  /** The URL of the first process. The URLs stay the same over `restart`. */
  url: string;
  urls: string[];
  sandbox: Sandbox | null;
  database: TestDatabase;
  /**
   * @param path or the whole URL of another process; the body is parsed if it is JSON, else it is
   * text
   */
  request<Body = unknown>(method: string, path: string, options?: RequestOptions): Promise<Reply<Body>>;
  /** @param input changes to an order of one tote by Ada @throws unless the checkout is opened */
  checkout(input?: Record<string, unknown>): Promise<Checkout>;
  /**
   * Controls the sandbox.
   * @param path below /sandbox
   * @returns its answer
   * @throws unless it is 2xx
   */
  sandboxPost<Body = unknown>(path: string, json?: unknown): Promise<Body>;
  sandboxGet<Body = unknown>(path: string): Promise<Body>;
  /** Runs a command beside the shop. @param env added to the URLs and keys of the shop */
  command(words: readonly string[], env?: Record<string, string>): Promise<Ran>;
  /** The log of all processes, ended ones included. */
  logs(): Line[];
  /** Ends all processes by a signal, and waits. @returns how each ended */
  kill(signal: NodeJS.Signals): Promise<(number | NodeJS.Signals)[]>;
  /** Ends all processes and starts them again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts the real program on a database of its own, against a sandbox that runs in this process.
 * @throws with its output, when it does not start
 */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const { processes = 1, gatewayUrl, sandbox: wantsSandbox = gatewayUrl === undefined } = options;
  const ports: number[] = [];
  while (ports.length < processes) ports.push(await freePort());
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const [url = ''] = urls;
  const database = options.database ?? (await cloneDatabase());
  const sandbox = wantsSandbox
    ? await startSandbox({ key: TEST_KEY, webhookUrl: `${url}/webhooks/payments`, webhookSecret: WEBHOOK_SECRET })
    : null;
  const all: Running[] = [];
  let running: Running[] = [];

  const places = {
    PUBLIC_URL: url,
    DATABASE_URL: database.url,
    GATEWAY_URL: gatewayUrl ?? sandbox?.url ?? 'http://127.0.0.1:9',
    GATEWAY_SECRET_KEY: TEST_KEY,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
  };
  const terminals = new Map<string, Terminal>();
  const kill: Shop['kill'] = (signal) => Promise.all(running.map((one) => one.kill(signal)));
  const stop = async () => {
    for (const terminal of terminals.values()) await terminal.close();
    await kill('SIGTERM');
    await sandbox?.close();
    await database.drop();
  };
  const start = async () => {
    running = ports.map((port) =>
      startProcess('src/server.ts', {
        HOST: '127.0.0.1',
        PORT: String(port),
        ...places,
        WORKER: options.worker === false ? 'off' : 'inline',
        CHECKOUTS_PER_MINUTE: '0',
        // Tests start reconciliation themselves.
        RECONCILE_EVERY_MIN: '0',
        ...options.env,
      }),
    );
    all.push(...running);
    await Promise.all(running.map(isReady));
  };

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const request: Shop['request'] = (method, path, more) => send(new URL(path, url), method, more);
  return {
    url,
    urls,
    sandbox,
    database,
    request,
    checkout: async (input) => {
      const basket = { email: 'ada@example.com', items: [{ sku: 'ankara-tote', quantity: 1 }], ...input };
      const { status, body } = await request<Checkout>('POST', '/checkout', { json: basket });
      if (status !== 201) throw new Error(`the checkout was answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    sandboxPost: (path, json = {}) => control(sandbox, 'POST', path, { json }),
    sandboxGet: (path) => control(sandbox, 'GET', path),
    command: (words, env = {}) => {
      const key = JSON.stringify(env);
      const terminal = terminals.get(key) ?? openTerminal({ ...places, ...env });
      terminals.set(key, terminal);
      return terminal.run(words);
    },
    logs: () => all.flatMap((one) => one.lines()),
    kill,
    restart: async () => {
      await kill('SIGTERM');
      await start();
    },
    stop,
  };
}

async function isReady(one: Running): Promise<void> {
  const isUp = () => one.lines().some(({ msg }) => msg === 'ready');
  const how = await eventually(() => one.ended() ?? (isUp() ? 'up' : null), START_MS);
  if (how === 'up') return;
  const said = one.lines().map((line) => JSON.stringify(line));
  throw new Error(`the program ended with ${how}:\n${said.join('\n')}\n${one.stderr()}`);
}

async function send<Body>(url: URL, method: string, options: RequestOptions = {}): Promise<Reply<Body>> {
  const { json, form, body = null, headers = {}, redirect = 'manual' } = options;
  const answer = await fetch(url, {
    method,
    redirect,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: form ? new URLSearchParams(form) : json === undefined ? body : JSON.stringify(json),
  });
  const text = await answer.text();
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '');
  return { status: answer.status, headers: answer.headers, body: (isJson ? JSON.parse(text) : text) as Body };
}

async function control<Body>(
  sandbox: Sandbox | null,
  method: string,
  path: string,
  options?: RequestOptions,
): Promise<Body> {
  if (sandbox === null) throw new Error('this shop has no sandbox');
  const { status, body } = await send<Body>(new URL(`${sandbox.url}/sandbox${path}`), method, options);
  if (status >= 300) throw new Error(`the sandbox answered ${status} to ${path}: ${JSON.stringify(body)}`);
  return body;
}
