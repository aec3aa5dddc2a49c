import { customAlphabet } from 'nanoid';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * 24 characters of `[A-Za-z0-9]` from a cryptographic source: 142 random bits, so neither an order id
 * nor a payment reference can be guessed. Letters and digits alone satisfy every rule a payment service
 * is known to put on references, and need no escaping in a path.
 */
export const newId: () => string = customAlphabet(ALPHABET, 24);

/** What {@link newId} makes. Checked before an id from outside is put into a path or a query. */
export const ID_PATTERN = /^[A-Za-z0-9]{24}$/;
