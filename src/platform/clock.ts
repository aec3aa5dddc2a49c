/**
 * The only place that reads the current time. Wall time labels what happened; durations and deadlines
 * come from {@link Clock.elapsedMs}, which no clock change moves.
 */
export type Clock = {
  /** Wall time, for labels and for people. */
  now(): Date;
  /** Milliseconds on a monotonic scale of unknown origin. Subtract two readings. */
  elapsedMs(): number;
};

export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
};

/** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
