import { systemClock } from '../platform/clock.ts';
import { newReference } from '../platform/ids.ts';
import type { Dialect } from './dialect/dialect.ts';
import { GatewayKeyRefused } from './errors.ts';
import type { Client } from './http/client.ts';
import { verifyPath } from './messages.ts';
import { contentOf, INTERACTIVE_DEADLINE, throwOnErrorStatus } from './verify.ts';

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
const MAX_BYTES = 256 * 1024;

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
