import { customAlphabet } from 'nanoid';
import type { z } from 'zod';

/** Names an order. A plain text with a brand of its own: no other kind of id can be passed for it. */
export type OrderId = string & z.$brand<'OrderId'>;
/** Names a payment, here and at the service. A finding about the service's records may hold a foreign one. */
export type Reference = string & z.$brand<'Reference'>;
/** Names a run of reconciliation. */
export type RunId = string & z.$brand<'RunId'>;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * 24 characters of `[A-Za-z0-9]` from a cryptographic source: 142 random bits, so neither an order id
 * nor a payment reference can be guessed. Letters and digits alone satisfy every rule a payment service
 * is known to put on references, and need no escaping in a path.
 */
export const newId: () => string = customAlphabet(ALPHABET, 24);

export const newOrderId = (): OrderId => newId() as OrderId;
export const newRunId = (): RunId => `run_${newId()}` as RunId;

/** The form of an order id. Checked before one from outside is put into a path or a query. */
export const ORDER_ID_PATTERN = /^[A-Za-z0-9]{24}$/;
/** The same for the reference of a payment. */
export const REFERENCE_PATTERN = /^[A-Za-z0-9]{24}$/;
/** How the references of the probe begin. */
const PROBE = 'PROBE';
/** A payment that `npm run probe` opened, without an order. Also a regular expression of PostgreSQL. */
export const PROBE_PATTERN = /^PROBE[A-Za-z0-9]{19}$/;
/** The form of {@link newReference}, and not of the probe. Also a regular expression of PostgreSQL. */
export const ORDER_REFERENCE_PATTERN = /^(?!PROBE)[A-Za-z0-9]{24}$/;
const RUN_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** @param make makes ids; another one in a test */
export function newReference(make: () => string = newId): Reference {
  for (;;) {
    const id = make();
    if (!id.startsWith(PROBE)) return id as Reference;
  }
}

/** A reference with 112 random bits for a payment of the probe. */
export const newProbeReference = (): Reference => `${PROBE}${newId().slice(PROBE.length)}` as Reference;

/** An order id from outside: a route's parameter, a field. @returns null for what cannot be one */
export function parseOrderId(value: unknown): OrderId | null {
  return isText(value, ORDER_ID_PATTERN) ? (value as OrderId) : null;
}

/** A payment's reference from outside. @returns null for what cannot be one of ours */
export function parseReference(value: unknown): Reference | null {
  return isText(value, REFERENCE_PATTERN) ? (value as Reference) : null;
}

/** A run's id from outside. @returns null for what cannot be one */
export function parseRunId(value: unknown): RunId | null {
  return isText(value, RUN_ID) ? (value as RunId) : null;
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
