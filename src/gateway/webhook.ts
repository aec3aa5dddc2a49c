import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Reference } from '../platform/ids.ts';
import type { Secret } from '../platform/secret.ts';
import type { Dialect, SignatureScheme } from './dialect/dialect.ts';
import { at, firstAt, tryReadJson, stringOf } from './dialect/json-pointer.ts';
import { classOf, type StatusClass } from './records/evidence.ts';

type Header = string | string[] | undefined;
type Headers = Record<string, Header>;

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
  const signed = signedText(scheme, { body, timestamp, id: headers[scheme.idHeader?.toLowerCase() ?? ''] });
  const given = signatures.map((text) => decode(text, scheme)).filter((digest) => digest !== null);
  return secrets.flatMap(keysOf).some((key) => {
    const expected = createHmac(scheme.algorithm, key).update(signed).digest();
    return given.some((digest) => expected.length === digest.length && timingSafeEqual(expected, digest));
  });
}

type Signed = Record<'timestamp' | 'id', Header | null> & { body: Buffer };

function signedText({ signs, separator }: SignatureScheme, parts: Signed): Buffer {
  const named = signs.split('.') as (keyof Signed)[];
  const all = named.map((name) => (name === 'body' ? parts.body : Buffer.from(String(parts[name]))));
  return Buffer.concat(all.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from(separator), part])));
}

/** A secret of Standard Webhooks, `whsec_` and base64, is the key written as text: either may have signed. */
function keysOf(secret: Secret): (string | Buffer)[] {
  const text = secret.reveal();
  const [, encoded] = /^whsec_([A-Za-z0-9+/]{22,}={0,2})$/.exec(text) ?? [];
  return encoded === undefined ? [text] : [text, Buffer.from(encoded, 'base64')];
}

/** The signatures in the header, without their prefix, and the time; null: the scheme has none. */
function partsOf(
  header: string,
  { list, prefix, timestampHeader }: SignatureScheme,
  headers: Headers,
): { signatures: string[]; timestamp: Header | null } {
  const entries =
    list === null
      ? [['', header] as const]
      : header.split(/[,;]/).map((entry) => {
          const at = entry.indexOf('=');
          return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()] as const;
        });
  const named = (name: string): string[] => entries.filter(([key]) => key === name).map(([, value]) => value);
  const beside = timestampHeader === null ? null : headers[timestampHeader.toLowerCase()];
  return {
    signatures: named(list?.signature ?? '')
      .filter((text) => text.startsWith(prefix))
      .flatMap((text) => (prefix === '' ? [text] : text.slice(prefix.length).split(` ${prefix}`)))
      .map((text) => text.trim()),
    timestamp: list === null ? beside : (named(list.timestamp)[0] ?? beside ?? undefined),
  };
}

/** Compared by digest, so that the duration reveals nothing about the secret. */
function isText(secret: string): (text: string) => boolean {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
  return (text) => timingSafeEqual(digestOf(secret), digestOf(text));
}

function decode(text: string, { encoding }: SignatureScheme): Buffer | null {
  const shape = encoding === 'hex' ? /^[0-9a-fA-F]+$/ : /^[A-Za-z0-9+/_-]+={0,2}$/;
  return shape.test(text) ? Buffer.from(text, encoding) : null;
}

/** Whether it is within the tolerance on both sides of now: clocks differ. */
function isRecent(timestamp: Header, toleranceSec: number, nowSec: number): boolean {
  const ms = typeof timestamp === 'string' ? millisecondsOf(timestamp) : NaN;
  return Math.abs(nowSec - ms / 1_000) <= toleranceSec;
}

/** Of a time in seconds or milliseconds since 1970, or of a date that names its zone; NaN: it is neither. */
export function millisecondsOf(timestamp: string): number {
  if (/^\d{10}(\d{3})?$/.test(timestamp)) return Number(timestamp.padEnd(13, '0'));
  return /(Z|GMT|[+-]\d\d:?\d\d)$/.test(timestamp) ? Date.parse(timestamp) : NaN;
}

/**
 * The status that a webhook about `reference` gives for its payment, in our words. The webhook's record
 * is the object that holds the reference, read with verify's pointers. Null when it gives no status that
 * we know. It is never trusted, only compared with verify's answer.
 */
export function readWebhookWord(body: Buffer, reference: Reference, dialect: Dialect): StatusClass | null {
  const document = tryReadJson(body);
  const pointer = dialect.webhook.reference.find((one) => stringOf(at(document, one)) === reference);
  if (pointer === undefined) return null;
  const record = at(document, pointer.slice(0, pointer.lastIndexOf('/')));
  const said = classOf(firstAt(record, dialect.verify.status, stringOf), dialect);
  return said === 'unknown' ? null : said;
}
