import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { Gateway } from '../gateway/gateway.ts';
import { hint } from '../payments/due.ts';
import { digestOf } from '../platform/ids.ts';
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

/** `stored`: it is on disk, and what it names is due. */
export type Receipt = 'stored' | 'bad-signature' | 'malformed-request';

/**
 * Receives a webhook. Its text is kept, without our key, and payments of ours that it names become due. Nothing that it
 * says is believed, so a forged one costs a row, and of each payment that it names at most one question.
 */
export async function receiveWebhook(parts: ReceiveParts, { headers, body, address }: Call): Promise<Receipt> {
  const { prisma, gateway, secrets, onDue } = parts;
  const { mode, adapter, references } = gateway;
  const signed = secrets.length > 0 && adapter.webhook.signature !== null;
  if (signed && !isSigned(parts, headers, body)) return 'bad-signature';
  const text = body.toString('utf8');
  const document = parseBody(text, headers['content-type'] ?? '');
  if (document === undefined) return 'malformed-request';
  const named = referencesIn(parts, document).map((one) => references.parse(one));
  const paymentReferences = [...new Set(named.filter((one) => one !== null))].slice(0, MAX_REFERENCES);
  // An unsigned one about nothing can come from anybody, and must not fill the disk.
  const ours = await hint(prisma, mode, paymentReferences);
  const kept = new Uint8Array(Buffer.from(gateway.redact(signed || ours > 0 ? text : text.slice(0, SAMPLE_LENGTH))));
  const digest = digestOf(text);
  const signature = signed ? 'signed' : 'unsigned';
  await prisma.webhook.upsert({
    where: { mode_digest: { mode, digest } },
    // By `set`: as a plain list it would be compiled anew for each webhook, which took half of the time.
    create: { mode, digest, body: kept, paymentReferences: { set: paymentReferences }, signature, address },
    update: { times: { increment: 1 }, lastAt: new Date() },
    select: { id: true },
  });
  if (ours > 0) onDue();
  return 'stored';
}

/** No service puts more events into one webhook. */
const MAX_REFERENCES = 100;

function isSigned({ gateway, secrets }: ReceiveParts, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { signature } = gateway.adapter.webhook;
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const now = new Date();
  // Rotation: retries keep the old secret, so each of them may fit. What an adapter throws is no signature.
  return secrets.some((secret) => {
    try {
      return signature?.({ headers: plain, body, secret: secret.reveal(), now }) === true;
    } catch {
      return false;
    }
  });
}

/** JSON or a form; undefined: neither. */
function parseBody(text: string, contentType: string): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return Object.fromEntries(new URLSearchParams(text));
  try {
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

function referencesIn({ gateway, logger }: ReceiveParts, document: unknown): readonly string[] {
  try {
    return gateway.adapter.webhook.references(document);
  } catch (error) {
    logger.warn({ err: error }, 'the adapter cannot read the references of a webhook');
    return [];
  }
}

/** Counts a refused webhook, by reason and minute, and keeps the newest as a sample. Never fails the answer. */
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

/** Characters that show a person who sent it, and what. */
const SAMPLE_LENGTH = 2_048;
