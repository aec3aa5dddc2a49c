import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Whether a text is the secret. Digests of one length are compared in constant time: no timing leak. */
export function isSecret(given: string, secret: Secret): boolean {
  return timingSafeEqual(digest(given), digest(secret.reveal()));
}

/** The token of an `Authorization: Bearer …` header, or null. */
export function bearerToken(header: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
