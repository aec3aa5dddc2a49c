import type { Dialect } from './dialect.ts';
import { GatewayKeyRefused, GatewayUnavailable } from './errors.ts';
import { findRecord, readEvidence, type Evidence } from './evidence.ts';
import { verifyPath } from './messages.ts';
import { readJson } from './reading.ts';
import { retryAfterSec } from './retry-after.ts';
import { ClientError, type Client, type ClientAnswer } from './client.ts';

/**
 * What the service answered about a payment. `not-found` and `unreadable` say nothing about money: not found is
 * not failed (a record may appear late, or belong to the other mode's key).
 */
export type VerifyAnswer = { httpStatus: number; body: Buffer } & (
  { kind: 'record'; evidence: Evidence } | { kind: 'not-found' } | { kind: 'unreadable'; why: string }
);

const MAX_BYTES = 256 * 1024;

export type VerifyDeadline = { headersMs: number; totalMs: number };
/** While a person waits for the page behind the redirect. */
export const PERSON_WAITS: VerifyDeadline = { headersMs: 4_000, totalMs: 5_000 };
/** When the clock asks. */
export const NOBODY_WAITS: VerifyDeadline = { headersMs: 8_000, totalMs: 10_000 };

/**
 * Asks the service about one payment, once.
 * @param expectedCurrency gives the unit of an amount that stands without a currency
 * @throws {GatewayUnavailable} no usable answer, ask again later
 * @throws {GatewayKeyRefused} our key is not accepted
 */
export async function verify(
  client: Client,
  dialect: Dialect,
  reference: string,
  expectedCurrency: string,
  deadline: VerifyDeadline,
): Promise<VerifyAnswer> {
  const answer = await client
    .call({ method: 'GET', path: verifyPath(reference), maxBytes: MAX_BYTES, ...deadline })
    .catch((error: unknown) => {
      throw error instanceof ClientError ? new GatewayUnavailable(error.message, null, error) : error;
    });
  const { status: httpStatus, body } = answer;
  refuseErrors(answer);
  if (httpStatus === 404 || httpStatus === 400) return { kind: 'not-found', httpStatus, body };
  if (httpStatus !== 200) return { kind: 'unreadable', why: `http-${httpStatus}`, httpStatus, body };
  return { ...readRecord(body, dialect, expectedCurrency), httpStatus, body };
}

/** What no endpoint can answer with: a refused key, too many calls, a broken service. */
export function refuseErrors({ status, headers }: Pick<ClientAnswer, 'status' | 'headers'>): void {
  if (status === 401 || status === 403) throw new GatewayKeyRefused(status);
  if (status === 429 || status >= 500) {
    throw new GatewayUnavailable(
      `the service answered HTTP ${status}`,
      retryAfterSec(headers['retry-after']),
    );
  }
}

function readRecord(
  body: Buffer,
  dialect: Dialect,
  currency: string,
): { kind: 'record'; evidence: Evidence } | { kind: 'unreadable'; why: string } {
  let document: unknown;
  try {
    document = readJson(body);
  } catch {
    return { kind: 'unreadable', why: 'not-json' };
  }
  const record = findRecord(document, dialect.verify.record);
  if (record === null) return { kind: 'unreadable', why: 'no-record' };
  return { kind: 'record', evidence: readEvidence(record, dialect.verify, dialect, currency) };
}
