import { z } from 'zod';
import { EVENT_TYPES } from '../fulfilment/event.ts';
import { SecretKey } from '../gateway/secret-key.ts';
import {
  bareOrigin,
  hostAddress,
  hostNames,
  list,
  optional,
  origins,
  proxies,
  secret,
  signingSecret,
  webAddress,
  webAddresses,
  wholeNumber,
  withDefault,
} from '../platform/config-fields.ts';
import { operatorList } from '../platform/operator.ts';
import { lacksDirectAddress } from '../platform/database/address.ts';
import { Secret } from '../platform/secret.ts';
import { NOT_A_PERSON } from '../cases/resolution.ts';

// The key becomes a header: one line of printable ASCII, or the HTTP library would quote it in its error.
const secretKey = z
  .string()
  .regex(
    /^[\x21-\x7e]+$/,
    'must be one line of printable characters: look for a line break, a space or a curly quote',
  )
  .regex(/^sk_(test|live)_./, 'must be sk_test_ or sk_live_ and more')
  .transform((text) => new SecretKey(text));

const databaseAddress = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  .refine(
    (text) => !lacksDirectAddress(text),
    'with pgbouncer=true also needs direct=host:port, the address of PostgreSQL itself',
  )
  .transform((text) => new Secret(text));

const eventTypes = list
  .refine(
    (types) => types.every((type) => EVENT_TYPES.some((known) => known === type)),
    `must be a comma separated list of ${EVENT_TYPES.join(', ')}`,
  )
  .refine((types) => types.includes('order.paid'), 'must have order.paid in it, or nothing would be shipped')
  .transform((types) => EVENT_TYPES.filter((type) => types.includes(type)));

/** Every variable of `.env.example`, in its order, but for `OTEL_…` (platform/tracing/settings.ts). */
export const VARIABLES = z.object({
  NODE_ENV: withDefault(z.enum(['development', 'production', 'test']), 'development'),
  HOST: withDefault(z.string(), '127.0.0.1'),
  PORT: withDefault(wholeNumber(0, 65535), '3000'),
  PUBLIC_URL: optional(hostAddress),
  DATABASE_URL: optional(databaseAddress),
  DATABASE_READ_URL: optional(databaseAddress),
  GATEWAY_URL: optional(bareOrigin),
  GATEWAY_SECRET_KEY: optional(secretKey),
  GATEWAY_DIALECT: optional(z.string()),
  CHECKOUT_HOSTS: withDefault(hostNames, ''),
  WEBHOOK_SECRETS: withDefault(
    list
      .refine((secrets) => !secrets.includes('whsec_'), 'must have more than whsec_')
      .transform((secrets) => secrets.map((text) => new Secret(text))),
    '',
  ),
  STOREFRONT_RETURN_URL: withDefault(webAddresses, ''),
  STOREFRONT_ORIGINS: withDefault(origins, ''),
  SHOP_API_TOKEN: optional(secret),
  FULFILMENT_URL: optional(webAddress),
  FULFILMENT_SECRET: optional(signingSecret),
  FULFILMENT_EVENTS: withDefault(eventTypes, 'order.paid'),
  ADMIN_TOKEN: optional(secret),
  WORKER: withDefault(z.enum(['inline', 'off']), 'inline'),
  WORKER_PORT: optional(wholeNumber(0, 65535)),
  RECONCILE_EVERY_MIN: withDefault(wholeNumber(0, 10_080), '15'),
  CHECKOUTS_PER_MINUTE: withDefault(wholeNumber(0, 1_000_000), '60'),
  GATEWAY_CALLS_PER_SECOND: withDefault(wholeNumber(0, 100_000), '50'),
  GATEWAY_CONCURRENCY: withDefault(wholeNumber(1, 1_000), '32'),
  RETAIN_BODIES_DAYS: optional(wholeNumber(30, 36_500)),
  LOG_LEVEL: withDefault(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  TRUSTED_PROXIES: withDefault(proxies, 'loopback'),
  OPERATORS: withDefault(operatorList(NOT_A_PERSON), ''),
  ALLOW_LIVE_KEY_ON_LOOPBACK: withDefault(z.enum(['on', 'off', '']), ''),
  ALERT_URL: optional(webAddress),
  ALERT_SECRET: optional(signingSecret),
  ALERT_EMAIL: withDefault(
    list.refine(
      (items) => items.every((text) => z.email().safeParse(text).success),
      'must be e-mail addresses, comma separated',
    ),
    '',
  ),
  SMTP_URL: optional(
    z
      .string()
      .regex(/^smtps?:\/\/\S+$/, 'must begin with smtp:// or smtps://')
      .refine((text) => URL.canParse(text), 'must be one address like smtps://name:password@mail.example:465')
      .transform((text) => new Secret(text)),
  ),
  DEMO_SHOP: withDefault(z.enum(['on', 'off', '']), ''),
});

/** Each variable, checked by itself. */
export type Variables = z.output<typeof VARIABLES>;
