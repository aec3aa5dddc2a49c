import { createHash, randomBytes } from 'node:crypto';
import { customAlphabet } from 'nanoid';

/**
 * 24 characters of `[A-Za-z0-9]`, 142 random bits, because an order's id is the only credential for
 * its page.
 */
export const newOrderId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 24);

/** The format of an order's id. An id from outside is checked before a query uses it. */
export const ORDER_ID = /^[A-Za-z0-9]{24}$/;

/**
 * Letters and digits of one case satisfy every rule for references that services are known to have.
 */
export const REFERENCE = { length: 26, alphabet: '0123456789abcdefghijklmnopqrstuvwxyz' };

/** A new payment reference. 26 characters of 36 are 134 random bits. */
export function newReference({ length, alphabet } = REFERENCE): string {
  return customAlphabet(alphabet, length)();
}

/**
 * Names that the journal uses for the program, the service, the shop and its shoppers; `admin` is
 * the holder of ADMIN_TOKEN. No operator may have one of these names.
 */
export const OWN_NAMES = [
  'admin',
  'confirmation',
  'deadline',
  'program',
  'reconciliation',
  'schedule',
  'service',
  'shop',
  'shopper',
  'upgrade',
];

/** The id of a message that is not derived from an order's event. */
export const randomMessageId = (): string => `msg_${randomBytes(18).toString('base64url')}`;

/**
 * SHA-256 of a text, or of a value as JSON with its keys in the given order. A bigint is written as
 * its decimal text.
 */
export function digestOf(value: unknown): Uint8Array<ArrayBuffer> {
  const text =
    typeof value === 'string'
      ? value
      : JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
  return new Uint8Array(createHash('sha256').update(text).digest());
}

/**
 * Sorts the members of all objects in a value by name, so that the same content has the same
 * digest.
 */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

/** Whether two digests are equal. */
export function isSameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a).equals(b);
}
