import { config as loadDotenv } from 'dotenv';
import { resolve } from 'node:path';
import { z } from 'zod';
import { UserFacingError } from './platform/user-facing-error.ts';
import { emailAddress } from './platform/email.ts';
import { OWN_NAMES } from './platform/ids.ts';
import { MESSAGE_TYPES } from './platform/message-types.ts';
import { Secret } from './platform/secret.ts';

import {
  bare,
  or,
  optional,
  oneOf,
  wholeNumber,
  listOf,
  toSecret,
  token,
  serviceKey,
  webhookSecret,
  signingSecret,
  toUrl,
  web,
  origin,
  base,
  hostName,
  proxy,
  file,
  timeZone,
  withHost,
  database,
  mailServer,
  operator,
  ROLES,
  type Operator,
  type Role,
} from './config-values.ts';

export { ROLES, type Operator, type Role };

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
  /** 0: unpaid orders are kept forever. */
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
type Variables = z.output<typeof VARIABLES>;

/** The complete, checked configuration. Its secrets print as `[redacted]`. */
export type Config = Omit<Variables, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'GATEWAY_URL' | 'GATEWAY_SECRET_KEY'> & {
  DATABASE_URL: Secret;
  /** Defaults to DATABASE_URL. */
  DATABASE_DIRECT_URL: Secret;
  GATEWAY_URL: URL;
  GATEWAY_SECRET_KEY: Secret;
  production: boolean;
  mode: 'test' | 'live';
  demoShop: boolean;
  /** Allowed but risky settings, as `NAME: message`. They are logged at start. */
  warnings: string[];
};

/** Contains all faults of the configuration. */
export class ConfigError extends UserFacingError {
  constructor(faults: readonly string[]) {
    super(['The configuration cannot be used:', ...faults].join('\n  - '), 78);
  }
}

/**
 * Reads and checks the configuration. Nothing else reads the environment.
 * @param env variables by name; default: those of the process, then those of `.env` in the working
 * folder
 * @throws {ConfigError} with the names and the reasons, never with a value
 */
export function loadConfig(env?: Record<string, string | undefined>): Config {
  if (env === undefined) loadDotenv({ quiet: true });
  const faults: string[] = [];
  const warnings: string[] = [];
  // Each variable is parsed separately, so that a bad value does not hide others. A bad value counts
  // as unset.
  const entries = Object.entries(VARIABLES.shape).map(([name, type]) => {
    const given = (env ?? process.env)[name] ?? '';
    if (bare(given) !== given) warnings.push(`${name}: had surrounding white space or quotes, which were removed`);
    const parsed = type.safeParse(bare(given));
    if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
    return [name, parsed.success ? parsed.data : type.safeParse('').data];
  });
  const v = Object.fromEntries(entries) as Variables;
  const live = v.GATEWAY_SECRET_KEY?.reveal().startsWith('sk_live_') === true;
  const production = v.NODE_ENV === 'production';
  (live || production ? faults : warnings).push(...guessable(v));
  const named = faults.map(nameIn);
  const between = [...messagesOf(faultsBetween(v, production, live)), ...equalSecrets(v)];
  faults.push(...between.filter((fault) => !named.includes(nameIn(fault))));
  const { DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY } = v;
  if (faults.length > 0 || !DATABASE_URL || !GATEWAY_URL || !GATEWAY_SECRET_KEY) throw new ConfigError(faults);
  warnings.push(...messagesOf(risks(v, production, live)));
  const mode = live ? 'live' : 'test';
  const demoShop = v.DEMO_SHOP === 'on' || (v.DEMO_SHOP === null && !production);
  const DATABASE_DIRECT_URL = v.DATABASE_DIRECT_URL ?? DATABASE_URL;
  const needed = { DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL, GATEWAY_SECRET_KEY };
  return { ...v, ...needed, production, mode, demoShop, warnings };
}

/** What is wrong or risky about the combination of several variables. */
type Check = { isWrong: boolean; message: string };

function faultsBetween(v: Variables, production: boolean, live: boolean): Check[] {
  const tokens = [v.ADMIN_TOKEN, ...v.OPERATORS.map((one) => one.token)].flatMap((one) => one?.reveal() ?? []);
  const names = v.OPERATORS.map(({ name }) => name.toLowerCase());
  const filled = live || production ? '' : '. For development, npm start sets it';
  const isTestKeyRefused = production && !live && v.ALLOW_TEST_KEY_IN_PRODUCTION !== 'on';
  const isLoopbackRefused = live && !production && v.ALLOW_LIVE_KEY_ON_LOOPBACK !== 'on';
  const isProductionMissing = live && !production && v.GATEWAY_URL !== null && !isHere(v.GATEWAY_URL);
  return [
    {
      isWrong: !v.DATABASE_URL,
      message: `DATABASE_URL: is required, as postgres://user:password@host:5432/name${filled}`,
    },
    { isWrong: !v.GATEWAY_URL, message: `GATEWAY_URL: is required, as the address of the payment service${filled}` },
    {
      isWrong: !v.GATEWAY_SECRET_KEY,
      message: `GATEWAY_SECRET_KEY: is required, as your key of the payment service${filled}`,
    },
    {
      isWrong: isPlain(v.GATEWAY_URL),
      message: 'GATEWAY_URL: must be https, because the secret key is sent there',
    },
    {
      isWrong: isLoopbackRefused && isHere(v.GATEWAY_URL),
      message:
        'GATEWAY_URL: is this machine, and the key is live. If this is intended, set ALLOW_LIVE_KEY_ON_LOOPBACK=on',
    },
    { isWrong: isProductionMissing, message: 'NODE_ENV: must be production with a live key' },
    {
      isWrong: isTestKeyRefused && v.GATEWAY_SECRET_KEY !== null,
      message:
        'GATEWAY_SECRET_KEY: is a test key in production, so test cards would pay for real goods. ' +
        'Use the live key, or set ALLOW_TEST_KEY_IN_PRODUCTION=on for a staging system',
    },
    {
      isWrong: live && v.CHECKOUT_HOSTS.length === 0,
      message: 'CHECKOUT_HOSTS: is required with a live key. Name the hosts of the checkout pages',
    },
    {
      isWrong: !v.FULFILMENT_EVENTS.includes('order.paid'),
      message: 'FULFILMENT_EVENTS: must include order.paid, because it releases the goods',
    },
    {
      isWrong: v.FULFILMENT_URL !== null && !v.FULFILMENT_SECRET,
      message: 'FULFILMENT_SECRET: is required with FULFILMENT_URL',
    },
    { isWrong: v.TRUSTED_PROXIES.length === 0, message: 'TRUSTED_PROXIES: must name at least one proxy' },
    { isWrong: v.ALERT_URL !== null && !v.ALERT_SECRET, message: 'ALERT_SECRET: is required with ALERT_URL' },
    { isWrong: v.ALERT_SECRET !== null && !v.ALERT_URL, message: 'ALERT_URL: is required with ALERT_SECRET' },
    { isWrong: v.ALERT_EMAIL.length > 0 && !v.SMTP_URL, message: 'SMTP_URL: is required with ALERT_EMAIL' },
    {
      isWrong: hasTwins([...OWN_NAMES, ...names]),
      message: `OPERATORS: must have different names, and none of ${OWN_NAMES.join(', ')}`,
    },
    {
      isWrong: production && isPlain(v.FULFILMENT_URL),
      message: 'FULFILMENT_URL: must be https in production, unless it is this machine',
    },
    {
      isWrong: production && isPlain(v.ALERT_URL),
      message: 'ALERT_URL: must be https in production, unless it is this machine',
    },
    {
      isWrong: production && v.PUBLIC_URL?.protocol !== 'https:',
      message: 'PUBLIC_URL: is required in production, and must be https',
    },
    {
      isWrong: production && v.STOREFRONT_RETURN_URL.some(isHttp),
      message: 'STOREFRONT_RETURN_URL: must be https in production',
    },
    {
      isWrong: production && tokens.length === 0,
      message: 'ADMIN_TOKEN: is required in production, unless OPERATORS is set',
    },
  ];
}

/**
 * Every secret is shared with another party. If two variables had the same secret, the party that
 * knows one could use the other: the payment service could act as an operator, for example.
 */
function equalSecrets(v: Variables): string[] {
  const named: [name: string, secret: Secret | null][] = [
    ['ADMIN_TOKEN', v.ADMIN_TOKEN],
    ['SHOP_API_TOKEN', v.SHOP_API_TOKEN],
    ['GATEWAY_SECRET_KEY', v.GATEWAY_SECRET_KEY],
    ['FULFILMENT_SECRET', v.FULFILMENT_SECRET],
    ['ALERT_SECRET', v.ALERT_SECRET],
  ];
  for (const secret of v.WEBHOOK_SECRETS) named.push(['WEBHOOK_SECRETS', secret]);
  for (const { token } of v.OPERATORS) named.push(['OPERATORS', token]);
  const faults: string[] = [];
  const holderOf = new Map<string, string>();
  for (const [name, secret] of named) {
    if (secret === null) continue;
    const value = secret.reveal();
    const other = holderOf.get(value);
    if (other !== undefined) faults.push(`${name}: is the same secret as ${other}. Each secret must be different`);
    holderOf.set(value, name);
  }
  return [...new Set(faults)];
}

/** Combinations that are allowed but risky. */
function risks(v: Variables, production: boolean, live: boolean): Check[] {
  const { pathname } = databaseUrl(v.DATABASE_URL);
  const isTestName = /(^|[^a-z])(tests?|testing|sandbox|staging|dev|development|demo)([^a-z]|$)/i.test(pathname);
  const withoutTls = 'leads to another machine without TLS. Add sslmode=verify-full, unless the network is private';
  return [
    {
      isWrong: production && v.WEBHOOK_SECRETS.length === 0,
      message: 'WEBHOOK_SECRETS: is empty, so anybody can send webhooks',
    },
    { isWrong: production && isFarWithoutTls(v.DATABASE_URL), message: `DATABASE_URL: ${withoutTls}` },
    { isWrong: production && isFarWithoutTls(v.DATABASE_DIRECT_URL), message: `DATABASE_DIRECT_URL: ${withoutTls}` },
    { isWrong: live && isTestName, message: 'DATABASE_URL: is named like a test database, and the key is live' },
    {
      isWrong: production && v.STOREFRONT_ORIGINS.map(toUrl).some(isHttp),
      message: 'STOREFRONT_ORIGINS: contains an origin with plain http',
    },
    {
      isWrong: production && !live,
      message: 'GATEWAY_SECRET_KEY: is a test key, so no real money moves in this production system',
    },
    {
      isWrong: live && isHere(v.GATEWAY_URL),
      message: 'GATEWAY_URL: is this machine, and the key is live, so the program that listens there receives it',
    },
  ];
}

const databaseUrl = (secret: Secret | null) => toUrl(withHost(secret?.reveal() ?? 'none:'));
function isFarWithoutTls(secret: Secret | null): boolean {
  const { hostname, search, searchParams } = databaseUrl(secret);
  const isNear = /^$|^\/|^%2f|^localhost$|^127(\.\d+){3}$|^\[?::1\]?$/i.test(searchParams.get('host') ?? hostname);
  return !isNear && !/[?&]ssl(mode=(require|verify-)|=true)/.test(search);
}

/** One guess per second for a century does not find a secret of sixteen characters. */
function guessable({ ADMIN_TOKEN, SHOP_API_TOKEN, OPERATORS, WEBHOOK_SECRETS }: Variables): string[] {
  const tokens = OPERATORS.map(({ token }) => token);
  const secrets = { ADMIN_TOKEN: [ADMIN_TOKEN], SHOP_API_TOKEN: [SHOP_API_TOKEN], OPERATORS: tokens, WEBHOOK_SECRETS };
  const short = Object.entries(secrets).filter(([, all]) => all.some((one) => one && one.reveal().length < 16));
  return short.map(([name]) => `${name}: must have secrets of at least 16 characters`);
}

const messagesOf = (checks: readonly Check[]) => checks.flatMap(({ isWrong, message }) => (isWrong ? [message] : []));
const nameIn = (fault: string) => fault.slice(0, fault.indexOf(':'));
const hasTwins = (texts: readonly string[]) => new Set(texts).size < texts.length;
const isHttp = (url: URL) => url.protocol === 'http:';
const isHere = (url: URL | null) => ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
const isPlain = (url: URL | null) => url !== null && isHttp(url) && !isHere(url);
/** The user of this machine, whose name signs commands. Null if it is unknown. */
export const userOfMachine = (): string | null => bare(process.env.USER ?? '') || null;
