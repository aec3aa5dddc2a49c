/** Timers that can all be called off. */
export type Pauses = { start(ms: number, then: () => void): void; clear(): void };

export function createBackoff(): Pauses {
  const timers = new Set<NodeJS.Timeout>();
  return {
    start(ms, then) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        then();
      }, ms);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** The pause behind so many attempts, in milliseconds; the last one repeats. */
export function pauseAfter(attempts: number, pausesMs: readonly number[]): number {
  return pausesMs[attempts - 1] ?? pausesMs.at(-1) ?? 0;
}
