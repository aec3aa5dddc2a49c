import { config as loadDotenv } from 'dotenv';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DialectError, parseDialect, type Dialect, type ParsedDialect } from './gateway/dialect.ts';
import { SecretKey } from './gateway/secret-key.ts';
import {
  bareOrigin,
  isLoopback,
  list,
  optional,
  origins,
  secret,
  webAddress,
  wholeNumber,
  withDefault,
} from './platform/config-fields.ts';
import { lacksDirectAddress } from './platform/postgres/address.ts';
import { Secret } from './platform/secret.ts';
import { readTracingSettings, type TracingSettings } from './platform/tracing/settings.ts';

/** The exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h). */
export const EXIT_BAD_CONFIG = 78;

/** Every fault of the configuration at once. Names variables and says what to do; never quotes a value. */
export class ConfigError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(['The configuration cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

// The key becomes a header: one line of printable ASCII, or the HTTP library would quote it in its error.
const secretKey = z
  .string()
  .regex(
    /^[\x21-\x7e]+$/,
    'must be one line of printable characters: look for a line break, a space or a curly quote',
  )
  .regex(/^sk_(test|live)_./, 'must begin with sk_test_ or sk_live_')
  .transform((text) => new SecretKey(text));

const schema = z.object({
  NODE_ENV: withDefault(z.enum(['development', 'production', 'test']), 'development'),
  HOST: withDefault(z.string(), '127.0.0.1'),
  PORT: withDefault(wholeNumber(0, 65535), '3000'),
  PUBLIC_URL: optional(webAddress),
  DATABASE_URL: optional(
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
      .refine(
        (text) => !lacksDirectAddress(text),
        'with pgbouncer=true also needs direct=host:port, the address of PostgreSQL itself',
      )
      .transform((text) => new Secret(text)),
  ),
  GATEWAY_URL: optional(bareOrigin),
  GATEWAY_SECRET_KEY: optional(secretKey),
  GATEWAY_DIALECT: optional(z.string()),
  CHECKOUT_HOSTS: withDefault(list, ''),
  WEBHOOK_SECRETS: withDefault(
    list.transform((secrets) => secrets.map((text) => new Secret(text))),
    '',
  ),
  STOREFRONT_RETURN_URL: optional(webAddress),
  STOREFRONT_ORIGINS: withDefault(origins, ''),
  SHOP_API_TOKEN: optional(secret),
  FULFILMENT_URL: optional(webAddress),
  FULFILMENT_SECRET: optional(
    z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, 'must be a Standard Webhooks secret: whsec_ and base64')
      .transform((text) => new Secret(text)),
  ),
  ADMIN_TOKEN: optional(secret),
  WORKER: withDefault(z.enum(['inline', 'off']), 'inline'),
  RECONCILE_EVERY_MIN: withDefault(wholeNumber(0, 10_080), '15'),
  CHECKOUTS_PER_MINUTE: withDefault(wholeNumber(0, 1_000_000), '60'),
  GATEWAY_CALLS_PER_SECOND: withDefault(wholeNumber(0, 100_000), '50'),
  GATEWAY_CONCURRENCY: withDefault(wholeNumber(1, 1_000), '32'),
  LOG_LEVEL: withDefault(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  DEMO_SHOP: withDefault(z.enum(['on', 'off', '']), ''),
});

type Variables = z.output<typeof schema>;

/** The configuration, checked and in one piece. Secrets in it print as `[redacted]`. */
export type Config = Omit<Variables, 'GATEWAY_DIALECT' | 'PUBLIC_URL' | 'DEMO_SHOP'> & {
  /** Where browsers and the service reach us. Null: not set, the listening address is used. */
  PUBLIC_URL: URL | null;
  dialect: Dialect;
  /** The file over the default dialect and what stands in it; null: the defaults hold. */
  dialectFile: { path: string; given: Record<string, unknown> } | null;
  production: boolean;
  demoShop: boolean;
  /** Null: nobody asked for traces. */
  tracing: TracingSettings | null;
};

/**
 * Reads and checks the configuration; the only reader of the environment.
 * @param env variables by name; by default those of the process, with a `.env` file in the working folder beneath them
 * @throws {ConfigError} listing every fault at once
 */
export function loadConfig(env: Record<string, string | undefined> = processEnvironment()): Config {
  const { variables, faults } = readVariables(env);
  const named = new Set(faults.map(nameIn));
  // A variable that is wrong by itself needs no second complaint about what it leads to.
  faults.push(...combinationFaults(variables).filter((fault) => !named.has(nameIn(fault))));
  const tracing = readTracingSettings(env, faults);
  const dialect = readDialect(variables.GATEWAY_DIALECT, faults);
  // The default scheme is an assumption, so it binds only when secrets are given; a scheme that a person wrote
  // down always binds. Without either, webhooks stay what they are anyway: hints.
  if (dialect?.named.signature === true && variables.WEBHOOK_SECRETS.length === 0) {
    faults.push('WEBHOOK_SECRETS: is needed, because the dialect names a signature scheme');
  }
  if (faults.length > 0 || dialect === null) throw new ConfigError(faults);
  const production = variables.NODE_ENV === 'production';
  return {
    ...variables,
    PUBLIC_URL: variables.PUBLIC_URL ?? null,
    dialect: dialect.dialect,
    dialectFile:
      variables.GATEWAY_DIALECT === undefined
        ? null
        : { path: variables.GATEWAY_DIALECT, given: dialect.given },
    production,
    tracing,
    demoShop: variables.DEMO_SHOP === 'on' || (variables.DEMO_SHOP === '' && !production),
  };
}

/** Each variable by itself, so that one bad value hides no other fault. A bad one counts as unset. */
function readVariables(env: Record<string, string | undefined>): { variables: Variables; faults: string[] } {
  const faults: string[] = [];
  const entries = Object.entries(schema.shape).map(([name, type]) => {
    const parsed = type.safeParse(env[name]);
    if (parsed.success) return [name, parsed.data] as const;
    faults.push(`${name}: ${plain(parsed.error.issues[0]?.message ?? 'is not valid')}`);
    return [name, type.safeParse('').data] as const;
  });
  return { variables: Object.fromEntries(entries) as Variables, faults };
}

function nameIn(fault: string): string {
  return fault.slice(0, fault.indexOf(':'));
}

function processEnvironment(): Record<string, string | undefined> {
  loadDotenv({ quiet: true });
  return process.env;
}

/** What is wrong only together: production without its safeguards, live mode on a loose footing. */
function combinationFaults(v: Variables): string[] {
  const live = v.GATEWAY_SECRET_KEY?.mode === 'live';
  const remote = v.GATEWAY_URL !== undefined && !isLoopback(v.GATEWAY_URL);
  const production = v.NODE_ENV === 'production';
  const rules: [boolean, string][] = [
    [
      v.GATEWAY_URL !== undefined && v.GATEWAY_SECRET_KEY === undefined,
      'GATEWAY_SECRET_KEY: is needed with GATEWAY_URL',
    ],
    [
      remote && v.GATEWAY_URL?.protocol === 'http:',
      'GATEWAY_URL: must be https, the secret key travels there',
    ],
    [live && remote && !production, 'NODE_ENV: must be production with a live key'],
    [
      live && v.CHECKOUT_HOSTS.length === 0,
      'CHECKOUT_HOSTS: is needed in live mode: the hosts that checkout addresses may have',
    ],
    [
      v.FULFILMENT_URL !== undefined && v.FULFILMENT_SECRET === undefined,
      'FULFILMENT_SECRET: is needed with FULFILMENT_URL',
    ],
    [
      production && v.FULFILMENT_URL?.protocol === 'http:' && !isLoopback(v.FULFILMENT_URL),
      'FULFILMENT_URL: must be https in production, except on this machine',
    ],
    [
      production && v.DATABASE_URL === undefined,
      'DATABASE_URL: is needed in production, the embedded PostgreSQL is for development',
    ],
    [
      production && v.GATEWAY_URL === undefined,
      'GATEWAY_URL: is needed in production, the sandbox is for development',
    ],
    [production && v.PUBLIC_URL === undefined, 'PUBLIC_URL: is needed in production'],
    [production && v.PUBLIC_URL?.protocol === 'http:', 'PUBLIC_URL: must be https in production'],
    [production && v.ADMIN_TOKEN === undefined, 'ADMIN_TOKEN: is needed in production'],
    [
      production && (v.ADMIN_TOKEN?.reveal().length ?? 16) < 16,
      'ADMIN_TOKEN: must have at least 16 characters in production',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, fault]) => fault);
}

function readDialect(path: string | undefined, faults: string[]): ParsedDialect | null {
  try {
    return parseDialect(path === undefined ? '{}' : readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof DialectError)
      faults.push(...error.faults.map((fault) => `GATEWAY_DIALECT: ${fault}`));
    else
      faults.push(
        `GATEWAY_DIALECT: the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}); a path without a leading / counts from ${process.cwd()}`,
      );
    return null;
  }
}

// zod quotes the received value in some messages; ours must not.
function plain(message: string): string {
  return message.replace(/, received .*$/, '');
}
