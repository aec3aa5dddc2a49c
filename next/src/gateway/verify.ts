import type { ServiceAdapter } from './adapter.ts';
import { Unanswered } from './errors.ts';
import { bare, evidenceOf, type Evidence, type Mode } from './evidence.ts';
import type { Ask } from './gateway.ts';
import type { Share } from './traffic.ts';

const MAX_BYTES = 256 * 1024;
const TOTAL_MS = 10_000;

/**
 * Asks about one payment. Not found and unreadable are answers; that it could not be asked is none.
 * @param withinMs for the wait and the call together
 * @throws {Unanswered} when nothing was learnt
 */
export async function verify(
  ask: Ask,
  adapter: ServiceAdapter,
  asked: { reference: string; mode: Mode },
  share: Share,
  withinMs = TOTAL_MS,
): Promise<Evidence> {
  const path = `/v1/transactions/verify/${encodeURIComponent(asked.reference)}`;
  const request = {
    method: 'GET' as const,
    path,
    totalMs: Math.ceil(Math.min(withinMs, TOTAL_MS)),
    maxBytes: MAX_BYTES,
  };
  const { status, json, text } = await ask('verify', share, Math.ceil(withinMs / 2), request);
  if (
    status >= 500 ||
    status === 403 ||
    status === 408 ||
    status === 429 ||
    status < 200 ||
    (status >= 300 && status < 400)
  )
    throw new Unanswered(`the service could not be asked: HTTP ${status}`, { sent: true });
  if (json === undefined) return bare('unreadable', 'the answer is not JSON', status, text);
  return read(json.value, asked, adapter, { httpStatus: status, body: text });
}

function read(
  answer: unknown,
  asked: { reference: string; mode: Mode },
  adapter: ServiceAdapter,
  raw: Pick<Evidence, 'httpStatus' | 'body'>,
): Evidence {
  const { httpStatus, body } = raw;
  try {
    const record = adapter.verify.record(answer);
    if (record === null || record === undefined) return bare('not_found', null, httpStatus, body);
    if (httpStatus >= 400) return bare('unreadable', `a record inside HTTP ${httpStatus}`, httpStatus, body);
    const reading = adapter.read(record);
    if (reading === null) return bare('unreadable', 'the adapter cannot read the record', httpStatus, body);
    return evidenceOf(reading, asked, adapter, raw);
  } catch (error) {
    return bare('unreadable', `the adapter cannot read the answer: ${String(error)}`, httpStatus, body);
  }
}
