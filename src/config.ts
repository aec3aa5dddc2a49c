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
  /** Null: the listening address is used. */
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
  /** 0: unpaid orders are kept for ever. */
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

/** The configuration, checked and in one piece. Secrets in it print as `[redacted]`. */
export type Config = Omit<Variables, 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'GATEWAY_URL' | 'GATEWAY_SECRET_KEY'> & {
  DATABASE_URL: Secret;
  /** DATABASE_URL, unless it is set. */
  DATABASE_DIRECT_URL: Secret;
  GATEWAY_URL: URL;
  GATEWAY_SECRET_KEY: Secret;
  production: boolean;
  mode: 'test' | 'live';
  demoShop: boolean;
  /** What is legal and risky, as `NAME: sentence`, to be logged at start. */
  warnings: string[];
};

/** Every fault of the configuration at once. */
export class ConfigError extends UserFacingError {
  constructor(faults: readonly string[]) {
    super(['The configuration cannot be used:', ...faults].join('\n  - '), 78);
  }
}

/**
 * Reads and checks the configuration; the only reader of the environment.
 * @param env variables by name; left out: the process's, over those of the working folder's `.env`
 * @throws {ConfigError} with names and what to do, never a value
 */
export function loadConfig(env?: Record<string, string | undefined>): Config {
  if (env === undefined) loadDotenv({ quiet: true });
  const faults: string[] = [];
  const warnings: string[] = [];
  // Each by itself, so that one bad value hides no other; a bad one counts as unset.
  const entries = Object.entries(VARIABLES.shape).map(([name, type]) => {
    const given = (env ?? process.env)[name] ?? '';
    if (bare(given) !== given) warnings.push(`${name}: had white space or quotes around it, which do not count`);
    const parsed = type.safeParse(bare(given));
    if (!parsed.success) faults.push(`${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
    return [name, parsed.success ? parsed.data : type.safeParse('').data];
  });
  const v = Object.fromEntries(entries) as Variables;
  const live = v.GATEWAY_SECRET_KEY?.reveal().startsWith('sk_live_') === true;
  const production = v.NODE_ENV === 'production';
  (live || production ? faults : warnings).push(...guessable(v));
  const named = faults.map(nameIn);
  const between = [...holding(faultsBetween(v, production, live)), ...equalSecrets(v)];
  faults.push(...between.filter((fault) => !named.includes(nameIn(fault))));
  const { DATABASE_URL, GATEWAY_URL, GATEWAY_SECRET_KEY } = v;
  if (faults.length > 0 || !DATABASE_URL || !GATEWAY_URL || !GATEWAY_SECRET_KEY) throw new ConfigError(faults);
  warnings.push(...holding(risks(v, production, live)));
  const mode = live ? 'live' : 'test';
  const demoShop = v.DEMO_SHOP === 'on' || (v.DEMO_SHOP === null && !production);
  const DATABASE_DIRECT_URL = v.DATABASE_DIRECT_URL ?? DATABASE_URL;
  const needed = { DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL, GATEWAY_SECRET_KEY };
  return { ...v, ...needed, production, mode, demoShop, warnings };
}

function faultsBetween(v: Variables, production: boolean, live: boolean) {
  const tokens = [v.ADMIN_TOKEN, ...v.OPERATORS.map((one) => one.token)].flatMap((one) => one?.reveal() ?? []);
  const names = v.OPERATORS.map(({ name }) => name.toLowerCase());
  const filled = live || production ? '' : '; npm start fills it for development';
  return {
    [`DATABASE_URL: is needed, as postgres://user:password@host:5432/name${filled}`]: !v.DATABASE_URL,
    [`GATEWAY_URL: is needed, the address of the payment service${filled}`]: !v.GATEWAY_URL,
    [`GATEWAY_SECRET_KEY: is needed, your key at the payment service${filled}`]: !v.GATEWAY_SECRET_KEY,
    'GATEWAY_URL: must be https, the secret key travels there': isPlain(v.GATEWAY_URL),
    'GATEWAY_URL: is this machine, and the key is live: set ALLOW_LIVE_KEY_ON_LOOPBACK=on if that is meant':
      live && isHere(v.GATEWAY_URL) && !production && v.ALLOW_LIVE_KEY_ON_LOOPBACK !== 'on',
    'NODE_ENV: must be production with a live key': live && !production && !!v.GATEWAY_URL && !isHere(v.GATEWAY_URL),
    'GATEWAY_SECRET_KEY: is a test key in production, so test cards would pay for real goods: use the live key, or set ALLOW_TEST_KEY_IN_PRODUCTION=on for a staging system':
      production && !live && v.GATEWAY_SECRET_KEY !== null && v.ALLOW_TEST_KEY_IN_PRODUCTION !== 'on',
    'CHECKOUT_HOSTS: is needed with a live key: where checkout pages are': live && v.CHECKOUT_HOSTS.length === 0,
    'FULFILMENT_EVENTS: must have order.paid, or nothing would ship': !v.FULFILMENT_EVENTS.includes('order.paid'),
    'FULFILMENT_SECRET: is needed with FULFILMENT_URL': !!v.FULFILMENT_URL && !v.FULFILMENT_SECRET,
    'TRUSTED_PROXIES: must name somebody': v.TRUSTED_PROXIES.length === 0,
    'ALERT_SECRET: is needed with ALERT_URL': !!v.ALERT_URL && !v.ALERT_SECRET,
    'ALERT_URL: is needed with ALERT_SECRET': !!v.ALERT_SECRET && !v.ALERT_URL,
    'SMTP_URL: is needed with ALERT_EMAIL': v.ALERT_EMAIL.length > 0 && !v.SMTP_URL,
    [`OPERATORS: each name once, and none of ${OWN_NAMES.join(', ')}`]: hasTwins([...OWN_NAMES, ...names]),
    'FULFILMENT_URL: must be https in production, except on this machine': production && isPlain(v.FULFILMENT_URL),
    'ALERT_URL: must be https in production, except on this machine': production && isPlain(v.ALERT_URL),
    'PUBLIC_URL: is needed in production, and by https': production && v.PUBLIC_URL?.protocol !== 'https:',
    'STOREFRONT_RETURN_URL: must be https in production': production && v.STOREFRONT_RETURN_URL.some(isHttp),
    'ADMIN_TOKEN: is needed in production': production && tokens.length === 0,
  };
}

/**
 * Every secret is known to another party. If two variables share one, a party that holds the first
 * could use the second: the payment service could act as the operator, for example.
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
    if (other !== undefined) faults.push(`${name}: holds the same secret as ${other}: each secret must be different`);
    holderOf.set(value, name);
  }
  return [...new Set(faults)];
}

/** What is legal and risky. */
function risks(v: Variables, production: boolean, live: boolean) {
  const { pathname } = databaseUrl(v.DATABASE_URL);
  const withoutTls = 'leads elsewhere without TLS: add sslmode=verify-full, unless that network is private';
  return {
    'WEBHOOK_SECRETS: is empty, so webhooks are notifications of anybody': production && v.WEBHOOK_SECRETS.length === 0,
    [`DATABASE_URL: ${withoutTls}`]: production && isFarWithoutTls(v.DATABASE_URL),
    [`DATABASE_DIRECT_URL: ${withoutTls}`]: production && isFarWithoutTls(v.DATABASE_DIRECT_URL),
    'DATABASE_URL: is named like a database for tests, and the key is live':
      live && /(^|[^a-z])(tests?|testing|sandbox|staging|dev|development|demo)([^a-z]|$)/i.test(pathname),
    'STOREFRONT_ORIGINS: lists an origin over plain http': production && v.STOREFRONT_ORIGINS.map(toUrl).some(isHttp),
    'GATEWAY_SECRET_KEY: is a test key, so no real money moves in this production': production && !live,
    'GATEWAY_URL: is this machine, and the key is live: who listens there gets it': live && isHere(v.GATEWAY_URL),
  };
}

const databaseUrl = (secret: Secret | null) => toUrl(withHost(secret?.reveal() ?? 'none:'));
function isFarWithoutTls(secret: Secret | null): boolean {
  const { hostname, search, searchParams } = databaseUrl(secret);
  const isNear = /^$|^\/|^%2f|^localhost$|^127(\.\d+){3}$|^\[?::1\]?$/i.test(searchParams.get('host') ?? hostname);
  return !isNear && !/[?&]ssl(mode=(require|verify-)|=true)/.test(search);
}

/** A guess every second for a century finds no secret of sixteen characters. */
function guessable({ ADMIN_TOKEN, SHOP_API_TOKEN, OPERATORS, WEBHOOK_SECRETS }: Variables): string[] {
  const tokens = OPERATORS.map(({ token }) => token);
  const secrets = { ADMIN_TOKEN: [ADMIN_TOKEN], SHOP_API_TOKEN: [SHOP_API_TOKEN], OPERATORS: tokens, WEBHOOK_SECRETS };
  const short = Object.entries(secrets).filter(([, all]) => all.some((one) => one && one.reveal().length < 16));
  return short.map(([name]) => `${name}: needs secrets of at least 16 characters`);
}

const holding = (rules: Record<string, boolean>) => Object.keys(rules).filter((sentence) => rules[sentence]);
const nameIn = (fault: string) => fault.slice(0, fault.indexOf(':'));
const hasTwins = (texts: readonly string[]) => new Set(texts).size < texts.length;
const isHttp = (url: URL) => url.protocol === 'http:';
const isHere = (url: URL | null) => ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
const isPlain = (url: URL | null) => url !== null && isHttp(url) && !isHere(url);
/** Who is logged in on this machine, and signs commands by that name; null: it is not said. */
export const userOfMachine = (): string | null => bare(process.env.USER ?? '') || null;
