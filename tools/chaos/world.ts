import { createHmac } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SANDBOX_TEST_KEY, SANDBOX_WEBHOOK_SECRET } from '../../local/sandbox/keys.ts';
import { passTimeSql } from '../../test/support/pass-time.ts';
import { startReleaseReceiver, type ReleaseReceiver } from '../../test/support/release-receiver.ts';
import { ask } from './ask.ts';
import { freePort } from '../../test/support/ports.ts';
import type { ChaosPostgres } from './postgres.ts';
import { startChild, until, type Child } from './child.ts';
import { startFront, type Front } from './front.ts';
import { startNode, type Node } from './node.ts';
import { NODES, type NodeName, type Plan } from './plan.ts';
import type { Tree } from './tree.ts';

/** A whole shop in processes of its own, and hands on all of it. */
export type World = {
  folder: string;
  postgres: ChaosPostgres;
  databaseUrl: string;
  front: Front;
  service: { url: string; process: Child };
  receiver: ReleaseReceiver;
  nodes: Record<NodeName, Node>;
  /** The environment of a command that is run beside them. */
  env: Record<string, string>;
  /** A request at the shop's door. Null: the connection broke before an answer came. */
  call(
    method: string,
    path: string,
    body?: object | string,
    headers?: Record<string, string>,
  ): Promise<Answer | null>;
  /** A webhook as the service would send it, or as a stranger would. */
  webhook(reference: string, word: string, secret?: string): Promise<Answer | null>;
  /** A person's hand at the stand-in. */
  hand(path: string, body?: object): Promise<unknown>;
  query<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]>;
  /** Everything that waits for a time waits so much less; nobody's clock is touched. */
  letTimePass(seconds: number): Promise<void>;
  close(): Promise<void>;
};

/** Three processes start at once, on a machine that may be busy with something else. */
export const START_MS = 240_000;

export type Answer = { status: number; body: string };

/** @param tree what its processes run at first */
export async function createWorld(postgres: ChaosPostgres, plan: Plan, tree: Tree): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'integrator-chaos-')));
  const databaseUrl = await postgres.newDatabase(`chaos_${plan.seed}_${Date.now()}`, tree);
  const receiver = await startReleaseReceiver();
  const ports = [await freePort(), await freePort()];
  const front = await startFront(ports);
  const service = await startService(folder, `${front.url}/webhooks/payments`);
  const env = {
    GATEWAY_SECRET_KEY: SANDBOX_TEST_KEY,
    GATEWAY_CALLS_PER_SECOND: '0',
    WEBHOOK_SECRETS: SANDBOX_WEBHOOK_SECRET,
    PUBLIC_URL: front.url,
    CHECKOUTS_PER_MINUTE: '0',
    RECONCILE_EVERY_MIN: '0',
    LOG_LEVEL: 'debug',
  };
  const own: Record<NodeName, Record<string, string>> = {
    'node-a': { PORT: String(ports[0]) },
    'node-b': { PORT: String(ports[1]), WORKER: 'off' },
    worker: {},
  };
  const nodes = Object.fromEntries(
    await Promise.all(
      NODES.map(async (name) => [
        name,
        await startNode({
          name,
          cwd: folder,
          env: { ...env, ...own[name] },
          clockMs: plan.clocks[name],
          tree,
          databaseUrl,
          serviceUrl: service.url,
          receiver: receiver.env,
        }),
      ]),
    ),
  ) as Record<NodeName, Node>;
  const all = Object.values(nodes);
  const close = async (): Promise<void> => {
    for (const node of all) await node.close();
    service.process.signal('SIGCONT');
    await service.process.end('SIGKILL');
    await front.close();
    await receiver.close();
    await postgres.dropDatabase(databaseUrl).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  if (!(await until(() => Promise.resolve(all.every((node) => node.isReady())), START_MS))) {
    await close();
    throw new Error(`the shop does not start:\n${all.map((node) => node.said()).join('\n')}`);
  }
  const query: World['query'] = (text, ...values) => ask(databaseUrl, text, values);
  return {
    folder,
    postgres,
    databaseUrl,
    front,
    service,
    receiver,
    nodes,
    env: { ...env, DATABASE_URL: databaseUrl, GATEWAY_URL: service.url, ...receiver.env },
    ...handsOn(front.url, service.url),
    query,
    letTimePass: async (seconds) => {
      await query(passTimeSql('all'), seconds);
      await query(`SELECT pg_notify('due', '')`);
    },
    close,
  };
}

async function startService(folder: string, webhookUrl: string): Promise<World['service']> {
  const args = ['--port', '0', '--data', 'none', '--webhook-url', webhookUrl];
  const child = startChild('local/sandbox/main.ts', { cwd: folder, args });
  const url = (await child.says(/^Payment sandbox +(http:\S+)/m))?.[1];
  if (url === undefined) throw new Error(`the stand-in does not start: ${child.said()}`);
  return { url, process: child };
}

function handsOn(shopUrl: string, serviceUrl: string): Pick<World, 'call' | 'webhook' | 'hand'> {
  const call: World['call'] = async (method, path, body, headers = {}) => {
    try {
      const answer = await fetch(`${shopUrl}${path}`, {
        method,
        redirect: 'manual',
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return null;
    }
  };
  return {
    call,
    webhook: (reference, word, secret = SANDBOX_WEBHOOK_SECRET) => {
      const body = JSON.stringify({ event: 'payment', data: { reference, status: word } });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return call('POST', '/webhooks/payments', body, { 'x-signature': signature });
    },
    hand: async (path, body) => {
      const answer = await fetch(`${serviceUrl}/sandbox/${path}`, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      return answer.status === 204 ? null : ((await answer.json()) as unknown);
    },
  };
}
