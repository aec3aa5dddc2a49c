import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What the process took while it was watched. */
export type Load = {
  /** Bytes of memory above the first reading, at the worst. */
  grewBytes: number;
  /** The longest time in milliseconds that the event loop was away. */
  loopAwayMs: number;
  /** The longest time in milliseconds without a moment in which nobody waited for a database connection. */
  poolWaitMs: number;
};

const EVERY_MS = 50;

/** Looks at this process twenty times a second, until it is told to stop. */
export function watchLoad(pool: { waitingCount: number }): { stop(): Load } {
  const before = process.memoryUsage().rss;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const load: Load = { grewBytes: 0, loopAwayMs: 0, poolWaitMs: 0 };
  let waitsSinceMs: number | null = null;
  const timer = setInterval(() => {
    load.grewBytes = Math.max(load.grewBytes, process.memoryUsage().rss - before);
    waitsSinceMs = pool.waitingCount === 0 ? null : (waitsSinceMs ?? performance.now());
    if (waitsSinceMs !== null) load.poolWaitMs = Math.max(load.poolWaitMs, performance.now() - waitsSinceMs);
  }, EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      delay.disable();
      load.loopAwayMs = delay.max / 1e6;
      return load;
    },
  };
}
