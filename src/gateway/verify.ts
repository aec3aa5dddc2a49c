import { Unanswered } from './errors.ts';
import { bare, evidenceOf, type Evidence, type Raw } from './evidence.ts';
import type { Service } from './gateway.ts';
import type { Priority } from './traffic.ts';

const CALL = { method: 'GET' as const, maxBytes: 256 * 1024 };
const CALL_MS = 10_000;

/**
 * Verifies one payment. `not_found` and `unreadable` are answers. A failure to ask is not an
 * answer.
 * @param withinMs for the wait and the call of a person together; in the background, each may take
 * ten seconds
 * @throws {Unanswered} if the service gave no usable answer
 */
export async function verify(
  service: Service,
  reference: string,
  priority: Priority,
  withinMs = CALL_MS,
): Promise<Evidence> {
  const path = `/v1/transactions/verify/${encodeURIComponent(reference)}`;
  const request = { ...CALL, path, totalMs: CALL_MS };
  const { status, json, text, retryAfterSec } = await (priority === 'background'
    ? service.ask('verify', priority, CALL_MS, request)
    : service.ask('verify', priority, Math.floor(withinMs / 4), request, withinMs));
  const isAnswer =
    (status >= 200 && status < 300) || (status >= 400 && status < 500 && ![403, 408, 429].includes(status));
  if (!isAnswer) throw new Unanswered(`the service could not be asked: HTTP ${status}`, { sent: true, retryAfterSec });
  const raw = { httpStatus: status, body: text };
  return json === undefined
    ? bare(raw, 'unreadable', 'the answer is not JSON')
    : read(service, reference, json.value, raw);
}

function read({ adapter, mode }: Service, reference: string, answer: unknown, raw: Raw): Evidence {
  try {
    const record = adapter.verify.record(answer);
    if (record == null) return bare(raw, 'not_found');
    if (raw.httpStatus >= 400) return bare(raw, 'unreadable', `a record in an answer with HTTP ${raw.httpStatus}`);
    const reading = adapter.read(record);
    if (reading === null) return bare(raw, 'unreadable', 'the adapter cannot read the record');
    return evidenceOf(reading, { reference, mode }, adapter, raw);
  } catch (error) {
    return bare(raw, 'unreadable', `the adapter cannot read the answer: ${String(error)}`);
  }
}
