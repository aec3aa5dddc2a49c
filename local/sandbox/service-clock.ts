import type { Clock } from '../../src/platform/clock.ts';

/** The clock of the service. A person moves it forward; only a reset, or a restart, sets it right again. */
export type ServiceClock = Clock & {
  /** Milliseconds by which it goes before the real time. */
  aheadMs(): number;
  forward(ms: number): void;
  reset(): void;
};

/**
 * Moves what the sandbox writes on its records, answers and signatures, and what it lets pass with time: a record that it
 * hides for a while, a lock-out. Pauses between webhooks are real ones, and the integrator's clock is its database's.
 */
export function createServiceClock(real: Clock): ServiceClock {
  let ahead = 0;
  return {
    now: () => new Date(real.now().getTime() + ahead),
    elapsedMs: () => real.elapsedMs() + ahead,
    aheadMs: () => ahead,
    forward(ms) {
      ahead += ms;
    },
    reset() {
      ahead = 0;
    },
  };
}
