import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../platform/secret.ts';
import type { SignatureScheme } from './dialect.ts';

/**
 * Whether one of `secrets` signed these bytes. Two secrets overlap while a secret is rotated: retries of old
 * webhooks still carry the old signature. Compares digests in constant time and takes any header without throwing.
 * @param headers lower-case names; a repeated header is a list and matches nothing
 */
export function isSignedBy(
  secrets: readonly Secret[],
  scheme: SignatureScheme,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
  nowSec: number,
): boolean {
  const given = decode(headers[scheme.header.toLowerCase()], scheme);
  if (given === null) return false;
  const timestamp = scheme.timestampHeader === null ? null : headers[scheme.timestampHeader.toLowerCase()];
  if (timestamp !== null && !isRecent(timestamp, scheme.toleranceSec, nowSec)) return false;
  const signed = scheme.signs === 'body' ? body : Buffer.concat([Buffer.from(`${String(timestamp)}.`), body]);
  return secrets.some((secret) => {
    const expected = createHmac(scheme.algorithm, secret.reveal()).update(signed).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}

function decode(header: string | string[] | undefined, scheme: SignatureScheme): Buffer | null {
  if (typeof header !== 'string' || header.length > 512 || !header.startsWith(scheme.prefix)) return null;
  const text = header.slice(scheme.prefix.length).trim();
  const shape = scheme.encoding === 'hex' ? /^[0-9a-fA-F]+$/ : /^[A-Za-z0-9+/]+={0,2}$/;
  return shape.test(text) ? Buffer.from(text, scheme.encoding) : null;
}

/** Seconds or milliseconds since 1970, within the tolerance on both sides of now: clocks differ. */
function isRecent(timestamp: string | string[] | undefined, toleranceSec: number, nowSec: number): boolean {
  if (typeof timestamp !== 'string' || !/^\d{10}(\d{3})?$/.test(timestamp)) return false;
  const sec = timestamp.length === 13 ? Number(timestamp) / 1_000 : Number(timestamp);
  return Math.abs(nowSec - sec) <= toleranceSec;
}
