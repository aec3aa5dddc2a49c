import { createHash } from 'node:crypto';
import { type Reference, newReference } from '../platform/ids.ts';
import { callKeyBeside, isFailedCall, findRecord, readEvidence, type Evidence } from './records/evidence.ts';
import { mayBeJson, type Client, type ClientAnswer } from './http/client.ts';
import type { Dialect } from './dialect/dialect.ts';
import { asUnavailable, GatewayKeyRefused, GatewayUnavailable } from './errors.ts';
import { envelopesAround, isNamed } from './records/claims.ts';
import { findContradictionAround, printable } from './records/contradictions.ts';
import { readMode } from './records/field-values.ts';
import { verifyPath } from './messages.ts';
import { tryReadJson, type Json } from './dialect/json-pointer.ts';
import { readRetryHint } from './traffic/backoff.ts';
import { systemClock } from '../platform/clock.ts';

/**
 * What the service answered about a payment. `not-found` and `unreadable` say nothing about money: not found
 * is not failed (a record may appear late, or belong to the other mode's key).
 */
export type VerifyAnswer = {
  httpStatus: number;
  /** Stored as evidence: without our key, in case the service has echoed it. */
  body: Buffer;
  /** Of the exact bytes of the body as received. */
  bodySha256: Buffer;
} & Content;

type Content =
  { kind: 'record'; evidence: Evidence } | { kind: 'not-found' } | { kind: 'unreadable'; why: string };

const MAX_BYTES = 256 * 1024;

// What a person who waits for a page waits for the service, in milliseconds: a shopper who comes back, or an
// operator who asks. The time of the database comes on top.

/** The longest wait for a free slot among the calls; opening a checkout waits as long for its slot. */
export const PERSON_TURN_MS = 2_000;
/** For the call itself. */
export const PERSON_CALL_MS = 4_000;
/** Of that, for the answer's headers: what is left is for its body. */
const PERSON_HEADERS_MS = PERSON_CALL_MS - 500;
export const PERSON_WAIT_MS = PERSON_TURN_MS + PERSON_CALL_MS;

export type VerifyDeadline = { headersMs: number; totalMs: number };
/** While a person waits for the page. */
export const INTERACTIVE_DEADLINE: VerifyDeadline = {
  headersMs: PERSON_HEADERS_MS,
  totalMs: PERSON_CALL_MS,
};
/** For the scheduled checks. */
export const BACKGROUND_DEADLINE: VerifyDeadline = { headersMs: 8_000, totalMs: 10_000 };

/**
 * Asks the service about one payment, once.
 * @param expectedCurrency gives the unit of an amount without a currency
 * @throws {GatewayUnavailable} no usable answer, ask again later
 * @throws {GatewayKeyRefused} our key is not accepted
 */
export async function verify(
  client: Client,
  dialect: Dialect,
  reference: Reference,
  expectedCurrency: string,
  deadline: VerifyDeadline,
): Promise<VerifyAnswer> {
  const answer = await client
    .call({ method: 'GET', path: verifyPath(reference), maxBytes: MAX_BYTES, ...deadline })
    .catch((error: unknown) => {
      throw asUnavailable(error);
    });
  throwOnErrorStatus(answer);
  const { status: httpStatus, body, received } = answer;
  const bodySha256 = createHash('sha256').update(received).digest();
  return { ...contentOf(answer, dialect, expectedCurrency), httpStatus, body, bodySha256 };
}

/** Throws for answers with one meaning everywhere: a refused key, too many calls, a broken service. */
export function throwOnErrorStatus(answer: Pick<ClientAnswer, 'status' | 'headers'>): void {
  const { status } = answer;
  if (status === 401 || status === 403) throw new GatewayKeyRefused(status);
  if (status === 429 || status >= 500) {
    throw new GatewayUnavailable(`the service answered HTTP ${status}`, readRetryHint(answer)?.sec ?? null);
  }
}

/** What the body of an answer says; the status and the content type are checked first. */
export function contentOf(
  { status, headers, body }: Pick<ClientAnswer, 'status' | 'headers' | 'body'>,
  dialect: Dialect,
  currency: string,
): Content {
  // An HTML page is not the service's answer, not even with a 404: it may come from a misconfigured proxy.
  if (!mayBeJson(headers)) return { kind: 'unreadable', why: 'not-json' };
  if (status === 404 || status === 400) return { kind: 'not-found' };
  if (status !== 200) return { kind: 'unreadable', why: `http-${status}` };
  return readRecord(body, dialect, currency);
}

function readRecord(body: Buffer, dialect: Dialect, currency: string): Content {
  const document = tryReadJson(body);
  if (document === undefined) return { kind: 'unreadable', why: 'not-json' };
  const found = findRecord(document, dialect.verify.record);
  if (found === null) return { kind: 'unreadable', why: 'no-record' };
  if (isFailedCall(document, found.pointer)) return { kind: 'unreadable', why: 'call-failed' };
  const evidence = readEvidence(found.record, dialect.verify, dialect, currency);
  const contradiction =
    evidence.contradiction ??
    envelopeIn(found, evidence, dialect) ??
    contradictionAround(document, found.pointer, evidence, dialect, currency);
  const mode = evidence.mode ?? modeAround(document, found.pointer, dialect);
  return { kind: 'record', evidence: { ...evidence, mode, contradiction } };
}

/** Some services say beside the record whether it is a test. */
function modeAround(document: Json, place: string, { verify }: Dialect): Evidence['mode'] {
  const modes = envelopesAround(document, place).map((envelope) => readMode(envelope, verify.mode));
  return modes.find((mode) => mode !== null) ?? null;
}

function contradictionAround(
  document: Json,
  place: string,
  { status, amount, currency, mode }: Evidence,
  dialect: Dialect,
  expectedCurrency: string,
): string | null {
  if (status !== 'paid') return null;
  return findContradictionAround(document, place, dialect.verify, dialect, {
    amount: amount.is === 'read' ? amount.value : null,
    currency: currency.is === 'read' ? currency.value : expectedCurrency,
    reference: null,
    mode,
  });
}

/**
 * In an answer that is the record itself, `status` beside a message, a code or a record of the payment
 * describes the call: "success" means only that the call was answered. A dialect file that names the
 * record or the status has decided this.
 */
function envelopeIn(
  { record, pointer }: { record: Record<string, unknown>; pointer: string },
  { status }: Evidence,
  { verify }: Dialect,
): string | null {
  const isDecided = verify.record.join() === '' || isNamed(verify, 'status');
  if (pointer !== '' || status !== 'paid' || isDecided) return null;
  const key = callKeyBeside(record);
  return key === null ? null : `"status" beside "${printable(key)}" is the word of the call`;
}

/**
 * What a question that changes nothing shows of the service: whether it answers, and whether it refuses the
 * key. A 404 in JSON counts as its answer, although another host may give one without a look at the key.
 * `odd`: something answers, and not as a payment service does.
 */
type ServiceCheck =
  /** `aheadSec`: its clock less ours, in seconds; null: it did not say. */
  { outcome: 'accepted'; aheadSec: number | null } | { outcome: 'refused' | 'away' | 'odd'; why: string };

/** Verify reads an amount with its currency; a payment that does not exist has neither. */
const ANY_CURRENCY = 'USD';

/** Asks verify about a payment that does not exist. Never rejects. */
export async function checkService(client: Client, dialect: Dialect): Promise<ServiceCheck> {
  try {
    const path = verifyPath(newReference());
    const answer = await client.call({ method: 'GET', path, maxBytes: MAX_BYTES, ...INTERACTIVE_DEADLINE });
    throwOnErrorStatus(answer);
    const content = contentOf(answer, dialect, ANY_CURRENCY);
    if (content.kind === 'record' && content.evidence.status === 'paid')
      return { outcome: 'odd', why: 'it calls a payment paid that nobody made' };
    if (content.kind === 'unreadable' && content.why === 'not-json')
      return { outcome: 'odd', why: 'its answer is not JSON' };
    if (content.kind === 'unreadable' && answer.status !== 200)
      return { outcome: 'odd', why: `it answered HTTP ${answer.status}` };
    const dateMs = Date.parse(String(answer.headers.date));
    const aheadSec = Number.isNaN(dateMs) ? null : (dateMs - systemClock.now().getTime()) / 1_000;
    return { outcome: 'accepted', aheadSec };
  } catch (error) {
    const outcome = error instanceof GatewayKeyRefused ? 'refused' : 'away';
    return { outcome, why: (error as Error).message };
  }
}
