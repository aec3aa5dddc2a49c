import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that must not appear in a log, a page or an error. Every conversion to text prints
 * `[redacted]`. Only {@link Secret.reveal} returns the value, so all uses can be found.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

/**
 * Whether a text equals the secret. Digests of the same length are compared in constant time, so
 * that the duration reveals nothing.
 */
export function isSecret(given: string, secret: Secret): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret.reveal()));
}
