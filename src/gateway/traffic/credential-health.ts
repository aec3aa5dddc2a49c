import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Client } from '../http/client.ts';
import { HISTORY_PATH } from '../messages.ts';

/** A load balancer probes readiness every second; the service need not be called that often. */
const CHECK_PAUSE_MS = 10_000;
const LIMITS = { headersMs: 2_000, totalMs: 2_000, maxBytes: Infinity };

type CredentialHealthParts = {
  client: Client;
  onTrouble: (trouble: { event: 'key-refused' } | { event: 'key-refused'; over: true }) => void;
  logger: Logger;
  clock: Clock;
};

/** Remembers whether the service refused our key the last time it was asked. */
export function createCredentialHealth({ client, onTrouble, logger, clock }: CredentialHealthParts) {
  let isRefused = false;
  let checkedAtMs = -Infinity;

  function note(refused: boolean): void {
    onTrouble(refused ? { event: 'key-refused' } : { event: 'key-refused', over: true });
    if (!refused && isRefused) logger.info('the service accepts the secret key again');
    isRefused = refused;
  }

  return {
    isRefused: (): boolean => isRefused,
    note,
    /** Tries a refused key again, by a call for the start of history: at most one in ten seconds. */
    checkRefused: async (): Promise<void> => {
      if (!isRefused || clock.elapsedMs() - checkedAtMs < CHECK_PAUSE_MS) return;
      checkedAtMs = clock.elapsedMs();
      const answer = await client.stream({ method: 'GET', path: HISTORY_PATH, ...LIMITS }).catch(() => null);
      if (answer === null) return;
      if (answer.status < 500 && answer.status !== 429) note(answer.status === 401 || answer.status === 403);
      await discard(answer.body);
    },
  };
}

/** Leaving the loop closes the answer and its connection: the body may be a whole history. */
async function discard(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of body) if (chunk.length > 0) break;
}
