import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isPublicRange } from './platform/addresses.ts';
import { emailAddress } from './platform/email.ts';
import { MESSAGE_TYPES } from './platform/message-types.ts';
import { Secret } from './platform/secret.ts';

/**
 * From the lowest to the highest. A viewer reads, a clerk also acts, and an operator can also give
 * up money and stop sales.
 */
export const ROLES = ['viewer', 'clerk', 'operator'] as const;
export type Role = (typeof ROLES)[number];
/** A person who may open the console, and whose name signs acts. */
export type Operator = { name: string; role: Role; token: Secret };

// The types of values, with the message for each. No message quotes a value.
const text = (must: string, holds: (text: string) => boolean) => z.string().refine(holds, must);
const or = <T extends z.ZodType>(type: T, unset: string | null) => z.preprocess((v) => (v === '' ? unset : v), type);
const optional = <T extends z.ZodType>(type: T) => or(type.nullable(), null);
const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`);
const wholeNumber = (min: number, max: number) => {
  const holds = (digits: string) => /^\d{1,9}$/.test(digits) && +digits >= min && +digits <= max;
  return text(`must be a whole number from ${min} to ${max}`, holds).transform(Number);
};
const listOf = <T extends z.ZodType>(type: T) =>
  z.preprocess((given) => String(given).split(',').map(bare).filter(Boolean), z.array(type));

const toSecret = (value: string) => new Secret(value);
const isClean = (value: string) => /^(?!["'“‘])\P{C}+(?<!["'”’])$/u.test(value);
// Tokens and the key are sent in headers. If a value is not allowed in a header, HTTP libraries
// quote it in their error.
const fitsHeader = (value: string) => isClean(value) && /^[\x21-\x7e]+$/.test(value);
const header = text('must be one line of printable ASCII, without spaces or an unmatched quote', fitsHeader);
const token = header.transform(toSecret);
const serviceKey = header.refine(
  (key) => /^sk_(test|live)_./.test(key),
  'must begin with sk_test_ or sk_live_, followed by more characters',
);
const isSigner = (value: string) => isClean(value) && value !== 'whsec_';
const webhookSecret = text('must be one line, without control characters or an unmatched quote', isSigner)
  .refine(
    (value) => !/^sk_(test|live)_/i.test(value),
    'holds a service key, which does not sign webhooks. Use the webhook secret of the service',
  )
  .transform(toSecret);
const signingSecret = text(
  'must be a Standard Webhooks secret: whsec_ followed by the base64 of 24 to 64 bytes',
  (value) => {
    const bytes = Buffer.from(value.slice('whsec_'.length), 'base64');
    return value === `whsec_${bytes.toString('base64')}` && bytes.length >= 24 && bytes.length <= 64;
  },
).transform(toSecret);

/**
 * A public range with a shorter prefix belongs to many owners, so it cannot be this shop's proxy.
 */
const WIDEST_PUBLIC_BITS = 16;
/** Registries assign IPv6 networks of up to /29 to one owner. */
const WIDEST_PUBLIC_BITS_V6 = 29;
export const toUrl = (value: string) => new URL(value);
const isWeb = (value: string) =>
  URL.canParse(value) && /^https?:\/\/(?!.*;https?:)[^\s,@/?#]+([/?#][^\s,]*)?$/i.test(value);
const isOrigin = (value: string) => isWeb(value) && toUrl(value).origin === value.toLowerCase();
const web = text('must be one http(s) address without a user name or password', isWeb).transform(toUrl);
const origin = text('must be origins like https://shop.example.com, without a path', isOrigin).toLowerCase();
// Paths are appended to this address, so it must end with the host.
const base = text('must be an address like https://a.example.com, without a path, slash or query after it', isOrigin);
// Compared with `new URL(checkoutUrl).hostname`, so it must be written in the same form.
const hostName = text('must be host names like pay.example.com, without a scheme, port, path or asterisk', (value) => {
  const url = `https://${value.toLowerCase()}`;
  return URL.canParse(url) && url === `https://${toUrl(url).hostname}` && !/\*|\.$/.test(url);
}).toLowerCase();
// Every client in a trusted range can choose its own address. ::ffff:0:0/96 is all of IPv4.
const proxy = text(
  'must be loopback, linklocal, uniquelocal, addresses or ranges. Public ranges need /16 or longer (IPv6 /29), private ones /8 (IPv6 /7)',
  (value) => {
    const [, address = '', bits] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(value) ?? [];
    const [least = 1, most = 0] = { 4: [8, 32], 6: [7, 128] }[isIP(address)] ?? [];
    const length = Number(bits ?? most);
    const isRange = length >= least && length <= most && !/^[0:]+:ffff:/i.test(address);
    if (!isRange) return ['loopback', 'linklocal', 'uniquelocal'].includes(value);
    const isNarrow = length >= (isIP(address) === 4 ? WIDEST_PUBLIC_BITS : WIDEST_PUBLIC_BITS_V6);
    return isNarrow || !isPublicRange(`${address}/${length}`);
  },
);
const file = text(
  'names a file that does not exist. A path without a leading / is relative to the working folder',
  existsSync,
);
const timeZone = text('must be a time zone like Europe/Berlin', (timeZone) => {
  try {
    // Offsets are rejected, because PostgreSQL interprets the sign of `+03:00` the opposite way.
    return /^[a-z]/i.test(timeZone) && Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
});
/** An address without a host, for a folder of sockets, is valid for the driver but not for URL. */
export const withHost = (value: string) => value.replace('@/', '@localhost/');
const isDatabase = (value: string) => /^postgres(ql)?:\/\/\P{C}+$/u.test(value) && URL.canParse(withHost(value));
const database = text(
  'must be an address like postgres://user:password@host:5432/name. Write a # in the password as %23',
  isDatabase,
);
const isMailServer = (value: string) => /^smtps?:\/\/[^\s,]+$/.test(value) && URL.canParse(value);
const mailServer = text('must be one address like smtps://name:password@mail.example:465', isMailServer);

const operator = z.string().transform((entry, context): Operator => {
  const [, name = '', word, secret = ''] = /^([\p{L}\p{N}][\p{L}\p{N} ._-]{0,79}):([a-z]+):(.+)$/u.exec(entry) ?? [];
  const role = ROLES.find((known) => known === word);
  if (role !== undefined && fitsHeader(secret)) return { name, role, token: new Secret(secret) };
  context.addIssue(`must be comma-separated entries name:role:token. The roles are ${ROLES.join(', ')}`);
  return z.NEVER;
});

/**
 * People paste values with surrounding quotes and line breaks. Quotes that also occur inside the
 * value are kept.
 */
export function bare(value: string): string {
  const trimmed = value.trim();
  return (/^(["'])((?:(?!\1).)*)\1$/s.exec(trimmed)?.[2] ?? trimmed).trim();
}

/** Every variable, in the order of `.env.example`. */
export const VARIABLES = z.object({
  NODE_ENV: or(oneOf(['development', 'production', 'test']), 'development'),
  HOST: or(z.string(), '127.0.0.1'),
  PORT: or(wholeNumber(0, 65_535), '3000'),
  /** If it is null, the listening address is used. */
  PUBLIC_URL: z.preprocess((given) => String(given).replace(/\/$/, ''), optional(base.transform(toUrl))),
  DATABASE_URL: optional(database.transform(toSecret)),
  DATABASE_DIRECT_URL: optional(database.transform(toSecret)),
  GATEWAY_URL: optional(base.transform(toUrl)),
  GATEWAY_SECRET_KEY: optional(serviceKey.transform(toSecret)),
  /** An absolute path. */
  GATEWAY_ADAPTER: optional(file.transform((path) => resolve(path))),
  CHECKOUT_HOSTS: listOf(hostName),
  WEBHOOK_SECRETS: listOf(webhookSecret),
  STOREFRONT_RETURN_URL: listOf(web),
  STOREFRONT_ORIGINS: listOf(origin),
  SHOP_API_TOKEN: optional(token),
  FULFILMENT_URL: optional(web),
  FULFILMENT_SECRET: optional(signingSecret),
  FULFILMENT_EVENTS: or(listOf(oneOf(MESSAGE_TYPES)), 'order.paid'),
  ADMIN_TOKEN: optional(token),
  OPERATORS: listOf(operator),
  WORKER: or(oneOf(['inline', 'off']), 'inline'),
  WORKER_PORT: optional(wholeNumber(0, 65_535)),
  RECONCILE_EVERY_MIN: or(wholeNumber(0, 10_080), '15'),
  CHECKOUTS_PER_MINUTE: or(wholeNumber(0, 1_000_000), '60'),
  GATEWAY_CALLS_PER_SECOND: or(wholeNumber(0, 100_000), '50'),
  GATEWAY_CONCURRENCY: or(wholeNumber(1, 1_000), '32'),
  RETAIN_BODIES_DAYS: optional(wholeNumber(30, 36_500)),
  /** 0: unpaid orders are kept permanently. */
  RETAIN_UNPAID_DAYS: or(wholeNumber(0, 36_500), '90'),
  LOG_LEVEL: or(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  TRUSTED_PROXIES: or(listOf(proxy), 'loopback'),
  ALERT_URL: optional(web),
  ALERT_SECRET: optional(signingSecret),
  ALERT_EMAIL: listOf(emailAddress),
  SMTP_URL: optional(mailServer.transform(toSecret)),
  SHOP_TIME_ZONE: or(timeZone, 'UTC'),
  DEMO_SHOP: optional(oneOf(['on', 'off'])),
  ALLOW_LIVE_KEY_ON_LOOPBACK: optional(oneOf(['on', 'off'])),
  ALLOW_TEST_KEY_IN_PRODUCTION: optional(oneOf(['on', 'off'])),
});
export type Variables = z.output<typeof VARIABLES>;
