import { z } from 'zod';
import { Secret } from './secret.ts';

/** Kinds of configuration values, for the one file that reads the environment. Their messages never quote a value. */

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether an address is on this machine, where plain http leaks nothing. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK.has(url.hostname);
}

// An empty variable is an unset one: `.env` files and compose files write `NAME=`.
export const optional = <T extends z.ZodType>(type: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), type.optional());
export const withDefault = <T extends z.ZodType>(type: T, value: z.input<T>) =>
  z.preprocess((given) => (given === '' || given === undefined ? value : given), type);

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be from ${min} to ${max}`);

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

export const secret = z.string().transform((text) => new Secret(text));

export const webAddress = z
  .string()
  .refine((text) => isWebAddress(text), 'must be an http(s) address without user name or password')
  .transform((text) => new URL(text));

/** An address that paths are appended to: anything behind the host would end up in the middle of them. */
export const bareOrigin = z
  .string()
  .refine(
    (text) => isOrigin(text.toLowerCase()),
    'must be the bare address, like https://api.example.com: no path, trailing slash, user name or query',
  )
  .transform((text) => new URL(text));

export const origins = list.refine(
  (items) => items.every(isOrigin),
  'must be origins like https://shop.example.com, comma separated, without a path',
);

function isWebAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function isOrigin(text: string): boolean {
  return isWebAddress(text) && new URL(text).origin === text;
}
