import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createLogger } from '../../../src/platform/logger.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../local/sandbox/sandbox.ts';

export const SECRET = 'whsec_of_this_test';

const cleanUps: (() => Promise<unknown>)[] = [];

/** Has `undo` called when the test is over. */
export function onCleanUp(undo: () => Promise<unknown>): void {
  cleanUps.push(undo);
}

/** For `afterEach`: closes what the test opened, newest first. */
export async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

type Settings = Partial<Omit<SandboxOptions, 'webhook'>> & { webhookUrl?: string | null };

export async function start({ webhookUrl = null, ...settings }: Settings = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    logger: createLogger('silent'),
    webhook: { url: webhookUrl, secret: SECRET, pausesMs: [5] },
    ...settings,
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await sandbox.close();
    isOpen = false;
  };
  cleanUps.push(close);
  return { ...sandbox, close };
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export type Reply = { status: number; text: string; json: () => ReplyBody };
export type ReplyBody = { status: boolean; message: string; code: number; data: unknown };

async function reply(response: Response): Promise<Reply> {
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) as ReplyBody };
}

/** The six fields as JSON text, so that a test decides on every digit of the amount. */
export function orderText(changes: Record<string, string> = {}): string {
  const fields: Record<string, string> = {
    email: '"ada@example.com"',
    amount: '25.00',
    localCurrency: '"NGN"',
    amountCurrency: '"local"',
    reference: '"order-1"',
    redirectUrl: '"https://shop.example/back"',
    ...changes,
  };
  return `{${Object.entries(fields)
    .map(([name, json]) => `"${name}":${json}`)
    .join(',')}}`;
}

export async function initialize(
  sandbox: Sandbox,
  changes: Record<string, string> = {},
  key = sandbox.testKey,
): Promise<Reply> {
  return reply(
    await fetch(`${sandbox.url}/v1/transactions/initialize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: orderText(changes),
    }),
  );
}

/** Opens a checkout that must succeed, and gives its address. */
export async function openCheckout(
  sandbox: Sandbox,
  reference: string,
  changes: Record<string, string> = {},
): Promise<string> {
  const opened = await initialize(sandbox, { ...changes, reference: JSON.stringify(reference) });
  if (opened.status !== 200) throw new Error(opened.text);
  return String(opened.json().data);
}

/** GET under /v1. */
export async function ask(sandbox: Sandbox, path: string, key = sandbox.testKey): Promise<Reply> {
  return reply(await fetch(`${sandbox.url}/v1/transactions/${path}`, { headers: { 'x-api-key': key } }));
}

/** A control route: POST with a body, GET without one. */
export async function control(sandbox: Sandbox, path: string, body?: object): Promise<Reply> {
  const post = { method: 'POST', body: JSON.stringify(body) };
  return reply(await fetch(`${sandbox.url}/sandbox/${path}`, body === undefined ? {} : post));
}

/** The state word and amount text that verify answers, as they stand on the wire. */
export async function verified(
  sandbox: Sandbox,
  reference: string,
): Promise<{ status: string; amount: string }> {
  const { text } = await ask(sandbox, `verify/${reference}`);
  return {
    status: /"status":"(\w+)"/.exec(text)?.[1] ?? text,
    amount: /"amount":([^,}]+)/.exec(text)?.[1] ?? text,
  };
}

export type Hook = { body: string; headers: IncomingHttpHeaders };

export type Receiver = { url: string; hooks: Hook[]; close(): Promise<void> };

/** A server that writes down what it is sent and answers with what `statusOf` says (200). */
export async function receiver(
  statusOf: (hook: Hook, count: number) => number | Promise<number> = () => 200,
): Promise<Receiver> {
  const hooks: Hook[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const hook = { body: Buffer.concat(chunks).toString('utf8'), headers: req.headers };
      hooks.push(hook);
      void Promise.resolve(statusOf(hook, hooks.length)).then((status) => res.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => {
        resolve();
      });
    });
  cleanUps.push(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, hooks, close };
}

/** Asks again and again until it is true; gives up by the time-out of the test runner. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
}
