import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ClientAnswer } from '../http/client.ts';
import { readRetryHint } from '../http/retry-after.ts';

/** The kinds of calls, each of which the service may slow down by itself. */
export const ENDPOINTS = ['initialize', 'verify', 'history'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Which endpoints the service asked us to leave alone, and for how long. Each process keeps to what it was told itself. */
export type Pauses = {
  /** Milliseconds until calls of this kind may go out; 0: now. */
  remainingMs(endpoint: Endpoint): number;
  /** Every answer is shown here. */
  note(endpoint: Endpoint, answer: Pick<ClientAnswer, 'status' | 'headers'>): void;
};

/**
 * A 429 that does not say how long. Something must pause all the same: a check's own back-off slows one payment, and
 * hundreds may be due. Short, because checkouts wait for it, too; twice as long each time, because some services lock out
 * whoever goes on asking.
 */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

type Pause = { untilMs: number; isCut: boolean; unexplained: number };

export function createPauses({ clock, logger }: { clock: Clock; logger: Logger }): Pauses {
  const pauses = new Map<Endpoint, Pause>(
    ENDPOINTS.map((endpoint) => [endpoint, { untilMs: -Infinity, isCut: false, unexplained: 0 }]),
  );
  const remainingMs = (endpoint: Endpoint): number =>
    Math.max((pauses.get(endpoint)?.untilMs ?? 0) - clock.elapsedMs(), 0);

  /** Never shortens a pause: the service has not taken back what it said. */
  function pauseFor(pause: Pause, ms: number): void {
    pause.untilMs = Math.max(pause.untilMs, clock.elapsedMs() + ms);
  }

  return {
    remainingMs,
    note: (endpoint, answer) => {
      const { status } = answer;
      const pause = pauses.get(endpoint);
      if (pause === undefined) return;
      if (status !== 429 && status !== 503) {
        if (status < 500) pause.unexplained = 0;
        return;
      }
      const asked = readRetryHint(answer, clock);
      const isPaused = remainingMs(endpoint) > 0;
      if (asked !== null) {
        // Calls that were on their way hear the same: one line is enough.
        if (asked.isCut && !(isPaused && pause.isCut))
          logger.warn({ endpoint, pauseSec: asked.sec }, 'the service asks for more than an hour of silence');
        pause.isCut = asked.isCut || (isPaused && pause.isCut);
        pauseFor(pause, asked.sec * 1_000);
      } else if (status === 429 && !isPaused) {
        pauseFor(pause, Math.min(FIRST_PAUSE_MS * 2 ** pause.unexplained, MAX_PAUSE_MS));
        pause.unexplained += 1;
      }
    },
  };
}
