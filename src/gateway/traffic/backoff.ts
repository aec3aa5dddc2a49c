import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ClientAnswer } from '../http/client.ts';
import { readRetryHint } from '../http/retry-after.ts';

/** The kinds of calls; the service may slow down each separately. */
export const ENDPOINTS = ['initialize', 'verify', 'history'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** The endpoints that the service asked us to pause, and for how long. Each process obeys its own answers. */
export type Pauses = {
  /** Milliseconds until calls of this kind may go out; 0: now. */
  remainingMs(endpoint: Endpoint): number;
  /** Must be called with every answer. */
  note(endpoint: Endpoint, answer: Pick<ClientAnswer, 'status' | 'headers'>): void;
};

/**
 * The first pause after a 429 that does not say how long. All calls must pause: the back-off of a single
 * check slows down only one payment, and hundreds may be due. It is short, because checkouts wait for
 * it, too, and doubles each time, because some services lock out a client that keeps asking.
 */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

type Pause = { untilMs: number; isCut: boolean; unexplained: number };

export function createBackoff({ clock, logger }: { clock: Clock; logger: Logger }): Pauses {
  const pauses = new Map<Endpoint, Pause>(
    ENDPOINTS.map((endpoint) => [endpoint, { untilMs: -Infinity, isCut: false, unexplained: 0 }]),
  );
  const remainingMs = (endpoint: Endpoint): number =>
    Math.max((pauses.get(endpoint)?.untilMs ?? 0) - clock.elapsedMs(), 0);

  /** Never shortens a pause: the service has not withdrawn what it asked for. */
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
        // Calls in flight get the same answer: one line is enough.
        if (asked.isCut && !(isPaused && pause.isCut))
          logger.warn({ endpoint, pauseSec: asked.sec }, 'Retry-After above one hour, capped');
        pause.isCut = asked.isCut || (isPaused && pause.isCut);
        pauseFor(pause, asked.sec * 1_000);
      } else if (status === 429 && !isPaused) {
        pauseFor(pause, Math.min(FIRST_PAUSE_MS * 2 ** pause.unexplained, MAX_PAUSE_MS));
        pause.unexplained += 1;
      }
    },
  };
}
