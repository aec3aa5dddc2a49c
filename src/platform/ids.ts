import { createHash, randomBytes } from 'node:crypto';
import { customAlphabet } from 'nanoid';

/** 24 characters of `[A-Za-z0-9]`, 142 random bits: an order's id is the only key to its page. */
export const newOrderId = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 24);

/** The form of an order's id. Checked before one from outside gets into a query. */
export const ORDER_ID = /^[A-Za-z0-9]{24}$/;

/**
 * Letters and digits of one case satisfy every rule that services are known to put on references.
 */
export const REFERENCE = { length: 26, alphabet: '0123456789abcdefghijklmnopqrstuvwxyz' };

/** A new reference of a payment. 26 characters of 36 are 134 random bits. */
export function newReference({ length, alphabet } = REFERENCE): string {
  return customAlphabet(alphabet, length)();
}

/**
 * The names by which the journal calls the program, the service, the shop and its shoppers; `admin`
 * is who has ADMIN_TOKEN. No person may have one of them.
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

/** The id of a message without an order's event behind it to follow from. */
export const randomMessageId = (): string => `msg_${randomBytes(18).toString('base64url')}`;

/**
 * SHA-256 of a text, or of a value as JSON with its keys in the given order; a bigint counts as its
 * text.
 */
export function digestOf(value: unknown): Uint8Array<ArrayBuffer> {
  const text =
    typeof value === 'string'
      ? value
      : JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
  return new Uint8Array(createHash('sha256').update(text).digest());
}

/**
 * A value whose objects have their members in alphabetical order: the same content then has the
 * same digest.
 */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

/** Whether two digests are the same. */
export function isSameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a).equals(b);
}
