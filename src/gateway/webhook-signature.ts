import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../platform/secret.ts';
import type { SignatureScheme } from './dialect/dialect.ts';

type Headers = Record<string, string | string[] | undefined>;

/** Longer headers cannot be signatures. */
const MAX_LENGTH = 512;

/**
 * Whether one of `secrets` signed these bytes. Two secrets overlap while a secret is rotated: retries of
 * old webhooks still carry the old signature. Compares digests in constant time and never throws,
 * whatever the headers hold.
 * @param headers lower-case names; a repeated header is a list and matches nothing
 */
export function isSignedBy(
  secrets: readonly Secret[],
  scheme: SignatureScheme,
  headers: Headers,
  body: Buffer,
  nowSec: number,
): boolean {
  const header = headers[scheme.header.toLowerCase()];
  if (typeof header !== 'string' || header.length > MAX_LENGTH) return false;
  const { signatures, timestamp } = partsOf(header, scheme, headers);
  if (scheme.scheme === 'static') return secrets.some((secret) => signatures.some(isText(secret.reveal())));
  if (timestamp !== null && !isRecent(timestamp, scheme.toleranceSec, nowSec)) return false;
  const signed = scheme.signs === 'body' ? body : Buffer.concat([Buffer.from(`${String(timestamp)}.`), body]);
  const given = signatures.map((text) => decode(text, scheme)).filter((digest) => digest !== null);
  return secrets.some((secret) => {
    const expected = createHmac(scheme.algorithm, secret.reveal()).update(signed).digest();
    return given.some((digest) => expected.length === digest.length && timingSafeEqual(expected, digest));
  });
}

/** The signatures in the header, without their prefix, and the time; null: the scheme has none. */
function partsOf(
  header: string,
  { list, prefix, timestampHeader }: SignatureScheme,
  headers: Headers,
): { signatures: string[]; timestamp: string | string[] | undefined | null } {
  const entries =
    list === null
      ? [['', header] as const]
      : header.split(',').map((entry) => {
          const at = entry.indexOf('=');
          return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()] as const;
        });
  const named = (name: string): string[] => entries.filter(([key]) => key === name).map(([, value]) => value);
  const beside = timestampHeader === null ? null : headers[timestampHeader.toLowerCase()];
  return {
    signatures: named(list?.signature ?? '')
      .filter((text) => text.startsWith(prefix))
      .map((text) => text.slice(prefix.length).trim()),
    timestamp: list === null ? beside : named(list.timestamp)[0],
  };
}

/** Compared by digest, so that the duration reveals nothing about the secret. */
function isText(secret: string): (text: string) => boolean {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
  return (text) => timingSafeEqual(digestOf(secret), digestOf(text));
}

function decode(text: string, { encoding }: SignatureScheme): Buffer | null {
  const shape = encoding === 'hex' ? /^[0-9a-fA-F]+$/ : /^[A-Za-z0-9+/]+={0,2}$/;
  return shape.test(text) ? Buffer.from(text, encoding) : null;
}

/** Seconds or milliseconds since 1970, within the tolerance on both sides of now: clocks differ. */
function isRecent(timestamp: string | string[] | undefined, toleranceSec: number, nowSec: number): boolean {
  if (typeof timestamp !== 'string' || !/^\d{10}(\d{3})?$/.test(timestamp)) return false;
  const sec = timestamp.length === 13 ? Number(timestamp) / 1_000 : Number(timestamp);
  return Math.abs(nowSec - sec) <= toleranceSec;
}
