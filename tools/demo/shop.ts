import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../../local/postgres.ts';
import { startSandbox } from '../../local/sandbox/sandbox.ts';
import { createApp } from '../../src/app.ts';
import { readInput } from '../../src/commands/command-line.ts';
import { findAction } from '../../src/commands/commands.ts';
import { openProgram } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { listen } from '../../src/http-server.ts';

/** Fixed values. They give no access to anything. */
const KEY = 'sk_test_demo_no_real_money';
const SECRET = 'a_secret_of_the_demo_no_real_money';
const TOKEN = 'a_token_of_the_demo_no_real_money';
const PATIENCE_MS = 40_000;

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** The program as it is deployed, with its own database, payment service and system of the shop. */
export async function openShop() {
  const folder = mkdtempSync(join(tmpdir(), 'integrator-demo-'));
  const postgres = await startPostgres({ folder: join(folder, 'database'), durable: false });
  const sandbox = await startSandbox({ key: KEY, webhookUrl: null, webhookSecret: SECRET });
  /** Orders whose first message the shop's system refuses. */
  const refused = new Set<string>();
  const take: RequestListener = (req, res) =>
    void json(req).then((message) => {
      res.writeHead(refused.delete((message as { data: { orderId: string } }).data.orderId) ? 503 : 204).end();
    });
  const system = await listen(take, '127.0.0.1', 0);
  const config = loadConfig({
    ...{ DATABASE_URL: postgres.url, GATEWAY_URL: sandbox.url, GATEWAY_SECRET_KEY: KEY, WEBHOOK_SECRETS: SECRET },
    ...{ SHOP_API_TOKEN: TOKEN, LOG_LEVEL: 'silent', CHECKOUTS_PER_MINUTE: '0', RECONCILE_EVERY_MIN: '0' },
    FULFILMENT_URL: `http://127.0.0.1:${system.port}/`,
    FULFILMENT_SECRET: `whsec_${Buffer.from(SECRET).toString('base64')}`,
  });
  const program = await openProgram(config);
  let url = '';
  const server = await listen(
    createApp(program, () => url),
    '127.0.0.1',
    0,
  );
  url = `http://127.0.0.1:${server.port}`;
  await post(`${sandbox.url}/sandbox/settings`, { webhookUrl: `${url}/webhooks/payments` });
  program.start(true);
  return {
    ...{ url, sandboxUrl: sandbox.url, refused, ...program, prisma: program.database.prisma },
    close: async () => {
      for (const one of [server, program, system, sandbox]) await one.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A call of the shop's own system, or of the sandbox's control.
 * @throws unless the answer is 2xx
 */
export async function post<Body>(address: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/**
 * Runs an operator's command in this process.
 * @returns its result for programs
 */
export async function command<Data>(shop: Shop, ...words: string[]): Promise<Data> {
  const found = findAction(words);
  if (found === null) throw new Error(`there is no command ${words.join(' ')}`);
  const { input, by } = readInput(found.action, found.rest, 'Ngozi');
  return (await found.action.run({ ...shop, by }, input)).data as Data;
}

/**
 * Polls until there is a result.
 * @throws if there is none in time
 */
export async function until<Seen>(what: string, look: () => Promise<Seen | null | undefined>): Promise<Seen> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const seen = await look();
    if (seen != null) return seen;
    await sleep(100);
  }
  throw new Error(`timed out while waiting until ${what}`);
}
