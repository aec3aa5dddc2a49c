import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { ServiceAdapter } from '../src/gateway/adapter.ts';
import { Unanswered } from '../src/gateway/errors.ts';
import type { Mode } from '../src/gateway/evidence.ts';
import { createGateway, type Gateway } from '../src/gateway/gateway.ts';
import { createLogger } from '../src/platform/logger.ts';
import { formatMajor } from '../src/platform/money.ts';
import { Secret } from '../src/platform/secret.ts';
import { readPages } from '../src/reconciliation/history.ts';
import { readRow } from '../src/reconciliation/row.ts';

/*
 * Answers of the service with what the adapter must read from each:
 * src/custom/service.examples.json. The answers are sent over HTTP and read by the program's own
 * gateway, so an example shows what the program would have read.
 */

export const EXAMPLES_FILE = new URL('../src/custom/service.examples.json', import.meta.url);

const asked = z.strictObject({ reference: z.string(), mode: z.enum(['test', 'live']) });
const common = {
  name: z.string(),
  /** True if `npm run probe -- --record` wrote the example, and may replace it. */
  recorded: z.literal(true).optional(),
  /** The payment that verify was asked about, if it differs from the file's own. */
  asked: asked.optional(),
  reads: z.unknown(),
};
const answered = z.strictObject({ ...common, status: z.int().default(200), answer: z.unknown() });
const FILE = z.strictObject({
  about: z.array(z.string()).optional(),
  asked,
  initialize: z.array(answered).min(1),
  verify: z.array(answered.extend({ otherWords: z.array(z.string()).optional() })).min(1),
  history: z.array(z.strictObject({ ...common, path: z.string(), page: z.unknown() })).min(1),
  webhooks: z.array(z.strictObject({ ...common, body: z.unknown() })),
  signatures: z.array(
    z.strictObject({
      ...common,
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      secret: z.string(),
      time: z.iso.datetime().default('2026-01-01T00:00:00Z'),
    }),
  ),
});

export type Examples = z.infer<typeof FILE>;
export type Section = Exclude<keyof Examples, 'about' | 'asked'>;
export type Asked = z.infer<typeof asked>;
export const SECTIONS: readonly Section[] = ['initialize', 'verify', 'history', 'webhooks', 'signatures'];

/** @throws {Error} that names what is missing or misspelt in the file */
export function loadExamples(file: URL | string = EXAMPLES_FILE): Examples {
  const read = FILE.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!read.success)
    throw new Error(`src/custom/service.examples.json has a wrong format:\n${z.prettifyError(read.error)}`);
  return read.data;
}

/** Reads answers as the program does, one call at a time. */
export type Reader = {
  initialize(example: Examples['initialize'][number], about: Asked): Promise<unknown>;
  verify(example: Examples['verify'][number], about: Asked): Promise<unknown>;
  history(example: Examples['history'][number], about: Asked): Promise<unknown>;
  webhooks(example: Examples['webhooks'][number], about: Asked): unknown;
  signatures(example: Examples['signatures'][number]): unknown;
  close(): Promise<void>;
};

export async function openReader(adapter: ServiceAdapter): Promise<Reader> {
  let next: { status: number; answer: unknown } = { status: 200, answer: null };
  const server = createServer((_req, res) => {
    res.writeHead(next.status, { 'content-type': 'application/json' }).end(JSON.stringify(next.answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const gatewayOf = (mode: Mode): Gateway => {
    const key = new Secret(`sk_${mode}_${randomBytes(16).toString('hex')}`);
    const limits = { callsPerSecond: 0, concurrency: 1, logger: createLogger('silent') };
    const checks = { adapterVersion: 'examples', onAdapterFault: () => undefined };
    return createGateway({ url, key, mode, adapter, checkoutHosts: [], ...limits, ...checks });
  };
  const gateways = { test: gatewayOf('test'), live: gatewayOf('live') };
  return {
    // In test mode, an address may have any public host. In live mode, CHECKOUT_HOSTS restricts it,
    // which does not matter here.
    initialize: (example, { reference }) => {
      next = example;
      return readInitialize(gateways.test, reference);
    },
    verify: (example, about) => {
      next = example;
      return readVerify(gateways[about.mode], about.reference, example.answer);
    },
    history: (example, { mode }) => {
      next = { status: 200, answer: example.page };
      return readHistory(gateways[mode], example.path);
    },
    webhooks: ({ body }, { mode }) => readWebhook(gateways[mode], body),
    signatures: (example) => readSignature(adapter, example),
    close: async () => {
      await Promise.all([gateways.test.close(), gateways.live.close()]);
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readInitialize(gateway: Gateway, reference: string): Promise<unknown> {
  const money = { amount: 850_000n, currency: 'NGN' };
  const redirectUrl = 'https://shop.example/return';
  const result = await gateway.initialize({ email: 'payer@example.com', money, reference, redirectUrl });
  if (result.outcome === 'opened') return { address: result.checkoutUrl };
  return result.outcome === 'refused' ? { refused: result.reason } : result.outcome;
}

async function readVerify(gateway: Gateway, reference: string, answer: unknown): Promise<unknown> {
  try {
    const evidence = await gateway.verify(reference, 'interactive');
    const { outcome, word, amount, refunded, currency, serviceId, doubt } = evidence;
    if (outcome === 'not_found' || outcome === 'unreadable') return outcome;
    const mode = gateway.adapter.read(gateway.adapter.verify.record(answer))?.mode;
    const [paid, back] = [decimal(amount, currency), decimal(refunded, currency)];
    return { outcome, word, amount: paid, refunded: back, id: serviceId, mode, doubt };
  } catch (error) {
    if (error instanceof Unanswered) return 'unanswered';
    throw error;
  }
}

async function readHistory(gateway: Gateway, path: string): Promise<unknown> {
  const pages = readPages(gateway, gateway.adapter.history, { path, number: 1 });
  const page = await pages.next();
  await pages.return(null);
  if (page.done === true) return 'unreadable';
  return { rows: page.value.rows.map((row) => rowOf(row, gateway)), next: page.value.next?.path };
}

function rowOf(row: unknown, gateway: Gateway): unknown {
  const read = readRow(row, gateway);
  if ('unreadable' in read) return 'unreadable';
  if (read.row === null) return 'aside';
  const { reference, status, word, received, outflow, currency, transactionId } = read.row;
  const isMoney = received !== 0n || outflow !== 0n;
  return {
    reference,
    outcome: status,
    word,
    id: transactionId,
    shows: isMoney ? decimal(received - outflow, currency) : null,
    gone: outflow === 0n ? null : decimal(outflow, currency),
    aside: read.aside ? true : null,
  };
}

function readWebhook({ adapter, references }: Gateway, body: unknown): unknown {
  const named = adapter.webhook.references(body).map((one) => references.parse(one));
  return [...new Set(named.filter((one) => one !== null))];
}

function readSignature(adapter: ServiceAdapter, example: Examples['signatures'][number]): unknown {
  const { headers, body, secret, time } = example;
  const { signature } = adapter.webhook;
  if (signature === null) return 'not checked';
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return signature({ headers: lower, body: Buffer.from(body), secret, now: new Date(time) }) ? 'valid' : 'invalid';
}

function decimal(amount: bigint | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : `${formatMajor({ amount, currency })} ${currency}`;
}

/**
 * Reads all examples of a section.
 * @returns a line for each example and member that is read differently
 */
export async function differencesIn(section: Section, examples: Examples, reader: Reader): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, example] of examples[section].entries()) {
    for (const { title, variant, expected } of variantsOf(section, example)) {
      const read = await readOne(section, variant, example.asked ?? examples.asked, reader);
      const where = `${section}[${index}] "${title}"`;
      lines.push(...differences(expected, read).map((line) => `${where}: ${line}`));
    }
  }
  return lines;
}

/** What an example is read as. If the adapter throws, it is the error. */
export async function readOne(section: Section, example: unknown, about: Asked, reader: Reader): Promise<unknown> {
  try {
    const read = reader[section] as (one: unknown, about: Asked) => unknown;
    return tidy(await read(example, about));
  } catch (error) {
    return `an error: ${String(error)}`;
  }
}

type Variant = { title: string; variant: unknown; expected: unknown };

/** The example itself, and the same answer with each of its other status words. */
function variantsOf(section: Section, example: Examples[Section][number]): Variant[] {
  const own = { title: example.name, variant: example, expected: example.reads };
  if (section !== 'verify' || !('otherWords' in example)) return [own];
  const { word } = example.reads as { word: string };
  const others = (example.otherWords ?? []).map((other) => ({
    title: `${example.name}, with the word ${other}`,
    variant: { ...example, answer: withWord(example.answer, word, other) },
    expected: { ...(example.reads as object), word: other },
  }));
  return [own, ...others];
}

function withWord(answer: unknown, word: string, other: string): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(JSON.stringify(word), JSON.stringify(other)));
}

/** Removes members that are null or undefined, because an example omits what is not read. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, tidy(one)]));
}

function differences(expected: unknown, read: unknown, path = ''): string[] {
  const [ours, theirs] = [tidy(expected), tidy(read)];
  if (isTree(ours) && isTree(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
    return names.flatMap((name) => differences(ours[name], theirs[name], path === '' ? name : `${path}.${name}`));
  }
  const [says = '', is = ''] = [ours, theirs].map((one) => (one === undefined ? 'nothing' : JSON.stringify(one)));
  if (says === is) return [];
  return [`${path === '' ? 'it' : path} should be read as ${says}, and is read as ${is}`];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
