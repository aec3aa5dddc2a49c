import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.ts';
import { makeDue } from '../payments/due.ts';
import { digestOf } from '../platform/ids.ts';
import { parseJson } from '../platform/json.ts';
import type { PrismaClient } from '../platform/prisma/client.ts';
import type { Secret } from '../platform/secret.ts';

export type ReceiveParts = {
  prisma: PrismaClient;
  gateway: Gateway;
  secrets: readonly Secret[];
  onDue: () => void;
  logger: Logger;
};

type Call = { headers: IncomingHttpHeaders; body: Buffer; address: string };

/** `stored`: the webhook is on disk, and the payments that it names are due. */
export type Receipt = 'stored' | 'bad-signature' | 'malformed-request';

/**
 * Whether the service signs its webhooks and we check the signatures. If not, anybody can send
 * webhooks.
 */
export function areSigned({ gateway, secrets }: Pick<ReceiveParts, 'gateway' | 'secrets'>): boolean {
  return secrets.length > 0 && gateway.adapter.webhook.signature !== null;
}

/**
 * Receives a webhook and stores it without our key. The payments of ours that it names become due.
 * Nothing in it is believed.
 */
export async function receiveWebhook(parts: ReceiveParts, { headers, body, address }: Call): Promise<Receipt> {
  const signed = areSigned(parts);
  if (signed && !isSigned(parts, headers, body)) return 'bad-signature';
  const text = body.toString('utf8');
  const document = parseBody(text, headers['content-type'] ?? '');
  if (document === undefined) return 'malformed-request';
  const parsed = referencesIn(parts, document).map((one) => parts.gateway.references.parse(one));
  const named = [...new Set(parsed.filter((one) => one !== null))];
  const ours = signed ? await takeSigned(parts, text, named, address) : await takeUnsigned(parts, text, named, address);
  if (ours.length > 0) parts.onDue();
  return 'stored';
}

/** No service puts more events into one webhook. */
const MAX_REFERENCES = 100;

type Kept = { digest: Uint8Array<ArrayBuffer>; text: string; references: string[]; signature: 'signed' | 'unsigned' };

/**
 * Stores a webhook without our key. If the digest is known, it counts one more.
 * @returns how often the webhook came, including this time
 */
async function keep({ prisma, gateway }: ReceiveParts, kept: Kept, address: string): Promise<number> {
  const { mode } = gateway;
  const { digest, references, signature } = kept;
  const body = new Uint8Array(Buffer.from(gateway.redact(kept.text)));
  const { times } = await prisma.webhook.upsert({
    where: { mode_digest: { mode, digest } },
    // With `set`: Prisma would compile a plain list anew for each webhook, which took half of the
    // time.
    create: { mode, digest, body, paymentReferences: { set: references }, signature, address },
    update: { times: { increment: 1 }, lastAt: new Date() },
    select: { times: true },
  });
  return times;
}

/** Stores a signed webhook whole, once. If it is new, its payments are verified at once. */
async function takeSigned(parts: ReceiveParts, text: string, named: string[], address: string): Promise<string[]> {
  const references = named.slice(0, MAX_REFERENCES);
  const times = await keep(parts, { digest: digestOf(text), text, references, signature: 'signed' }, address);
  return makeDue(parts.prisma, parts.gateway.mode, references, { isNews: times === 1 });
}

/** The most payments that one unsigned webhook makes due. */
const MAX_UNSIGNED_DUE = 3;
const MINUTE_MS = 60_000;

/**
 * Anybody can send an unsigned webhook, so the program limits the work and the bytes that it
 * causes. It makes at most three payments due, and a sample of it is stored in one row for each
 * payment and minute.
 */
async function takeUnsigned(parts: ReceiveParts, text: string, named: string[], address: string): Promise<string[]> {
  const { prisma, gateway } = parts;
  const most = MAX_UNSIGNED_DUE;
  const ours = await makeDue(prisma, gateway.mode, named.slice(0, MAX_REFERENCES), { most });
  const digest = digestOf(['unsigned', ours.toSorted()[0] ?? null, Math.floor(Date.now() / MINUTE_MS)]);
  const sample = text.slice(0, SAMPLE_LENGTH);
  await keep(parts, { digest, text: sample, references: ours, signature: 'unsigned' }, address);
  return ours;
}

function isSigned({ gateway, secrets }: ReceiveParts, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { webhook } = gateway.adapter;
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const now = new Date();
  // After a rotation, retries still use the old secret, so try each secret. If the adapter throws,
  // there is no valid signature.
  return secrets.some((secret) => {
    try {
      return webhook.signature?.({ headers: plain, body, secret: secret.reveal(), now }) === true;
    } catch {
      return false;
    }
  });
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;
/** The first field of a form: `reference=`. */
const FIRST_FIELD = /^[\w.%+[\]-]+=\S*$/;

/**
 * Parses JSON or a form by its bytes, because services send either under any content type.
 * undefined: neither.
 */
function parseBody(text: string, contentType: string): unknown {
  const bare = text.replace(/^\uFEFF/, '');
  const json = parseJson(bare);
  if (json !== undefined) return typeof json.value === 'object' && json.value !== null ? json.value : undefined;
  const isForm = FORM_TYPE.test(contentType) || FIRST_FIELD.test(bare);
  return isForm ? Object.fromEntries(new URLSearchParams(bare)) : undefined;
}

function referencesIn({ gateway, logger }: ReceiveParts, document: unknown): readonly string[] {
  try {
    return gateway.adapter.webhook.references(document);
  } catch (error) {
    logger.warn({ err: error }, 'the adapter cannot read the references of a webhook');
    return [];
  }
}

/**
 * Counts a refused webhook by reason and minute, and keeps the newest one as a sample. A failure
 * here must not fail the answer.
 */
export async function noteRefused(
  { prisma, gateway }: ReceiveParts,
  reason: string,
  body: Buffer | null,
  address: string,
): Promise<void> {
  const now = new Date();
  const { mode } = gateway;
  const digest = digestOf(['refused', reason, Math.floor(now.getTime() / 60_000)]);
  const sample =
    body === null
      ? null
      : new Uint8Array(Buffer.from(gateway.redact(body.subarray(0, SAMPLE_LENGTH).toString('utf8'))));
  const newest = { body: sample, address };
  await prisma.webhook.upsert({
    where: { mode_digest: { mode, digest } },
    create: { ...newest, mode, digest, reason, signature: 'refused', paymentReferences: [] },
    update: { ...newest, times: { increment: 1 }, lastAt: now },
  });
}

/** The characters of a sample: enough to show a person the sender and the content. */
const SAMPLE_LENGTH = 2_048;
