import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PagePosition, Reading, SignedMessage } from './adapter.ts';

/** Building blocks of an adapter. If your service differs slightly, copy one and change it. */

/**
 * The member at a path of names (`data.0.id`) in parsed JSON. Undefined if a member on the path is
 * missing.
 */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return undefined;
    return (inner as Record<string, unknown>)[name];
  }, value);
}

/**
 * A text, or the digits of an integer; null for anything else. Integers beyond 2^53 are already
 * texts here.
 */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** An amount as services write it, a text or a number; null for anything else. */
export function figure(value: unknown): string | number | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** Whether a value is a JSON object, which excludes lists and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The first string among the members at several paths; null if there is none.
 * @example firstText(answer, ['data', 'data.url', 'data.link']) // 'https://pay.example/abc'
 */
export function firstText(value: unknown, paths: readonly string[]): string | null {
  return paths.map((path) => at(value, path)).find((found) => typeof found === 'string') ?? null;
}

/** The rows of a list; null if the value is not a list. */
export function rows(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}

/**
 * Maps status words to statuses, ignoring case. A word in none of the lists is `unknown`: neither
 * paid nor failed.
 */
export function words(
  lists: Partial<Record<Reading['status'], readonly string[]>>,
): (word: string) => Reading['status'] {
  const known = new Map<string, Reading['status']>();
  for (const [status, list] of Object.entries(lists))
    for (const word of list) known.set(word.toLowerCase(), status as Reading['status']);
  return (word) => known.get(word.trim().toLowerCase()) ?? 'unknown';
}

/**
 * The mode of a record, from `livemode`, `isTest`, `mode` or `environment`; null if none of them
 * states it.
 * @example modeOf({ livemode: false }) // 'test'
 * @example modeOf({ environment: 'production' }) // 'live'
 * @example modeOf({ mode: 'card' }) // null: here `mode` means something else
 */
export function modeOf(record: unknown): 'test' | 'live' | null {
  const named = [at(record, 'mode'), at(record, 'environment')].map((word) => text(word)?.toLowerCase() ?? '');
  const says = (...known: string[]): boolean => named.some((word) => known.includes(word));
  if (at(record, 'livemode') === false || at(record, 'isTest') === true || says('test', 'sandbox')) return 'test';
  return at(record, 'livemode') === true || says('live', 'production') ? 'live' : null;
}

/**
 * Members in which services state the amount that was actually paid: `amount_received`,
 * `paidAmount` and similar names.
 */
const OTHER_AMOUNTS = ['Received', 'Paid', 'Captured', 'Collected'].flatMap((deed) => {
  const small = deed.toLowerCase();
  return [`amount${deed}`, `amount_${small}`, `${small}Amount`, `${small}_amount`];
});
const OTHER_STATUSES = ['paymentStatus', 'payment_status', 'transactionStatus', 'transaction_status'];
const DENIALS = ['refunded', 'reversed', 'disputed'];

/**
 * Why a record that says "paid" contradicts itself, as a sentence for people; null if it does not.
 * Fees, net amounts and settled amounts are not contradictions.
 * @param classOf classifies the service's status words, see {@link words}
 * @example doubtAbout({ status: 'SUCCESS', amount: 8500, amount_paid: 200 }, classOf)
 * // 'amount_paid differs from amount'
 * @example doubtAbout({ status: 'SUCCESS', paymentStatus: 'PENDING' }, classOf)
 * // 'paymentStatus says PENDING'
 */
export function doubtAbout(
  record: Record<string, unknown>,
  classOf: (word: string) => Reading['status'],
): string | null {
  const inner = text(at(record, 'amount.currency'));
  if (inner !== null && inner !== record.currency) return 'the currency inside the amount differs';
  for (const [name, value] of Object.entries(record)) {
    const amount = OTHER_AMOUNTS.includes(name) ? figure(value) : null;
    if (amount !== null && Number(amount) !== Number(record.amount)) return `${name} differs from amount`;
    const other = OTHER_STATUSES.includes(name) ? text(value) : null;
    if (other !== null && classOf(other) !== 'paid') return `${name} says ${other}`;
    if (value === true && DENIALS.includes(name)) return `${name} is true`;
    if (isRecord(value) && 'status' in value && ('amount' in value || 'reference' in value))
      return `its status may be that of the call, because ${name} also has a status`;
  }
  return null;
}

/**
 * The references in a webhook's body. The body may be one event, a list of events, or an object
 * with events in `data` or `events`. An event has its reference at `path`, or at `data.` followed
 * by `path`.
 * @example referencesIn({ event: 'charge.success', data: { reference: 'k3v9' } }) // ['k3v9']
 * @example referencesIn([{ reference: 'a' }, { data: { reference: 'b' } }]) // ['a', 'b']
 */
export function referencesIn(body: unknown, path = 'reference'): string[] {
  const events = [body, at(body, 'data'), at(body, 'events')].flatMap((part) => rows(part) ?? [part]);
  const named = events.flatMap((event) => [at(event, path), at(event, `data.${path}`)]);
  return [...new Set(named.filter((one) => typeof one === 'string'))];
}

type HmacScheme = {
  /** Case does not matter. */
  header: string;
  algorithm: 'sha256' | 'sha512' | 'sha1';
  encoding: 'hex' | 'base64';
  /** The text before the signature, for example `sha256=`. */
  prefix?: string;
  /**
   * The signed content. Default: the raw body. If it uses the timestamp, `timestampHeader` or `list`
   * must say where the timestamp is.
   */
  signs?: (parts: { timestamp: string; body: Buffer }) => string | Buffer;
  /** Case does not matter. Omit it if the timestamp is in `list`. */
  timestampHeader?: string;
  /**
   * The names of the timestamp and of the signatures, if the header is a list like
   * `t=1,v1=abc,v1=def`.
   */
  list?: { timestamp: string; signature: string };
  /**
   * A timestamp that differs from now by more than this is rejected. The timestamp must be signed,
   * and be a Unix time: 10 digits for seconds, or 13 for milliseconds.
   */
  toleranceSec?: number;
};

/**
 * Checks an HMAC signature in constant time. A missing or malformed header counts as a wrong
 * signature.
 * @throws {Error} immediately, if the scheme uses a timestamp and does not say where it is
 */
export function hmac(scheme: HmacScheme): (message: SignedMessage) => boolean {
  if (scheme.timestampHeader === undefined && scheme.list === undefined) {
    if (scheme.toleranceSec !== undefined)
      throw new Error('hmac() has toleranceSec but no timestamp: set timestampHeader or list.');
    if (signsTimestamp(scheme))
      throw new Error('The signs function of hmac() uses a timestamp: set timestampHeader or list.');
  }
  // Header names of a message are in lower case.
  const [name, timestampName] = [scheme.header.toLowerCase(), scheme.timestampHeader?.toLowerCase() ?? ''];
  return ({ headers, body, secret, now }) => {
    const header = headers[name] ?? '';
    const pairs = header.split(',').map((pair) => pair.trim().split(/=(.*)/s));
    const named = (wanted: string): string[] =>
      pairs.flatMap(([key, value]) => (key === wanted && value !== undefined ? [value] : []));
    const timestamp = scheme.list ? (named(scheme.list.timestamp)[0] ?? '') : (headers[timestampName] ?? '');
    if (scheme.toleranceSec !== undefined && !isFresh(timestamp, now, scheme.toleranceSec)) return false;
    const given = scheme.list ? named(scheme.list.signature) : [header];
    const signed = scheme.signs?.({ timestamp, body }) ?? body;
    const expected = createHmac(scheme.algorithm, secret).update(signed).digest();
    return given.some((one) => isSame(one, expected, scheme));
  };
}

/** Whether `signs` uses the timestamp. Without a timestamp, every signature would then be wrong. */
function signsTimestamp({ signs }: HmacScheme): boolean {
  let isUsed = false;
  const parts = {
    body: Buffer.from('{}'),
    get timestamp() {
      isUsed = true;
      return '';
    },
  };
  try {
    signs?.(parts);
  } catch {
    // It may expect a body with certain members.
  }
  return isUsed;
}

function isSame(given: string, expected: Buffer, { prefix = '', encoding }: HmacScheme): boolean {
  if (!given.startsWith(prefix)) return false;
  const bare = given.slice(prefix.length);
  const bytes = Buffer.from(encoding === 'hex' ? bare.toLowerCase() : bare, encoding);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function isFresh(timestamp: string, now: Date, toleranceSec: number): boolean {
  if (!/^\d{10}(\d{3})?$/.test(timestamp)) return false;
  const ms = Number(timestamp) * (timestamp.length === 13 ? 1 : 1_000);
  return Math.abs(now.getTime() - ms) <= toleranceSec * 1_000;
}

/** The path and query with some parameters replaced. */
export function withQuery(path: string, parameters: Record<string, string | number>): string {
  const url = new URL(path, 'http://service');
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url.pathname + url.search;
}

/**
 * Numbered pages. They start with the number in the first path, and end when a page is empty or
 * `isLast` returns true.
 */
export function pages(names: { page: string; isLast?: (page: unknown) => boolean }) {
  return (page: unknown, { path, rows }: PagePosition): string | null => {
    const number = Number(new URL(path, 'http://service').searchParams.get(names.page) ?? '1');
    return rows === 0 || names.isLast?.(page) === true ? null : withQuery(path, { [names.page]: number + 1 });
  };
}

/**
 * Offsets. They advance by the number of rows received, because a service may silently reduce the
 * limit.
 */
export function offsets(names: { offset: string }) {
  return (_page: unknown, { path, rows }: PagePosition): string | null => {
    const before = Number(new URL(path, 'http://service').searchParams.get(names.offset) ?? '0');
    return rows === 0 ? null : withQuery(path, { [names.offset]: before + rows });
  };
}

/** A cursor in each page. A page without one is the last. */
export function cursor(names: { parameter: string; at: string }) {
  return (page: unknown, { path }: PagePosition): string | null => {
    const next = text(at(page, names.at));
    return next === null || next === '' ? null : withQuery(path, { [names.parameter]: next });
  };
}

/** A link in each page to the next one, as a URL or a path. Its host is ignored. */
export function link(names: { at: string }) {
  return (page: unknown): string | null => {
    const next = at(page, names.at);
    if (typeof next !== 'string' || next === '') return null;
    const url = new URL(next, 'http://service');
    return url.pathname + url.search;
  };
}
