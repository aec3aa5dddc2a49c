import type { Variables } from './variables.ts';
import { isLoopback } from '../platform/config-fields.ts';
import { databaseNameOf, transportOf } from '../platform/database/address.ts';
import type { Secret } from '../platform/secret.ts';

/** Each rule: whether the variables break it, and `NAME: what to do`. A sentence never quotes a value. */
type Rule = [isBroken: boolean, sentence: string];

/** A guess every second for a century finds no token of this length. */
const MIN_TOKEN = 16;
/** A database whose name holds one of these words was made for trying things out. */
const NOT_FOR_MONEY = /(^|[^a-z])(tests?|testing|sandbox|staging|dev|development|demo)([^a-z]|$)/i;

/** Faults of a combination: production without its safeguards, live mode set up carelessly. */
export function combinationFaults(v: Variables): string[] {
  const production = v.NODE_ENV === 'production';
  return broken([
    ...gatewayFaults(v, production),
    [
      v.FULFILMENT_URL !== undefined && v.FULFILMENT_SECRET === undefined,
      'FULFILMENT_SECRET: is needed with FULFILMENT_URL',
    ],
    [
      v.DATABASE_READ_URL !== undefined && v.DATABASE_URL === undefined,
      'DATABASE_URL: is needed with DATABASE_READ_URL, the address of its standby',
    ],
    [v.ALERT_URL !== undefined && v.ALERT_SECRET === undefined, 'ALERT_SECRET: is needed with ALERT_URL'],
    [v.ALERT_SECRET !== undefined && v.ALERT_URL === undefined, 'ALERT_URL: is needed with ALERT_SECRET'],
    [v.ALERT_EMAIL.length > 0 && v.SMTP_URL === undefined, 'SMTP_URL: is needed with ALERT_EMAIL'],
    [hasTwins(tokensOf(v)), 'OPERATORS: two operators must not share a token, nor one ADMIN_TOKEN'],
    [
      v.ADMIN_TOKEN !== undefined && v.OPERATORS.some(({ name }) => name.toLowerCase() === 'admin'),
      'OPERATORS: the name admin belongs to ADMIN_TOKEN',
    ],
    ...(production ? productionFaults(v) : []),
  ]);
}

function gatewayFaults(v: Variables, production: boolean): Rule[] {
  const live = v.GATEWAY_SECRET_KEY?.mode === 'live';
  const isHere = v.GATEWAY_URL !== undefined && isLoopback(v.GATEWAY_URL);
  const isElsewhere = v.GATEWAY_URL !== undefined && !isHere;
  return [
    [
      v.GATEWAY_URL !== undefined && v.GATEWAY_SECRET_KEY === undefined,
      'GATEWAY_SECRET_KEY: is needed with GATEWAY_URL',
    ],
    [
      isElsewhere && v.GATEWAY_URL?.protocol === 'http:',
      'GATEWAY_URL: must be https, the secret key travels there',
    ],
    [
      (live || production) && v.GATEWAY_URL === undefined,
      'GATEWAY_URL: is needed with a live key and in production, the sandbox moves no money',
    ],
    [
      live && isHere && !production && v.ALLOW_LIVE_KEY_ON_LOOPBACK !== 'on',
      'GATEWAY_URL: is this machine, and the key is live: set ALLOW_LIVE_KEY_ON_LOOPBACK=on if that is meant',
    ],
    [live && isElsewhere && !production, 'NODE_ENV: must be production with a live key'],
    [
      live && v.CHECKOUT_HOSTS.length === 0,
      'CHECKOUT_HOSTS: is needed in live mode: the hosts that checkout addresses may have',
    ],
  ];
}

function productionFaults(v: Variables): Rule[] {
  return [
    [
      v.FULFILMENT_URL?.protocol === 'http:' && !isLoopback(v.FULFILMENT_URL),
      'FULFILMENT_URL: must be https in production, except on this machine',
    ],
    [
      v.ALERT_URL?.protocol === 'http:' && !isLoopback(v.ALERT_URL),
      'ALERT_URL: must be https in production, except on this machine',
    ],
    [
      v.DATABASE_URL === undefined,
      'DATABASE_URL: is needed in production, the embedded PostgreSQL is for development',
    ],
    [v.PUBLIC_URL === undefined, 'PUBLIC_URL: is needed in production'],
    [v.PUBLIC_URL?.protocol === 'http:', 'PUBLIC_URL: must be https in production'],
    [
      v.STOREFRONT_RETURN_URL.some(({ protocol }) => protocol === 'http:'),
      'STOREFRONT_RETURN_URL: must be https in production, shoppers are sent there',
    ],
    [v.ADMIN_TOKEN === undefined && v.OPERATORS.length === 0, 'ADMIN_TOKEN: is needed in production'],
    ...shortTokens(v).map((name): Rule => [
      true,
      `${name}: must have at least ${MIN_TOKEN} characters in production`,
    ]),
  ];
}

/** What is legal and risky. A server and a worker log each sentence when they start. */
export function warningsOf(v: Variables): string[] {
  const production = v.NODE_ENV === 'production';
  const live = v.GATEWAY_SECRET_KEY?.mode === 'live';
  return broken([
    [
      production && v.WEBHOOK_SECRETS.length === 0,
      'WEBHOOK_SECRETS: is empty, so webhooks are hints that any client can send: set it if the ' +
        'service signs them',
    ],
    ...databaseWarnings('DATABASE_URL', v),
    ...databaseWarnings('DATABASE_READ_URL', v),
    [
      production && v.STOREFRONT_ORIGINS.some((origin) => origin.startsWith('http:')),
      'STOREFRONT_ORIGINS: lists an origin over http, whose pages can be changed on their way',
    ],
    [
      production && v.GATEWAY_SECRET_KEY?.mode === 'test',
      'GATEWAY_SECRET_KEY: is a test key, so no real money moves in this production',
    ],
    [
      live && v.GATEWAY_URL !== undefined && isLoopback(v.GATEWAY_URL),
      'GATEWAY_URL: is this machine, and the key is live: the program that listens there gets the key',
    ],
    ...shortTokens(v).map((name): Rule => [true, `${name}: should have at least ${MIN_TOKEN} characters`]),
  ]);
}

function databaseWarnings(name: 'DATABASE_URL' | 'DATABASE_READ_URL', v: Variables): Rule[] {
  const address = v[name]?.reveal();
  if (address === undefined) return [];
  const production = v.NODE_ENV === 'production';
  const transport = transportOf(address);
  return [
    // A warning, not a fault: the network between two containers, or a tunnel, is often private already.
    [
      production && transport === 'plain',
      `${name}: leads to another machine without TLS: add sslmode=verify-full, unless that network is private`,
    ],
    [
      production && transport === 'unchecked',
      `${name}: leads to another machine whose certificate is not checked: use sslmode=verify-full`,
    ],
    [
      v.GATEWAY_SECRET_KEY?.mode === 'live' && isNamedForTrying(address),
      `${name}: the name of the database says that it is for tests, and the key is live`,
    ],
  ];
}

/** Whether the name of a database says that it is for trying things out. */
export function isNamedForTrying(databaseUrl: string): boolean {
  return NOT_FOR_MONEY.test(databaseNameOf(databaseUrl));
}

function broken(rules: readonly Rule[]): string[] {
  return rules.filter(([isBroken]) => isBroken).map(([, sentence]) => sentence);
}

function tokensOf({ ADMIN_TOKEN, OPERATORS }: Variables): string[] {
  const tokens: (Secret | undefined)[] = [ADMIN_TOKEN, ...OPERATORS.map(({ token }) => token)];
  return tokens.flatMap((token) => (token === undefined ? [] : [token.reveal()]));
}

function hasTwins(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length;
}

/** The variables that hold a token short enough to be guessed. */
function shortTokens({ ADMIN_TOKEN, SHOP_API_TOKEN, OPERATORS }: Variables): string[] {
  const tokens: [string, readonly (Secret | undefined)[]][] = [
    ['ADMIN_TOKEN', [ADMIN_TOKEN]],
    ['SHOP_API_TOKEN', [SHOP_API_TOKEN]],
    ['OPERATORS', OPERATORS.map(({ token }) => token)],
  ];
  return tokens
    .filter(([, secrets]) => secrets.some((one) => one !== undefined && one.reveal().length < MIN_TOKEN))
    .map(([name]) => name);
}
