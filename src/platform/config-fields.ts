import { isIPv4, isIPv6 } from 'node:net';
import { z } from 'zod';
import { Secret } from './secret.ts';

/** Kinds of configuration values, for the one file that reads the environment. No message quotes a value. */

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

// With a comma the second address would become a part of the first one's path.
export const webAddress = z
  .string()
  .refine((text) => !/[\s,]|;https?:/i.test(text), 'must be one address: a list is not taken here')
  .refine((text) => isWebAddress(text), 'must be an http(s) address without user name or password')
  .transform((text) => new URL(text));

/** Several of them, comma separated. */
export const webAddresses = list
  .refine(
    (items) => items.every((text) => !/[\s]|;https?:/i.test(text) && isWebAddress(text)),
    'must be http(s) addresses without user name or password, comma separated',
  )
  .transform((items) => items.map((text) => new URL(text)));

/** The address of a whole host. A path would be dropped, so it is refused; a trailing slash is ignored. */
export const hostAddress = webAddress.refine(
  ({ pathname, search, hash }) => `${pathname}${search}${hash}` === '/',
  'must be the bare address, like https://pay.example.com: no path, query or fragment',
);

/** A Standard Webhooks secret: `whsec_` and 24 to 64 bytes in padded base64, as the library decodes it. */
export const signingSecret = z
  .string()
  .regex(
    /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'must be a Standard Webhooks secret: whsec_ and base64',
  )
  .refine((text) => {
    const { length } = Buffer.from(text.slice('whsec_'.length), 'base64');
    return length >= 24 && length <= 64;
  }, 'must be a Standard Webhooks secret: whsec_ and the base64 of 24 to 64 bytes')
  .transform((text) => new Secret(text));

/** An address that paths are appended to: anything after the host would end up in the middle of them. */
export const bareOrigin = z
  .string()
  .refine(
    (text) => isOrigin(text.toLowerCase()),
    'must be the bare address, like https://api.example.com: no path, trailing slash, user name or query',
  )
  .transform((text) => new URL(text));

/** Host names as `new URL(…).hostname` gives them, because a checkout address is compared with that. */
export const hostNames = list
  .transform((items) => items.map((item) => item.toLowerCase()))
  .refine(
    (items) => items.every(isHostName),
    'must be host names like pay.example.com, comma separated: no scheme, port, path or star',
  );

/** Proxies whose `X-Forwarded-For` is trusted. If a range includes strangers, each can choose an address. */
export const proxies = list.refine(
  (items) => items.length > 0 && items.every(isProxy),
  'must be loopback, linklocal, uniquelocal, addresses or CIDR ranges (IPv4 from /8, IPv6 from /7), comma separated',
);

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

function isProxy(text: string): boolean {
  if (PROXY_NAMES.includes(text)) return true;
  const [, address = '', prefix] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const [least, most] = isIPv4(address) ? [8, 32] : isPlainIPv6(address) ? [7, 128] : [1, 0];
  const bits = Number(prefix ?? most);
  return bits >= least && bits <= most;
}

/** An IPv6 address that is not an IPv4 one in IPv6 notation: `::ffff:0:0/96` is every IPv4 address. */
function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !new URL(`http://[${address}]`).hostname.startsWith('[::ffff:');
}

function isHostName(text: string): boolean {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : null;
  return url?.hostname === text && !/\*|\.$/.test(text);
}

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
