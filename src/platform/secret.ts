import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

const REDACTED = '[redacted]';

/**
 * A value that must not reach a log, a page or an error. Every way of turning an object into text
 * prints `[redacted]`; {@link Secret.reveal} is the one way to the value, so its callers can be
 * counted.
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
 * Whether a text is the secret. Digests of one length are compared in constant time: no timing
 * leak.
 */
export function isSecret(given: string, secret: Secret): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret.reveal()));
}
