import { dialectSchema } from '../../src/gateway/dialect/schema.ts';
import type { SignatureScheme } from '../../src/gateway/dialect/dialect.ts';
import { millisecondsOf } from '../../src/gateway/webhook.ts';
import type { Hook } from './listener.ts';

/** A scheme as a dialect file would say it, and as the program reads that. */
export type Scheme = { given: object; parsed: SignatureScheme };

/** Between the parts of a signed text, as seen in the field. */
const SEPARATORS = ['.', ':', '', '|', '\n', ',', ';', '-', '_', ' '];
/** Bytes of HMAC digests and of RSA signatures. */
const DIGEST_BYTES = new Set([20, 32, 48, 64, 128, 256]);

/** Every scheme that the dialect can say, over the headers that came. */
export function* schemesFor(hook: Hook): Generator<Scheme> {
  const own = headersOf(hook);
  const names = own.map(([name]) => name);
  const times = own.filter(([, value]) => isTime(value)).map(([timestampHeader]) => ({ timestampHeader }));
  const ids = names.filter((name) => name.endsWith('id'));
  for (const [header, value] of own) {
    for (const prefix of prefixesOf(value)) yield schemeOf({ scheme: 'static', header, ...prefix });
    const plain = prefixesOf(value).flatMap((prefix) =>
      digestsOf(value.slice(prefix.prefix?.length), prefix),
    );
    const listed = listsIn(value).flatMap(({ list, signature }) => digestsOf(signature, { list }));
    for (const digest of [...plain, ...listed]) {
      yield schemeOf({ header, ...digest });
      const clocks = 'list' in digest && 'timestamp' in digest.list ? [{}] : times;
      for (const time of clocks)
        for (const signed of signedTexts(ids)) yield schemeOf({ header, ...digest, ...time, ...signed });
    }
  }
}

/** The headers whose value could be a digest. */
export function likelySignatures(hook: Hook): string[] {
  return headersOf(hook)
    .filter(([, value]) =>
      [
        ...prefixesOf(value).map(({ prefix }) => value.slice(prefix?.length)),
        ...signaturesListed(value),
      ].some((text) =>
        encodingsOf(text).some((encoding) => DIGEST_BYTES.has(Buffer.from(text, encoding).length)),
      ),
    )
    .map(([name]) => name);
}

function headersOf({ headers }: Hook): [name: string, value: string][] {
  return Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !USUAL.has(entry[0]),
  );
}

/** Nothing, or the text up to the first mark that can separate. */
function prefixesOf(value: string): { prefix?: string }[] {
  const [prefix] = /^[^\s=:,;.|]+[\s=:,;.|]+/.exec(value) ?? [];
  return prefix === undefined ? [{}] : [{}, { prefix }];
}

function digestsOf<T extends object>(text: string, given: T) {
  return encodingsOf(text).flatMap((encoding) =>
    (['sha256', 'sha512'] as const).map((algorithm) => ({ ...given, algorithm, encoding })),
  );
}

function encodingsOf(text: string): ('hex' | 'base64' | 'base64url')[] {
  const first = text.split(' ')[0] ?? '';
  if (/^[0-9a-f]+$/i.test(first)) return ['hex'];
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(first)) return [];
  return [/[-_]/.test(first) || first.length % 4 !== 0 ? 'base64url' : 'base64'];
}

type Entry = { name: string; value: string };

function entriesOf(header: string): Entry[] {
  return header
    .split(/[,;]/)
    .map((entry) => /^\s*([\w-]{1,20})=(.+)$/.exec(entry))
    .flatMap((found) => (found === null ? [] : [{ name: found[1] ?? '', value: (found[2] ?? '').trim() }]));
}

/** Each entry of a header like `t=…,v1=…` as the signature, with the entry that is a time. */
function listsIn(header: string): { list: { timestamp?: string; signature: string }; signature: string }[] {
  const entries = entriesOf(header);
  const time = entries.find(({ value }) => isTime(value));
  if (entries.length < 2) return [];
  return entries
    .filter((entry) => entry !== time)
    .map(({ name, value }) => ({
      list: { ...(time && { timestamp: time.name }), signature: name },
      signature: value,
    }));
}

function signaturesListed(header: string): string[] {
  return listsIn(header).map(({ signature }) => signature);
}

function signedTexts(ids: readonly string[]): object[] {
  const separators = SEPARATORS.map((separator) => (separator === '.' ? {} : { separator }));
  return separators.flatMap((separator) => [
    { signs: 'timestamp.body', ...separator },
    { signs: 'body.timestamp', ...separator },
    ...ids.map((idHeader) => ({ signs: 'id.timestamp.body', idHeader, ...separator })),
  ]);
}

function isTime(text: string): boolean {
  return !Number.isNaN(millisecondsOf(text));
}

function schemeOf(given: object): Scheme {
  const { signature } = dialectSchema.parse({ webhook: { signature: given } }).webhook;
  if (signature === null) throw new TypeError('a scheme was given');
  return { given, parsed: signature };
}

const USUAL = new Set([
  'host',
  'connection',
  'content-type',
  'content-length',
  'accept',
  'user-agent',
  'transfer-encoding',
]);
