import { toUrl, withHost, type Variables } from './config-values.ts';
import { OWN_NAMES } from './platform/ids.ts';
import type { Secret } from './platform/secret.ts';

/**
 * A check of one or several variables. Its message is `NAME: what is wrong and what to do`, without
 * a value.
 */
type Check = { isWrong: boolean; message: string };

/** The faults in the combination of variables, as sentences. */
export function faultsBetween(v: Variables, production: boolean, live: boolean): string[] {
  const checks = [...requiredChecks(v, production, live), ...serviceChecks(v, production, live), ...pairChecks(v)];
  if (production) checks.push(...productionChecks(v));
  return [...messagesOf(checks), ...equalSecrets(v)];
}

function requiredChecks(v: Variables, production: boolean, live: boolean): Check[] {
  const filled = live || production ? '' : '. For development, npm start sets it';
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
  ];
}

function serviceChecks(v: Variables, production: boolean, live: boolean): Check[] {
  const isTestKeyRefused = production && !live && v.ALLOW_TEST_KEY_IN_PRODUCTION !== 'on';
  const isLoopbackRefused = live && !production && v.ALLOW_LIVE_KEY_ON_LOOPBACK !== 'on';
  const isProductionMissing = live && !production && v.GATEWAY_URL !== null && !isHere(v.GATEWAY_URL);
  return [
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
  ];
}

function pairChecks(v: Variables): Check[] {
  const names = v.OPERATORS.map(({ name }) => name.toLowerCase());
  return [
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
  ];
}

function productionChecks(v: Variables): Check[] {
  return [
    {
      isWrong: isPlain(v.FULFILMENT_URL),
      message: 'FULFILMENT_URL: must be https in production, unless it is this machine',
    },
    {
      isWrong: isPlain(v.ALERT_URL),
      message: 'ALERT_URL: must be https in production, unless it is this machine',
    },
    {
      isWrong: v.PUBLIC_URL?.protocol !== 'https:',
      message: 'PUBLIC_URL: is required in production, and must be https',
    },
    {
      isWrong: v.STOREFRONT_RETURN_URL.some(isHttp),
      message: 'STOREFRONT_RETURN_URL: must be https in production',
    },
    {
      isWrong: v.ADMIN_TOKEN === null && v.OPERATORS.length === 0,
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
export function risks(v: Variables, production: boolean, live: boolean): string[] {
  const { pathname } = databaseUrl(v.DATABASE_URL);
  const isTestName = /(^|[^a-z])(tests?|testing|sandbox|staging|dev|development|demo)([^a-z]|$)/i.test(pathname);
  const withoutTls = 'leads to another machine without TLS. Add sslmode=verify-full, unless the network is private';
  return messagesOf([
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
  ]);
}

const databaseUrl = (secret: Secret | null) => toUrl(withHost(secret?.reveal() ?? 'none:'));
function isFarWithoutTls(secret: Secret | null): boolean {
  const { hostname, search, searchParams } = databaseUrl(secret);
  const isNear = /^$|^\/|^%2f|^localhost$|^127(\.\d+){3}$|^\[?::1\]?$/i.test(searchParams.get('host') ?? hostname);
  return !isNear && !/[?&]ssl(mode=(require|verify-)|=true)/.test(search);
}

/** One guess per second for a century does not find a secret of sixteen characters. */
export function guessable({ ADMIN_TOKEN, SHOP_API_TOKEN, OPERATORS, WEBHOOK_SECRETS }: Variables): string[] {
  const tokens = OPERATORS.map(({ token }) => token);
  const secrets = { ADMIN_TOKEN: [ADMIN_TOKEN], SHOP_API_TOKEN: [SHOP_API_TOKEN], OPERATORS: tokens, WEBHOOK_SECRETS };
  const short = Object.entries(secrets).filter(([, all]) => all.some((one) => one && one.reveal().length < 16));
  return short.map(([name]) => `${name}: must have secrets of at least 16 characters`);
}

const messagesOf = (checks: readonly Check[]) => checks.flatMap(({ isWrong, message }) => (isWrong ? [message] : []));
const hasTwins = (texts: readonly string[]) => new Set(texts).size < texts.length;
const isHttp = (url: URL) => url.protocol === 'http:';
const isHere = (url: URL | null) => ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
const isPlain = (url: URL | null) => url !== null && isHttp(url) && !isHere(url);
